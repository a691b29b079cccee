//! A response, as it is and as it grows.

use ebb_core::{
    FinishReason, GenerateFigures, Generation, Json, ResponseFormat, Tool, ToolCall, ToolChoice,
    operations::GenerateAnswer,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::super::{new_id, now_s, usage::PromptDetails};

/// What the answer repeats of what was asked.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) instructions: Option<String>,
    pub(super) metadata: Json,
    pub(super) parallel_tool_calls: bool,
    pub(super) generation: Generation,
}

/// A response.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Response {
    id: String,
    /// `response`.
    object: &'static str,
    created_at: u64,
    /// `in_progress`, `completed`, or `incomplete` where the tokens did not suffice.
    status: &'static str,
    /// Always null: what fails is told as an error.
    error: Option<String>,
    incomplete_details: Option<IncompleteDetails>,
    instructions: Option<String>,
    max_output_tokens: Option<u32>,
    model: String,
    /// The message, then calls.
    output: Vec<OutputItem>,
    parallel_tool_calls: bool,
    /// Always null.
    previous_response_id: Option<String>,
    /// Always false.
    store: bool,
    temperature: Option<f32>,
    top_p: Option<f32>,
    text: Json,
    tool_choice: Json,
    tools: Json,
    /// `disabled`: what does not fit is refused.
    truncation: &'static str,
    usage: Option<ResponseUsage>,
    metadata: Json,
    /// What it took, in Ebb's figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    ebb: Option<GenerateFigures>,
}

/// Why a response is not complete.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct IncompleteDetails {
    /// `max_output_tokens`.
    reason: &'static str,
}

/// What a response took.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ResponseUsage {
    input_tokens: u32,
    input_tokens_details: PromptDetails,
    output_tokens: u32,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

/// Tokens of an output, told apart.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct OutputDetails {
    /// Always 0: thoughts are not told apart.
    reasoning_tokens: u32,
}

/// A part of an output.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OutputItem {
    /// Text.
    Message {
        /// Its id.
        id: String,
        /// `in_progress` or `completed`.
        status: &'static str,
        /// `assistant`.
        role: &'static str,
        /// One part.
        content: Vec<OutputText>,
    },
    /// A call that the model asks for.
    FunctionCall {
        /// Its id as an item.
        id: String,
        /// `in_progress` or `completed`.
        status: &'static str,
        /// Names the call; its output repeats it.
        call_id: String,
        /// The function.
        name: String,
        /// The text of a JSON object.
        arguments: String,
    },
}

/// The text of a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct OutputText {
    /// `output_text`.
    r#type: &'static str,
    text: String,
    /// Always empty.
    annotations: Vec<Json>,
    /// Always empty.
    logprobs: Vec<Json>,
}

impl OutputText {
    pub(super) fn new(text: String) -> Self {
        Self { r#type: "output_text", text, annotations: Vec::new(), logprobs: Vec::new() }
    }
}

impl OutputItem {
    pub(super) fn message(id: String, text: Option<String>) -> Self {
        let status = if text.is_some() { "completed" } else { "in_progress" };
        let content = text.map(OutputText::new).into_iter().collect();
        Self::Message { id, status, role: "assistant", content }
    }

    pub(super) fn call(id: String, call: ToolCall) -> Self {
        let ToolCall { id: call_id, name, arguments } = call;
        Self::FunctionCall { id, status: "completed", call_id, name, arguments }
    }
}

impl Response {
    /// A response that is to come.
    pub(super) fn begun(asked: Asked) -> Self {
        let Asked { model, instructions, metadata, parallel_tool_calls, generation } = asked;
        Self {
            id: new_id("resp_"),
            object: "response",
            created_at: now_s(),
            status: "in_progress",
            error: None,
            incomplete_details: None,
            instructions,
            max_output_tokens: generation.max_tokens,
            model,
            output: Vec::new(),
            parallel_tool_calls,
            previous_response_id: None,
            store: false,
            temperature: generation.temperature,
            top_p: generation.top_p,
            text: json!({ "format": format(generation.response_format) }).into(),
            tool_choice: choice(generation.tool_choice).into(),
            tools: generation.tools.into_iter().map(tool).collect::<Value>().into(),
            truncation: "disabled",
            usage: None,
            metadata: if metadata.0.is_null() { json!({}).into() } else { metadata },
            ebb: None,
        }
    }

    /// The whole response.
    pub(super) fn of(asked: Asked, answer: GenerateAnswer) -> Self {
        let GenerateAnswer { text, mut tool_calls, figures, .. } = answer;
        if !asked.parallel_tool_calls {
            tool_calls.truncate(1);
        }
        let mut output = Vec::new();
        if !text.is_empty() || tool_calls.is_empty() {
            output.push(OutputItem::message(new_id("msg_"), Some(text)));
        }
        output.extend(tool_calls.into_iter().map(|call| OutputItem::call(new_id("fc_"), call)));
        Self::begun(asked).ended(output, figures)
    }

    /// The response once everything is there.
    pub(super) fn ended(mut self, output: Vec<OutputItem>, figures: GenerateFigures) -> Self {
        let cut = figures.finish_reason == FinishReason::Length;
        self.status = if cut { "incomplete" } else { "completed" };
        self.incomplete_details = cut.then_some(IncompleteDetails { reason: "max_output_tokens" });
        self.output = output;
        self.usage = Some(ResponseUsage {
            input_tokens: figures.prompt_tokens,
            input_tokens_details: PromptDetails { cached_tokens: figures.cached_tokens },
            output_tokens: figures.completion_tokens,
            output_tokens_details: OutputDetails { reasoning_tokens: 0 },
            total_tokens: u64::from(figures.prompt_tokens) + u64::from(figures.completion_tokens),
        });
        self.ebb = Some(figures);
        self
    }

    /// Whether the tokens did not suffice.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete_details.is_some()
    }
}

fn format(format: Option<ResponseFormat>) -> Value {
    match format {
        None | Some(ResponseFormat::Text | ResponseFormat::Regex(_)) => json!({"type": "text"}),
        Some(ResponseFormat::JsonObject) => json!({"type": "json_object"}),
        Some(ResponseFormat::JsonSchema(schema)) => {
            json!({"type": "json_schema", "name": "schema", "schema": schema})
        }
    }
}

fn choice(choice: ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    }
}

fn tool(tool: Tool) -> Value {
    let Tool { name, description, parameters } = tool;
    json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false})
}
