//! Answers of chat, whole and in chunks.

use axum::response::sse;
use ebb_core::{FinishReason, GenerateFigures, Piece, ToolCall, operations::GenerateAnswer};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    super::{
        logprobs::Logprobs,
        new_id, now_s,
        streaming::{Render, data, done},
        tools::CalledTool,
        usage::Usage,
    },
    Manner,
};

/// A whole answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatCompletion {
    id: String,
    /// `chat.completion`.
    object: &'static str,
    created: u64,
    model: String,
    /// One.
    choices: Vec<Choice>,
    usage: Usage,
    /// What it took, in Ebb's figures.
    ebb: GenerateFigures,
}

/// The answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Choice {
    index: u32,
    message: Answered,
    logprobs: Option<Logprobs>,
    finish_reason: FinishReason,
}

/// The message that was answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Answered {
    /// `assistant`.
    role: &'static str,
    /// Null where the answer is nothing but calls.
    content: Option<String>,
    /// Always null.
    refusal: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CalledTool>,
}

impl ChatCompletion {
    pub(crate) fn of(model: String, answer: GenerateAnswer, manner: Manner) -> Self {
        let GenerateAnswer { text, mut tool_calls, logprobs, figures } = answer;
        if manner.one_call {
            tool_calls.truncate(1);
        }
        let message = Answered {
            role: "assistant",
            content: (!text.is_empty() || tool_calls.is_empty()).then_some(text),
            refusal: None,
            tool_calls: tool_calls.into_iter().map(|call| CalledTool::of(call, None)).collect(),
        };
        let logprobs = manner.logprobs.then(|| Logprobs::of(logprobs));
        let choice = Choice { index: 0, message, logprobs, finish_reason: figures.finish_reason };
        Self {
            id: new_id("chatcmpl-"),
            object: "chat.completion",
            created: now_s(),
            model,
            choices: vec![choice],
            usage: Usage::from(&figures),
            ebb: figures,
        }
    }
}

/// A chunk of an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ChatChunk {
    id: String,
    /// `chat.completion.chunk`.
    object: &'static str,
    created: u64,
    model: String,
    /// One; none in the chunk with the usage.
    choices: Vec<ChunkChoice>,
    /// Where it was asked for: null but in the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Usage>)]
    usage: Option<Option<Usage>>,
    /// In the last chunk: what the answer took, in Ebb's figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    ebb: Option<GenerateFigures>,
}

/// The next part of the answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ChunkChoice {
    index: u32,
    delta: Delta,
    logprobs: Option<Logprobs>,
    finish_reason: Option<FinishReason>,
}

/// What comes to the message.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<CalledTool>>,
}

/// Makes chunks of an answer.
pub(crate) struct Chunks {
    blank: ChatChunk,
    manner: Manner,
    calls: u32,
}

impl Chunks {
    pub(crate) fn new(model: String, manner: Manner) -> Self {
        let blank = ChatChunk {
            id: new_id("chatcmpl-"),
            object: "chat.completion.chunk",
            created: now_s(),
            model,
            choices: Vec::new(),
            usage: manner.include_usage.then_some(None),
            ebb: None,
        };
        Self { blank, manner, calls: 0 }
    }

    fn chunk(
        &self,
        delta: Delta,
        logprobs: Option<Logprobs>,
        finish_reason: Option<FinishReason>,
    ) -> ChatChunk {
        let choice = ChunkChoice { index: 0, delta, logprobs, finish_reason };
        ChatChunk { choices: vec![choice], ..self.blank.clone() }
    }
}

impl Render for Chunks {
    fn begin(&mut self) -> Vec<sse::Event> {
        let delta = Delta { role: Some("assistant"), content: Some(String::new()), tool_calls: None };
        vec![data(&self.chunk(delta, None, None))]
    }

    fn text(&mut self, piece: Piece) -> Vec<sse::Event> {
        let Piece { text, logprobs } = piece;
        let logprobs = self.manner.logprobs.then(|| Logprobs::of(logprobs));
        let delta = Delta { content: Some(text), ..Delta::default() };
        vec![data(&self.chunk(delta, logprobs, None))]
    }

    fn call(&mut self, call: ToolCall) -> Vec<sse::Event> {
        if self.manner.one_call && self.calls > 0 {
            return Vec::new();
        }
        let call = CalledTool::of(call, Some(self.calls));
        self.calls += 1;
        let delta = Delta { tool_calls: Some(vec![call]), ..Delta::default() };
        vec![data(&self.chunk(delta, None, None))]
    }

    fn end(&mut self, figures: GenerateFigures) -> Vec<sse::Event> {
        let mut last = self.chunk(Delta::default(), None, Some(figures.finish_reason));
        if !self.manner.include_usage {
            last.ebb = Some(figures);
            return vec![data(&last), done()];
        }
        let usage = Some(Some(Usage::from(&figures)));
        let with_usage = ChatChunk { usage, ebb: Some(figures), ..self.blank.clone() };
        vec![data(&last), data(&with_usage), done()]
    }
}
