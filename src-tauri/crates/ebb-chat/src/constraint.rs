//! Answers that are kept to a format: a JSON schema, a regular expression, a call of a tool. At each token, those that the
//! format does not allow are ruled out.

use std::sync::Arc;

use ebb_core::{Generation, ResponseFormat, Tool, ToolChoice};
use llguidance::{Matcher, ParserFactory, api::TopLevelGrammar, regex_to_lark};
use serde_json::{Value, json};

use crate::{Error, Language, tools::Form};

mod tokens;

pub(crate) use tokens::factory;

/// Longest schema or expression that is taken, the deepest schema, and the most fields or items in one place of it.
const FORMAT_BYTES: usize = 256 << 10;
const SCHEMA_DEPTH: usize = 64;
const SCHEMA_WIDTH: usize = 1000;

/// What llguidance says where no token may come next.
const NOTHING_FITS: &str = "NoExtensionBias";

/// Keeps one answer to its format.
pub(crate) struct Constraint {
    matcher: Matcher,
    /// The field that asks for the format.
    param: &'static str,
}

impl Constraint {
    /// The constraint that a request asks for, if any.
    ///
    /// # Errors
    /// Where no text can fit the format, or it is too large.
    pub(crate) fn new(language: &Arc<Language>, generation: &Generation) -> Result<Option<Self>, Error> {
        let Some((grammar, param)) = grammar(language, generation)? else { return Ok(None) };
        let refused = |reason: &str| {
            Error::value(format!("no answer can be kept to this format: {}", plain(reason)), param)
                .with_hint("simplify the format; JSON schemas may use what llguidance supports")
        };
        let factory: &ParserFactory = language.formats().map_err(refused)?;
        let matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar)));
        match matcher.get_error() {
            Some(reason) => Err(refused(&reason)),
            None => Ok(Some(Self { matcher, param })),
        }
    }

    /// Rules out what the format does not allow next.
    ///
    /// # Errors
    /// Where no text goes on as the format asks, or it became too complex to follow.
    pub(crate) fn mask(&mut self, scores: &mut [f32]) -> Result<(), Error> {
        let allowed = self.matcher.compute_mask_or_eos().map_err(|error| impossible(error, self.param))?;
        for (scores, bits) in scores.chunks_mut(32).zip(allowed.as_slice()) {
            match *bits {
                u32::MAX => {}
                0 => scores.fill(f32::NEG_INFINITY),
                bits => {
                    for (place, score) in
                        scores.iter_mut().enumerate().filter(|(place, _)| bits >> place & 1 == 0)
                    {
                        debug_assert!(place < 32);
                        *score = f32::NEG_INFINITY;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes the token that was chosen. Whether the answer is complete with it.
    ///
    /// # Errors
    /// Where the format became too complex to follow.
    pub(crate) fn take(&mut self, token: u32) -> Result<bool, Error> {
        self.matcher.consume_token(token).map_err(|error| impossible(error, self.param))?;
        Ok(self.matcher.is_stopped())
    }
}

/// That a format turned out to be at fault only once it was followed: it refers to nothing but itself, or branches too much.
fn impossible(error: impl std::fmt::Display, param: &str) -> Error {
    let reason = match plain(&error.to_string()) {
        nothing if nothing.contains(NOTHING_FITS) => "no text fits it from here on".to_owned(),
        reason => reason,
    };
    Error::value(format!("the answer cannot be kept to its format: {reason}"), param)
        .with_hint("a simpler schema or expression may do")
}

/// What llguidance says, without the grammar and the state that it adds for its own authors.
fn plain(reason: &str) -> String {
    let end = ["<non-verbose/>", "<state>", "<backtrace>"].iter().filter_map(|mark| reason.find(mark)).min();
    let listing = |line: &&str| {
        let number = line.trim_start().split(" | ").next().unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && line.contains(" | ")
    };
    let lines: Vec<&str> =
        reason[..end.unwrap_or(reason.len())].lines().take_while(|line| !listing(line)).collect();
    let said = lines.join(" ");
    let said = said.strip_prefix("at ").and_then(|said| Some(said.split_once("): ")?.1)).unwrap_or(&said);
    let said = said.strip_prefix("failed to compile JSON schema: ").unwrap_or(said);
    said.trim().to_owned()
}

/// The grammar of a request in llguidance's Lark, and the field that asks for it.
fn grammar(language: &Language, generation: &Generation) -> Result<Option<(String, &'static str)>, Error> {
    let told = language.form(generation);
    let calls = |form: Form, tools: &[&Tool]| -> Result<String, Error> {
        for tool in tools {
            check_schema(&tool.parameters.0, "tools")?;
        }
        Ok(form.rules(tools, &language.vocabulary, &json_options()))
    };
    let all: Vec<&Tool> = generation.tools.iter().collect();
    let named = |name: &String| generation.tools.iter().filter(|tool| tool.name == *name).collect::<Vec<_>>();
    match (&generation.tool_choice, told) {
        (ToolChoice::Required, Some(form)) => {
            return Ok(Some((format!("start: calls\n{}", calls(form, &all)?), "tools")));
        }
        (ToolChoice::Tool(name), Some(form)) => {
            return Ok(Some((format!("start: calls\n{}", calls(form, &named(name))?), "tools")));
        }
        _ => {}
    }
    let answer = match &generation.response_format {
        None | Some(ResponseFormat::Text) => return Ok(None),
        Some(ResponseFormat::JsonObject) => format!("%json {}", schema(&json!({"type": "object"}))?),
        Some(ResponseFormat::JsonSchema(asked)) => format!("%json {}", schema(&asked.0)?),
        Some(ResponseFormat::Regex(expression)) => regex(expression)?,
    };
    let grammar = match told {
        Some(form) => format!("start: answer | calls\nanswer: {answer}\n{}", calls(form, &all)?),
        None => format!("start: answer\nanswer: {answer}\n"),
    };
    Ok(Some((grammar, "response_format")))
}

/// JSON on one line with a blank after commas and colons, as models know it from Python. Were any blanks allowed, a small
/// model could write them for ever.
fn json_options() -> Value {
    json!({
        "whitespace_flexible": false,
        "item_separator": ", ",
        "key_separator": ": ",
        // Where alternatives exclude each other, as in unions by tag, this is the same as `anyOf`.
        "coerce_one_of": true,
    })
}

fn schema(asked: &Value) -> Result<Value, Error> {
    check_schema(asked, "response_format")?;
    let mut schema = match asked {
        Value::Object(_) => asked.clone(),
        Value::Bool(true) | Value::Null => json!({}),
        _ => {
            return Err(Error::value("the JSON schema is no object", "response_format")
                .with_hint("a schema begins like {\"type\": \"object\"}"));
        }
    };
    schema["x-guidance"] = json_options();
    Ok(schema)
}

/// Compiling a schema recurses into its depth and along its width, and the time for an object grows with the square of its
/// fields: both are limited here.
fn check_schema(schema: &Value, param: &str) -> Result<(), Error> {
    let too = |what: String| {
        Err(Error::value(format!("a JSON schema {what}"), param).with_hint("simplify the schema"))
    };
    let bytes = schema.to_string().len();
    if bytes > FORMAT_BYTES {
        return too(format!("has {bytes} bytes; at most {FORMAT_BYTES} are taken"));
    }
    let mut level = vec![schema];
    for _ in 0..SCHEMA_DEPTH {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(items) if items.len() > SCHEMA_WIDTH => {
                    return too(format!(
                        "has a list of {} values; at most {SCHEMA_WIDTH} are taken",
                        items.len()
                    ));
                }
                Value::Object(fields) if fields.len() > SCHEMA_WIDTH => {
                    return too(format!(
                        "has an object of {} fields; at most {SCHEMA_WIDTH} are taken",
                        fields.len()
                    ));
                }
                Value::Array(items) => next.extend(items),
                Value::Object(fields) => next.extend(fields.values()),
                _ => {}
            }
        }
        if next.is_empty() {
            return Ok(());
        }
        level = next;
    }
    too(format!("is nested more than {SCHEMA_DEPTH} levels deep"))
}

fn regex(expression: &str) -> Result<String, Error> {
    let bytes = expression.len();
    if bytes > FORMAT_BYTES {
        let said = format!("the regular expression has {bytes} bytes; at most {FORMAT_BYTES} are taken");
        return Err(Error::value(said, "response_format").with_hint("simplify the expression"));
    }
    // The whole answer must match in any case, so that anchors at its ends say nothing.
    let inner = expression.strip_prefix('^').unwrap_or(expression);
    let escapes = inner.bytes().rev().skip(1).take_while(|&byte| byte == b'\\').count();
    let inner = if escapes % 2 == 0 { inner.strip_suffix('$').unwrap_or(inner) } else { inner };
    if inner.is_empty() {
        return Err(Error::value("the regular expression is empty", "response_format")
            .with_hint("leave out response_format for any text"));
    }
    Ok(format!("/{}/", regex_to_lark(inner, "")))
}

impl std::fmt::Debug for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constraint").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
