//! Generating text: what is asked of a chat model, and what comes back. These types travel in JSON and between processes, so
//! their enums are tagged by name (`"auto"`, `{"regex": "…"}`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Json;

/// What to generate. Fields that are not given are the model's own (`generation_config.json`, `genai_config.json`), else
/// greedy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Generation {
    /// The conversation, through the model's chat template.
    pub messages: Vec<Message>,
    /// Instead of messages: text to continue as it is, without the template.
    pub prompt: Option<String>,
    /// Functions that the model may ask to be called.
    pub tools: Vec<Tool>,
    /// Whether it may, must or must not ask for one.
    pub tool_choice: ToolChoice,
    /// Most tokens to generate; as many as the context has room for where not given.
    pub max_tokens: Option<u32>,
    /// Texts at which generation ends; they are not part of the answer.
    pub stop: Vec<String>,
    /// Spread of the choice; 0: always the likeliest token.
    pub temperature: Option<f32>,
    /// Choose among so many of the likeliest tokens; 0: all.
    pub top_k: Option<u32>,
    /// Choose among the likeliest tokens that have this probability together; 1: all.
    pub top_p: Option<f32>,
    /// Choose among tokens that have at least this part of the likeliest one's probability; 0: all.
    pub min_p: Option<f32>,
    /// Divides the score of tokens that the prompt or the answer already has; 1: none.
    pub repetition_penalty: Option<f32>,
    /// Taken off a token's score for each time that the answer already has it; 0: none.
    pub frequency_penalty: Option<f32>,
    /// Taken off the score of every token that the answer already has; 0: none.
    pub presence_penalty: Option<f32>,
    /// The same seed gives the same text; a random one where not given. The figures tell which it was.
    pub seed: Option<u64>,
    /// Added to the scores of tokens, by id.
    pub logit_bias: BTreeMap<u32, f32>,
    /// Give the log-probability of each token, and of so many of the likeliest besides (at most 20).
    pub logprobs: Option<u32>,
    /// What the answer must be.
    pub response_format: Option<ResponseFormat>,
    /// Values handed to the chat template besides, by name: `enable_thinking` and the like.
    pub template_options: BTreeMap<String, Json>,
}

/// A message of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Message {
    /// Who speaks: `system`, `developer`, `user`, `assistant`, `tool`.
    pub role: String,
    /// What is said.
    pub content: String,
    /// The speaker's or the tool's name.
    pub name: Option<String>,
    /// Calls that an assistant's message asks for.
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool's message answers.
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message of nothing but text.
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Self { role: role.to_owned(), content: content.into(), ..Self::default() }
    }
}

/// A function that the model may ask to be called.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// JSON schema of its arguments; null: none.
    pub parameters: Json,
}

/// Whether the model asks for a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// It does not, and is not told of the tools.
    None,
    /// It must ask for one.
    Required,
    /// It must ask for this one.
    Tool(String),
}

/// A call that the model asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ToolCall {
    /// Names the call; the tool's message repeats it.
    pub id: String,
    /// The function.
    pub name: String,
    /// Its arguments: the text of a JSON object, as the model wrote it.
    pub arguments: String,
}

/// What an answer must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Any text.
    Text,
    /// A JSON object.
    JsonObject,
    /// JSON that fits this schema.
    JsonSchema(Json),
    /// Text that matches this regular expression as a whole.
    Regex(String),
}

/// The next piece of a text: never half a character, never a part of a stop text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Piece {
    /// The text. It may be empty where `logprobs` are wanted and a token did not end a character.
    pub text: String,
    /// One for each token of the piece, where they were asked for.
    pub logprobs: Vec<TokenLogprob>,
}

/// How likely a token was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenLogprob {
    /// Its id.
    pub token_id: u32,
    /// Its text; replacement characters where it is not text by itself.
    pub token: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Natural logarithm of its probability by the model itself: before temperature, penalties and constraints.
    pub logprob: f32,
    /// The likeliest tokens in its place, as many as were asked for.
    pub top: Vec<TopLogprob>,
}

/// A token that was likely.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TopLogprob {
    /// Its id.
    pub token_id: u32,
    /// Its text.
    pub token: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// See [`TokenLogprob::logprob`].
    pub logprob: f32,
}

/// Why a generation ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended it, a stop text came, or what the format asks for is complete.
    #[default]
    Stop,
    /// `max_tokens` or the context is full.
    Length,
    /// The model asks for calls.
    ToolCalls,
}

/// Figures of a generation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GenerateFigures {
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Of these, tokens whose cache was kept from an earlier turn.
    pub cached_tokens: u32,
    /// Tokens generated, the one that ended it included.
    pub completion_tokens: u32,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// The stop text at which it ended.
    pub stop: Option<String>,
    /// The seed of the choice.
    pub seed: u64,
    /// From the start of the work to the first token.
    pub first_token_us: u64,
    /// From the start of the work to the end.
    pub took_us: u64,
    /// Tokens a second after the first.
    pub tokens_per_second: f64,
    /// KV cache at the end.
    pub kv_bytes: u64,
    /// Most that the model's arenas had in use meanwhile, weights included.
    pub peak_arena_bytes: u64,
    /// See [`crate::Figures::cap_retries`].
    pub cap_retries: u32,
}
