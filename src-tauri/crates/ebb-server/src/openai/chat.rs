//! `POST /v1/chat/completions`.

pub(crate) mod answer;

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use ebb_core::{Code, Failure, Generation, Json as AnyJson, ResponseFormat, operations::GenerateRequest};
use serde::Deserialize;
use utoipa::ToSchema;

use self::answer::{ChatChunk, ChatCompletion, Chunks};
use super::{
    bad_value,
    body::{Body, Loose, Parts},
    format::Format,
    messages::{self, ChatMessage},
    not_offered,
    sampling::{Sampling, most_tokens},
    streaming::{self, StreamOptions},
    tools::{self, ChosenTool, OfferedTool},
    wishes::Wishes,
};
use crate::{error::Rejection, routes::App};

/// Most tokens whose probability is told besides the one that was taken.
pub(super) const MOST_LOGPROBS: i64 = 20;

/// A conversation to answer.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatRequest {
    /// The model's alias.
    model: String,
    /// The conversation.
    messages: Vec<ChatMessage>,
    /// Answer as server-sent events.
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    /// Most tokens to generate.
    max_completion_tokens: Option<i64>,
    /// The same, as it was named before.
    max_tokens: Option<i64>,
    /// Functions that the model may ask to be called.
    tools: Option<Vec<OfferedTool>>,
    tool_choice: Option<ChosenTool>,
    /// False: at most one call an answer.
    parallel_tool_calls: Option<bool>,
    response_format: Option<Format>,
    /// Give the log-probability of each token.
    logprobs: Option<bool>,
    /// And of so many of the likeliest, at most 20.
    top_logprobs: Option<i64>,
    /// Values handed to the chat template, as other servers name them.
    chat_template_kwargs: Option<BTreeMap<String, AnyJson>>,
    /// `text` alone.
    modalities: Option<Vec<String>>,
    /// Of a former version: refused.
    #[serde(default)]
    functions: AnyJson,
    /// Of a former version: refused.
    #[serde(default)]
    function_call: AnyJson,
}

/// Body of a chat completion.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatBody {
    #[serde(flatten)]
    chat: ChatRequest,
    #[serde(flatten)]
    sampling: Sampling,
    #[serde(flatten)]
    wishes: Wishes,
}

impl Body for ChatBody {
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
        Ok(Self { chat: parts.part()?, sampling: parts.part()?, wishes: parts.part()? })
    }
}

/// How the answer is to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    /// As events.
    stream: bool,
    /// With the usage at their end.
    include_usage: bool,
    /// With no more than one call.
    one_call: bool,
    /// With log-probabilities.
    logprobs: bool,
}

impl ChatBody {
    /// The model, what is asked of it in Ebb's words, and how the answer is to be given.
    fn read(self) -> Result<(String, GenerateRequest, Manner), Failure> {
        let Self { chat, sampling, mut wishes } = self;
        chat.refuse_what_is_not_offered()?;
        let manner = Manner {
            stream: chat.stream.unwrap_or(false),
            include_usage: chat.stream_options.unwrap_or_default().include_usage(),
            one_call: chat.parallel_tool_calls == Some(false),
            logprobs: chat.logprobs.unwrap_or(false),
        };
        let max_tokens = most_tokens("max_tokens", chat.max_tokens)?;
        let mut generation = Generation {
            messages: messages::read_all(chat.messages)?,
            tools: tools::read_all(chat.tools.unwrap_or_default())?,
            tool_choice: chat.tool_choice.map(ChosenTool::read).transpose()?.unwrap_or_default(),
            max_tokens: most_tokens("max_completion_tokens", chat.max_completion_tokens)?.or(max_tokens),
            logprobs: logprobs(manner.logprobs, chat.top_logprobs)?,
            response_format: chat.response_format.map(|format| format.read("response_format")).transpose()?,
            template_options: chat.chat_template_kwargs.unwrap_or_default(),
            ..Generation::default()
        };
        sampling.apply(&mut generation)?;
        generation.template_options.append(&mut wishes.template_options());
        must_match(&mut generation, wishes.regex(), "response_format")?;
        let request = GenerateRequest { generation, stream: manner.stream, options: wishes.options()? };
        Ok((chat.model, request, manner))
    }
}

impl ChatRequest {
    fn refuse_what_is_not_offered(&self) -> Result<(), Failure> {
        let is_empty = |json: &AnyJson| json.0.is_null() || json.0.as_array().is_some_and(Vec::is_empty);
        for (param, value) in [("functions", &self.functions), ("function_call", &self.function_call)] {
            if !is_empty(value) {
                let message = format!("{param} is of a former version of the interface");
                return Err(not_offered(param, message).hint("use tools and tool_choice"));
            }
        }
        let other = self.modalities.iter().flatten().find(|modality| *modality != "text");
        match other {
            Some(_) => Err(not_offered("modalities", "answers are text alone").hint("ask for [\"text\"]")),
            None => Ok(()),
        }
    }
}

/// How many of the likeliest tokens to tell of, if any.
fn logprobs(wanted: bool, top: Option<i64>) -> Result<Option<u32>, Failure> {
    const PARAM: &str = "top_logprobs";
    match top {
        None | Some(0) => Ok(wanted.then_some(0)),
        Some(top) if !(0..=MOST_LOGPROBS).contains(&top) => {
            Err(bad_value(PARAM, format!("top_logprobs is {top}; it must be 0 to {MOST_LOGPROBS}")))
        }
        Some(_) if !wanted => {
            Err(bad_value(PARAM, "top_logprobs is given without logprobs")
                .hint("set logprobs to true as well"))
        }
        Some(top) => Ok(u32::try_from(top).ok()),
    }
}

/// Takes the regular expression of `ebb.regex` for a format, unless the request has another.
pub(super) fn must_match(
    generation: &mut Generation,
    regex: Option<String>,
    format: &str,
) -> Result<(), Failure> {
    let Some(regex) = regex else { return Ok(()) };
    if generation.response_format.as_ref().is_some_and(|format| *format != ResponseFormat::Text) {
        return Err(Failure::new(
            Code::Conflict,
            format!("ebb.regex and {format} ask for different formats"),
        )
        .hint("give one of them")
        .param("ebb.regex"));
    }
    generation.response_format = Some(ResponseFormat::Regex(regex));
    Ok(())
}

/// Answers a conversation.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = ChatBody,
    responses((status = 200, content((ChatCompletion = "application/json"), (ChatChunk = "text/event-stream")))))]
pub(crate) async fn create(
    State(app): State<App>,
    Loose(body): Loose<ChatBody>,
) -> Result<Response, Rejection> {
    let (model, request, manner) = body.read()?;
    if manner.stream {
        let pieces = app.host.generate_stream(&model, request).await?;
        return Ok(streaming::events(pieces, Chunks::new(model, manner)).await?);
    }
    let answer = app.host.generate(&model, request).await?;
    Ok(Json(ChatCompletion::of(model, answer, manner)).into_response())
}

#[cfg(test)]
mod tests;
