//! `POST /v1/completions`: text continued as it is, without a chat template.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response, sse},
};
use ebb_core::{
    Code, Failure, FinishReason, GenerateFigures, Generation, Json as AnyJson, Piece, TokenLogprob, ToolCall,
    operations::GenerateRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    bad_value,
    body::{Body, Loose, Parts},
    chat::{MOST_LOGPROBS, must_match},
    new_id, not_offered, now_s,
    sampling::{Sampling, most_tokens},
    streaming::{self, Render, StreamOptions, data, done},
    usage::Usage,
    wishes::Wishes,
};
use crate::{error::Rejection, routes::App};

/// A text to continue.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CompletionRequest {
    /// The model's alias.
    model: String,
    /// The text, or a list of one.
    #[serde(default)]
    prompt: AnyJson,
    /// Answer as server-sent events.
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    /// Most tokens to generate.
    max_tokens: Option<i64>,
    /// Begin the answer with the prompt.
    echo: Option<bool>,
    /// Give the log-probability of each token, and of so many of the likeliest besides.
    logprobs: Option<i64>,
    /// What comes after the text: refused.
    suffix: Option<String>,
}

/// Body of a completion.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CompletionBody {
    #[serde(flatten)]
    asked: CompletionRequest,
    #[serde(flatten)]
    sampling: Sampling,
    #[serde(flatten)]
    wishes: Wishes,
}

impl Body for CompletionBody {
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
        Ok(Self { asked: parts.part()?, sampling: parts.part()?, wishes: parts.part()? })
    }
}

/// What is asked, in Ebb's words, and how the answer is to be given.
struct Read {
    model: String,
    request: GenerateRequest,
    include_usage: bool,
    logprobs: bool,
    /// What the answer begins with.
    echo: String,
}

impl CompletionBody {
    fn read(self) -> Result<Read, Failure> {
        let Self { asked, sampling, mut wishes } = self;
        if asked.suffix.is_some_and(|suffix| !suffix.is_empty()) {
            return Err(not_offered(
                "suffix",
                "text is continued, not filled in between a prompt and a suffix",
            ));
        }
        let prompt = prompt(asked.prompt)?;
        let echo = if asked.echo.unwrap_or(false) { prompt.clone() } else { String::new() };
        let logprobs = match asked.logprobs {
            Some(top) if !(0..=MOST_LOGPROBS).contains(&top) => {
                return Err(bad_value(
                    "logprobs",
                    format!("logprobs is {top}; it must be 0 to {MOST_LOGPROBS}"),
                ));
            }
            // Those of the prompt are not known.
            Some(_) if !echo.is_empty() => {
                return Err(not_offered("logprobs", "logprobs are not given together with echo"));
            }
            top => top.and_then(|top| u32::try_from(top).ok()),
        };
        let mut generation = Generation {
            prompt: Some(prompt),
            max_tokens: most_tokens("max_tokens", asked.max_tokens)?,
            logprobs,
            ..Generation::default()
        };
        sampling.apply(&mut generation)?;
        must_match(&mut generation, wishes.regex(), "response_format")?;
        let stream = asked.stream.unwrap_or(false);
        Ok(Read {
            model: asked.model,
            request: GenerateRequest { generation, stream, options: wishes.options()? },
            include_usage: asked.stream_options.unwrap_or_default().include_usage(),
            logprobs: logprobs.is_some(),
            echo,
        })
    }
}

/// The one text of a prompt.
fn prompt(prompt: AnyJson) -> Result<String, Failure> {
    const PARAM: &str = "prompt";
    let mut texts = match prompt.0 {
        Value::String(text) => return Ok(text),
        Value::Array(texts) => texts,
        Value::Null => return Err(Failure::new(Code::InvalidRequest, "'prompt' is missing").param(PARAM)),
        _ => return Err(Failure::new(Code::InvalidRequest, "'prompt' must be a text").param(PARAM)),
    };
    match (texts.pop(), texts.is_empty()) {
        (Some(Value::String(text)), true) => Ok(text),
        (Some(Value::String(_)), false) => {
            Err(not_offered(PARAM, "one prompt is continued a request")
                .hint("send a request for each prompt"))
        }
        (Some(_), _) => {
            Err(not_offered(PARAM, "a prompt of token ids is not taken").hint("send the text itself"))
        }
        (None, _) => Err(Failure::new(Code::InvalidRequest, "'prompt' has no text").param(PARAM)),
    }
}

/// A whole answer, or a chunk of one.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Completion {
    id: String,
    /// `text_completion`.
    object: &'static str,
    created: u64,
    model: String,
    /// One; none in a chunk with the usage.
    choices: Vec<CompletionChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Usage>)]
    usage: Option<Option<Usage>>,
    /// What it took, in Ebb's figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    ebb: Option<GenerateFigures>,
}

/// The text, or the next piece of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CompletionChoice {
    index: u32,
    text: String,
    logprobs: Option<CompletionLogprobs>,
    finish_reason: Option<FinishReason>,
}

/// How likely the tokens were, in lists of one length.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct CompletionLogprobs {
    tokens: Vec<String>,
    token_logprobs: Vec<f32>,
    top_logprobs: Vec<BTreeMap<String, f32>>,
    /// Where each token begins in the answer, in characters.
    text_offset: Vec<usize>,
}

impl CompletionLogprobs {
    /// `from` is where the first token begins.
    fn of(tokens: Vec<TokenLogprob>, from: &mut usize) -> Self {
        let mut all = Self::default();
        for TokenLogprob { token, logprob, top, .. } in tokens {
            all.text_offset.push(*from);
            *from += token.chars().count();
            all.tokens.push(token);
            all.token_logprobs.push(logprob);
            all.top_logprobs.push(top.into_iter().map(|top| (top.token, top.logprob)).collect());
        }
        all
    }
}

/// Makes the answer, whole or in chunks.
struct Answer {
    blank: Completion,
    include_usage: bool,
    logprobs: bool,
    echo: String,
    /// Characters of tokens so far.
    offset: usize,
}

impl Answer {
    fn choice(&mut self, text: String, tokens: Vec<TokenLogprob>, end: Option<FinishReason>) -> Completion {
        let logprobs = self.logprobs.then(|| CompletionLogprobs::of(tokens, &mut self.offset));
        let choice = CompletionChoice { index: 0, text, logprobs, finish_reason: end };
        Completion { choices: vec![choice], ..self.blank.clone() }
    }
}

impl Render for Answer {
    fn begin(&mut self) -> Vec<sse::Event> {
        match std::mem::take(&mut self.echo) {
            echo if echo.is_empty() => Vec::new(),
            echo => vec![data(&self.choice(echo, Vec::new(), None))],
        }
    }

    fn text(&mut self, piece: Piece) -> Vec<sse::Event> {
        vec![data(&self.choice(piece.text, piece.logprobs, None))]
    }

    fn call(&mut self, _: ToolCall) -> Vec<sse::Event> {
        // No tools are offered here.
        Vec::new()
    }

    fn end(&mut self, figures: GenerateFigures) -> Vec<sse::Event> {
        let mut last = self.choice(String::new(), Vec::new(), Some(figures.finish_reason));
        if !self.include_usage {
            last.ebb = Some(figures);
            return vec![data(&last), done()];
        }
        let usage = Some(Some(Usage::from(&figures)));
        let with_usage = Completion { usage, ebb: Some(figures), ..self.blank.clone() };
        vec![data(&last), data(&with_usage), done()]
    }
}

/// Continues a text.
#[utoipa::path(post, path = "/v1/completions", tag = "openai", request_body = CompletionBody,
    responses((status = 200, content((Completion = "application/json"), (Completion = "text/event-stream")))))]
pub(crate) async fn create(
    State(app): State<App>,
    Loose(body): Loose<CompletionBody>,
) -> Result<Response, Rejection> {
    let Read { model, request, include_usage, logprobs, echo } = body.read()?;
    let stream = request.stream;
    let blank = Completion {
        id: new_id("cmpl-"),
        object: "text_completion",
        created: now_s(),
        model: model.clone(),
        choices: Vec::new(),
        usage: (stream && include_usage).then_some(None),
        ebb: None,
    };
    let mut answer = Answer { blank, include_usage, logprobs, echo, offset: 0 };
    if stream {
        let pieces = app.host.generate_stream(&model, request).await?;
        return Ok(streaming::events(pieces, answer).await?);
    }
    let whole = app.host.generate(&model, request).await?;
    let text = std::mem::take(&mut answer.echo) + &whole.text;
    let mut completion = answer.choice(text, whole.logprobs, Some(whole.figures.finish_reason));
    completion.usage = Some(Some(Usage::from(&whole.figures)));
    completion.ebb = Some(whole.figures);
    Ok(Json(completion).into_response())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::body::parse, *};

    fn read(body: Value) -> Result<Read, Failure> {
        parse::<CompletionBody>(body.to_string().as_bytes())?.read()
    }

    #[test]
    fn one_text_is_continued() {
        for prompt in [json!("a"), json!(["a"])] {
            let read = read(json!({"model": "m", "prompt": prompt, "echo": true, "max_tokens": 3})).unwrap();
            assert_eq!(read.request.generation.prompt.as_deref(), Some("a"));
            assert_eq!((read.echo.as_str(), read.request.generation.max_tokens), ("a", Some(3)));
        }
    }

    #[test]
    fn what_cannot_be_continued_is_refused() {
        for (more, code, param) in [
            (json!({}), Code::InvalidRequest, "prompt"),
            (json!({"prompt": 3}), Code::InvalidRequest, "prompt"),
            (json!({"prompt": []}), Code::InvalidRequest, "prompt"),
            (json!({"prompt": ["a", "b"]}), Code::Unsupported, "prompt"),
            (json!({"prompt": [1, 2]}), Code::Unsupported, "prompt"),
            (json!({"prompt": [[1, 2]]}), Code::Unsupported, "prompt"),
            (json!({"prompt": "a", "suffix": "b"}), Code::Unsupported, "suffix"),
            (json!({"prompt": "a", "max_tokens": 0}), Code::InvalidValue, "max_tokens"),
            (json!({"prompt": "a", "logprobs": 21}), Code::InvalidValue, "logprobs"),
            (json!({"prompt": "a", "logprobs": 1, "echo": true}), Code::Unsupported, "logprobs"),
            (json!({"prompt": "a", "best_of": 2}), Code::Unsupported, "best_of"),
        ] {
            let mut body = json!({"model": "m"});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let failure = read(body).err().unwrap();
            assert_eq!((failure.code, failure.param.as_deref()), (code, Some(param)), "{more}");
        }
    }

    #[test]
    fn offsets_count_characters() {
        let token =
            |text: &str| TokenLogprob { token: text.into(), logprob: -0.5, ..TokenLogprob::default() };
        let mut from = 0;
        let first = CompletionLogprobs::of(vec![token("äö"), token("b")], &mut from);
        let second = CompletionLogprobs::of(vec![token("c")], &mut from);
        assert_eq!((first.text_offset, second.text_offset), (vec![0, 2], vec![3]));
    }
}
