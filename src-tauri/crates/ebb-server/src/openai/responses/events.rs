//! A response as events: each tells what came to which part.

use axum::response::sse;
use ebb_core::{ErrorFields, GenerateFigures, Json, Piece, ToolCall};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    super::{new_id, streaming::Render},
    answer::{Asked, OutputItem, OutputText, Response},
};

/// An event of a response, without its number.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type")]
pub(crate) enum ResponseEvent {
    #[serde(rename = "response.created")]
    Created { response: Box<Response> },
    #[serde(rename = "response.in_progress")]
    InProgress { response: Box<Response> },
    #[serde(rename = "response.output_item.added")]
    ItemAdded { output_index: usize, item: OutputItem },
    #[serde(rename = "response.content_part.added")]
    PartAdded { item_id: String, output_index: usize, content_index: usize, part: OutputText },
    #[serde(rename = "response.output_text.delta")]
    TextDelta {
        item_id: String,
        output_index: usize,
        content_index: usize,
        delta: String,
        logprobs: Vec<Json>,
    },
    #[serde(rename = "response.output_text.done")]
    TextDone { item_id: String, output_index: usize, content_index: usize, text: String, logprobs: Vec<Json> },
    #[serde(rename = "response.content_part.done")]
    PartDone { item_id: String, output_index: usize, content_index: usize, part: OutputText },
    #[serde(rename = "response.function_call_arguments.delta")]
    ArgumentsDelta { item_id: String, output_index: usize, delta: String },
    #[serde(rename = "response.function_call_arguments.done")]
    ArgumentsDone { item_id: String, output_index: usize, name: String, arguments: String },
    #[serde(rename = "response.output_item.done")]
    ItemDone { output_index: usize, item: OutputItem },
    #[serde(rename = "response.completed")]
    Completed { response: Box<Response> },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: Box<Response> },
    #[serde(rename = "error")]
    Error { code: String, message: String, param: Option<String>, error: ErrorFields },
}

/// Makes the events of a response.
pub(super) struct ResponseEvents {
    response: Response,
    one_call: bool,
    /// Events so far.
    sequence: u64,
    /// The message that grows.
    message: Option<GrowingMessage>,
    /// Items that are complete.
    output: Vec<OutputItem>,
}

struct GrowingMessage {
    id: String,
    text: String,
}

impl ResponseEvents {
    pub(super) fn new(asked: Asked) -> Self {
        let one_call = !asked.parallel_tool_calls;
        Self { response: Response::begun(asked), one_call, sequence: 0, message: None, output: Vec::new() }
    }

    /// Numbers an event and names it by its type.
    fn event(&mut self, event: &ResponseEvent) -> sse::Event {
        // Records of plain fields and text keys always have a JSON form.
        let mut json = serde_json::to_value(event).unwrap_or_default();
        json["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        let name = json["type"].as_str().unwrap_or_default();
        sse::Event::default().event(name).data(json.to_string())
    }

    fn all(&mut self, events: impl IntoIterator<Item = ResponseEvent>) -> Vec<sse::Event> {
        events.into_iter().map(|event| self.event(&event)).collect()
    }

    /// The message, begun where there is none yet.
    fn begin_message(&mut self) -> Vec<sse::Event> {
        if self.message.is_some() {
            return Vec::new();
        }
        let (id, output_index) = (new_id("msg_"), self.output.len());
        self.message = Some(GrowingMessage { id: id.clone(), text: String::new() });
        self.all([
            ResponseEvent::ItemAdded { output_index, item: OutputItem::message(id.clone(), None) },
            ResponseEvent::PartAdded {
                item_id: id,
                output_index,
                content_index: 0,
                part: OutputText::new(String::new()),
            },
        ])
    }

    fn end_message(&mut self) -> Vec<sse::Event> {
        let Some(GrowingMessage { id, text }) = self.message.take() else { return Vec::new() };
        let (output_index, content_index) = (self.output.len(), 0);
        let item = OutputItem::message(id.clone(), Some(text.clone()));
        self.output.push(item.clone());
        self.all([
            ResponseEvent::TextDone {
                item_id: id.clone(),
                output_index,
                content_index,
                text: text.clone(),
                logprobs: Vec::new(),
            },
            ResponseEvent::PartDone { item_id: id, output_index, content_index, part: OutputText::new(text) },
            ResponseEvent::ItemDone { output_index, item },
        ])
    }

    fn has_call(&self) -> bool {
        self.output.iter().any(|item| matches!(item, OutputItem::FunctionCall { .. }))
    }
}

impl Render for ResponseEvents {
    fn begin(&mut self) -> Vec<sse::Event> {
        let response = Box::new(self.response.clone());
        self.all([
            ResponseEvent::Created { response: response.clone() },
            ResponseEvent::InProgress { response },
        ])
    }

    fn text(&mut self, piece: Piece) -> Vec<sse::Event> {
        if piece.text.is_empty() {
            return Vec::new();
        }
        let mut events = self.begin_message();
        let output_index = self.output.len();
        let Some(message) = &mut self.message else { return events };
        message.text.push_str(&piece.text);
        let item_id = message.id.clone();
        let delta = piece.text;
        let logprobs = Vec::new();
        events.push(self.event(&ResponseEvent::TextDelta {
            item_id,
            output_index,
            content_index: 0,
            delta,
            logprobs,
        }));
        events
    }

    fn call(&mut self, call: ToolCall) -> Vec<sse::Event> {
        if self.one_call && self.has_call() {
            return Vec::new();
        }
        let mut events = self.end_message();
        let (item_id, output_index) = (new_id("fc_"), self.output.len());
        let ToolCall { id: call_id, name, arguments } = call.clone();
        let begun = OutputItem::FunctionCall {
            id: item_id.clone(),
            status: "in_progress",
            call_id,
            name: name.clone(),
            arguments: String::new(),
        };
        let item = OutputItem::call(item_id.clone(), call);
        self.output.push(item.clone());
        events.extend(self.all([
            ResponseEvent::ItemAdded { output_index, item: begun },
            ResponseEvent::ArgumentsDelta {
                item_id: item_id.clone(),
                output_index,
                delta: arguments.clone(),
            },
            ResponseEvent::ArgumentsDone { item_id, output_index, name, arguments },
            ResponseEvent::ItemDone { output_index, item },
        ]));
        events
    }

    fn end(&mut self, figures: GenerateFigures) -> Vec<sse::Event> {
        // An answer of nothing is an empty message.
        let mut events = if self.output.is_empty() { self.begin_message() } else { Vec::new() };
        events.extend(self.end_message());
        let response = Box::new(self.response.clone().ended(std::mem::take(&mut self.output), figures));
        let last = if response.is_incomplete() {
            ResponseEvent::Incomplete { response }
        } else {
            ResponseEvent::Completed { response }
        };
        events.push(self.event(&last));
        events
    }

    fn failed(&mut self, error: ErrorFields) -> Vec<sse::Event> {
        let (code, message, param) = (error.code.to_string(), error.message.clone(), error.param.clone());
        vec![self.event(&ResponseEvent::Error { code, message, param, error })]
    }
}
