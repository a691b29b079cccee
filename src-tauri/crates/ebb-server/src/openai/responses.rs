//! `POST /v1/responses`. Nothing is stored: each request brings its conversation along.

mod answer;
mod events;
mod input;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response as HttpResponse},
};
use ebb_core::{Failure, Generation, Json as AnyJson, Message, Tool, operations::GenerateRequest};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use self::{
    answer::{Asked, Response},
    events::{ResponseEvent, ResponseEvents},
};
use super::{
    body::{Body, Loose, Parts},
    chat::must_match,
    format::Format,
    not_offered,
    sampling::{Sampling, most_tokens},
    streaming,
    tools::{ChosenTool, OfferedFunction, check_kind},
    wishes::Wishes,
};
use crate::{error::Rejection, routes::App};

/// What is to be answered.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ResponsesRequest {
    /// The model's alias.
    model: String,
    /// A text, or messages, calls and their outputs.
    #[serde(default)]
    input: AnyJson,
    /// What the model is told before the input.
    instructions: Option<String>,
    /// Answer as server-sent events.
    stream: Option<bool>,
    /// Most tokens to generate.
    max_output_tokens: Option<i64>,
    /// Functions that the model may ask to be called.
    tools: Option<Vec<ResponsesTool>>,
    tool_choice: Option<ChosenTool>,
    /// False: at most one call an answer.
    parallel_tool_calls: Option<bool>,
    /// What the text must be.
    text: Option<TextOptions>,
    /// Handed back with the answer.
    #[serde(default)]
    metadata: AnyJson,
    /// Refused: nothing is stored.
    #[serde(default)]
    previous_response_id: AnyJson,
    /// Refused: nothing is stored.
    #[serde(default)]
    conversation: AnyJson,
    /// Refused: nothing is stored.
    #[serde(default)]
    prompt: AnyJson,
    /// Refused where true.
    background: Option<bool>,
}

/// What the text must be.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct TextOptions {
    format: Option<Format>,
}

/// A tool that is offered to the model.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ResponsesTool {
    /// `function`, the only kind that there is here.
    r#type: String,
    /// The function's name.
    name: Option<String>,
    description: Option<String>,
    /// JSON schema of its arguments.
    #[serde(default)]
    parameters: AnyJson,
}

/// Body of a request for a response.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ResponsesBody {
    #[serde(flatten)]
    asked: ResponsesRequest,
    #[serde(flatten)]
    sampling: Sampling,
    #[serde(flatten)]
    wishes: Wishes,
}

impl Body for ResponsesBody {
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
        Ok(Self { asked: parts.part()?, sampling: parts.part()?, wishes: parts.part()? })
    }
}

impl ResponsesBody {
    /// What is asked, in Ebb's words, and what the answer repeats of it.
    fn read(self) -> Result<(GenerateRequest, Asked), Failure> {
        let Self { asked, sampling, mut wishes } = self;
        asked.refuse_what_is_not_offered()?;
        let mut messages: Vec<Message> =
            asked.instructions.as_deref().map(|text| Message::new("system", text)).into_iter().collect();
        messages.extend(input::read(asked.input)?);
        let format = asked.text.and_then(|text| text.format);
        let mut generation = Generation {
            messages,
            tools: tools(asked.tools.unwrap_or_default())?,
            tool_choice: asked.tool_choice.map(ChosenTool::read).transpose()?.unwrap_or_default(),
            max_tokens: most_tokens("max_output_tokens", asked.max_output_tokens)?,
            response_format: format.map(|format| format.read("text.format")).transpose()?,
            ..Generation::default()
        };
        sampling.apply(&mut generation)?;
        generation.template_options = wishes.template_options();
        must_match(&mut generation, wishes.regex(), "text.format")?;
        let repeated = Asked {
            model: asked.model,
            instructions: asked.instructions,
            metadata: asked.metadata,
            parallel_tool_calls: asked.parallel_tool_calls.unwrap_or(true),
            generation: generation.clone(),
        };
        let stream = asked.stream.unwrap_or(false);
        Ok((GenerateRequest { generation, stream, options: wishes.options()? }, repeated))
    }
}

impl ResponsesRequest {
    fn refuse_what_is_not_offered(&self) -> Result<(), Failure> {
        for (param, value) in [
            ("previous_response_id", &self.previous_response_id),
            ("conversation", &self.conversation),
            ("prompt", &self.prompt),
        ] {
            if !matches!(value.0, Value::Null) {
                return Err(not_offered(
                    param,
                    format!("{param} names something stored, and nothing is stored here"),
                )
                .hint("send the whole conversation as input"));
            }
        }
        match self.background {
            Some(true) => {
                Err(not_offered("background", "answers are not made in the background: nothing is stored")
                    .hint("use stream"))
            }
            _ => Ok(()),
        }
    }
}

fn tools(tools: Vec<ResponsesTool>) -> Result<Vec<Tool>, Failure> {
    let numbered = tools.into_iter().enumerate();
    numbered
        .map(|(place, tool)| {
            check_kind(&tool.r#type, &format!("tools[{place}].type"))?;
            let param = format!("tools[{place}].name");
            let name = tool.name.ok_or_else(|| super::bad_value(&param, format!("'{param}' is missing")))?;
            Ok(OfferedFunction { name, description: tool.description, parameters: tool.parameters }.into())
        })
        .collect()
}

/// Answers an input.
#[utoipa::path(post, path = "/v1/responses", tag = "openai", request_body = ResponsesBody,
    responses((status = 200, content((Response = "application/json"), (ResponseEvent = "text/event-stream")))))]
pub(crate) async fn create(
    State(app): State<App>,
    Loose(body): Loose<ResponsesBody>,
) -> Result<HttpResponse, Rejection> {
    let (request, asked) = body.read()?;
    if request.stream {
        let pieces = app.host.generate_stream(&asked.model, request).await?;
        return Ok(streaming::events(pieces, ResponseEvents::new(asked)).await?);
    }
    let answer = app.host.generate(&asked.model, request).await?;
    Ok(Json(Response::of(asked, answer)).into_response())
}

#[cfg(test)]
mod tests;
