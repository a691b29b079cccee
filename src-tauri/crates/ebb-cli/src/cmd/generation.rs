//! What `ebb chat` and `ebb complete` share: the request, and its answer as it comes in.

use std::{
    io::{self, IsTerminal as _, Read as _, Write as _},
    time::Duration,
};

use ebb_client::{Generated, Model};
use ebb_core::{
    Code, Failure, Json, ResponseFormat,
    operations::{GenerateAnswer, GenerateRequest, MAX_BODY_BYTES},
};
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::{
    args::{RequestArgs, SamplingArgs},
    error::{Result, storage},
    render::{self, Out, note},
};

/// The request that was typed, so far without a text.
pub(super) fn request(sampling: SamplingArgs, request: RequestArgs) -> Result<GenerateRequest> {
    let schema = sampling.json_schema.as_deref().map(schema).transpose()?;
    let mut asked = GenerateRequest {
        generation: sampling.into(),
        options: request.into(),
        ..GenerateRequest::default()
    };
    if let Some(schema) = schema {
        asked.generation.response_format = Some(ResponseFormat::JsonSchema(schema));
    }
    Ok(asked)
}

/// A schema as typed, else the file of that name.
fn schema(typed: &str) -> Result<Json> {
    let text = if typed.trim_start().starts_with('{') {
        typed.to_owned()
    } else {
        std::fs::read_to_string(typed).map_err(|error| storage("read the schema", typed.as_ref(), &error))?
    };
    serde_json::from_str(&text).map_err(|error| {
        Failure::new(Code::InvalidValue, format!("the schema is no JSON: {error}"))
            .hint("give a file that holds a JSON schema, or the schema itself, in quotes for the shell")
            .param("json_schema")
            .into()
    })
}

/// The text that was typed; all of stdin for `-` and for none. `None` where there is none and stdin is a terminal.
pub(super) async fn text(typed: Option<String>) -> Result<Option<String>> {
    match typed {
        Some(text) if text != "-" => Ok(Some(text)),
        None if io::stdin().is_terminal() => Ok(None),
        // It may keep one waiting for long: not on the thread that listens for Ctrl-C.
        _ => {
            let text = tokio::task::spawn_blocking(all_of_stdin).await.map_err(io::Error::from)??;
            Ok(Some(text))
        }
    }
}

fn all_of_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    let most = MAX_BODY_BYTES as u64 + 1;
    io::stdin()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| storage("read", "stdin".as_ref(), &error))?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Failure::new(Code::InvalidRequest, format!("stdin is not valid UTF-8, from byte {at} on"))
            .hint("convert it first, for example with: iconv -f LATIN1 -t UTF-8")
    })?;
    // The end of its last line is the shell's, not the writer's.
    for end in ['\n', '\r'] {
        if text.ends_with(end) {
            text.pop();
        }
    }
    Ok(text)
}

/// Asks, and writes the text as it comes in. What came is in `answer` also where the work is given up.
pub(super) async fn stream(
    model: &Model,
    request: GenerateRequest,
    answer: &mut GenerateAnswer,
    out: &mut Out,
) -> Result {
    let waiting = waiting(out);
    let done = parts(model, request, answer, &waiting, out).await;
    waiting.finish_and_clear();
    if done.is_err() && !out.json && !answer.text.is_empty() {
        end_line(answer, out)?;
    }
    done
}

async fn parts(
    model: &Model,
    request: GenerateRequest,
    answer: &mut GenerateAnswer,
    waiting: &ProgressBar,
    out: &mut Out,
) -> Result {
    let mut parts = model.generate_stream(request).await?;
    while let Some(part) = parts.next().await {
        match part? {
            Generated::Progress(progress) => {
                waiting.set_message(format!(
                    "reading the prompt: {} of {} tokens",
                    progress.done, progress.total
                ));
            }
            Generated::Piece(piece) => {
                waiting.finish_and_clear();
                if !out.json {
                    write!(out, "{}", out.printable(&piece.text))?;
                    out.flush()?;
                }
                answer.text.push_str(&piece.text);
                answer.logprobs.extend(piece.logprobs);
            }
            Generated::ToolCall(call) => answer.tool_calls.push(call),
            Generated::Figures(figures) => answer.figures = figures,
        }
    }
    Ok(())
}

/// The end of an answer that was written: its line's end, and what it took.
pub(super) fn end(answer: &GenerateAnswer, out: &mut Out) -> Result {
    end_line(answer, out)?;
    note(&render::generate_summary(&answer.figures));
    Ok(())
}

fn end_line(answer: &GenerateAnswer, out: &mut Out) -> Result {
    if !answer.text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Says on stderr that there is something to wait for: a model that is loaded first, a long prompt.
fn waiting(out: &Out) -> ProgressBar {
    let shown = !out.json && io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target)
        .with_message("waiting for the model")
        .with_finish(ProgressFinish::AndClear);
    let bar = match ProgressStyle::with_template("{spinner} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_typed_or_read() {
        assert_eq!(schema(r#" {"type": "object"}"#).unwrap().to_string(), r#"{"type":"object"}"#);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schema.json");
        std::fs::write(&path, "{\"type\": \"array\"}\n").unwrap();
        assert_eq!(schema(path.to_str().unwrap()).unwrap().to_string(), r#"{"type":"array"}"#);
        for (typed, said) in [("{", "is no JSON"), ("no such file", "cannot read the schema 'no such file'")]
        {
            let error = schema(typed).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
