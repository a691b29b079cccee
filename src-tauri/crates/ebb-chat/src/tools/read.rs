//! Calls out of the text that holds them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{OPENING, WITHIN};

/// What a text held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Names and arguments of the calls, in order.
    pub(super) calls: Vec<(String, String)>,
    /// What was no call.
    pub(super) text: String,
}

/// Keys that a call's JSON may begin with.
const KEYS: [&str; 7] = ["name", "type", "function", "arguments", "parameters", "id", "tool"];

/// Whether the beginning of an answer may be calls in JSON without marks; none where that is not known yet.
pub(super) fn may_be_bare(text: &str) -> Option<bool> {
    let text = text.trim_start();
    let first = text.chars().next()?;
    if OPENING.iter().any(|mark| text.starts_with(mark)) {
        return Some(false);
    }
    if OPENING.iter().any(|mark| mark.starts_with(text)) {
        return None;
    }
    match first {
        '[' => may_be_object(&text[1..]),
        '{' => may_be_object(text),
        _ => Some(false),
    }
}

fn may_be_object(text: &str) -> Option<bool> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    let Some(inside) = text.strip_prefix('{') else { return Some(false) };
    let inside = inside.trim_start();
    if inside.is_empty() {
        return None;
    }
    let Some(key) = inside.strip_prefix('"') else { return Some(false) };
    match key.split_once('"') {
        Some((key, _)) => Some(KEYS.contains(&key)),
        None if KEYS.iter().any(|known| known.starts_with(key)) => None,
        None => Some(false),
    }
}

/// Reads all calls. Text that is not a call after all is given back as text: from the first one that is broken on, to the end.
pub(super) fn read(held: &str, tools: &BTreeSet<String>) -> Found {
    let mut found = Found::default();
    let mut rest = held;
    while !rest.trim().is_empty() {
        let start = rest.trim_start();
        let Some((calls, after)) = one(start, tools) else {
            let broken = OPENING.iter().any(|mark| start.starts_with(mark)) || start.starts_with(['{', '[']);
            let next = OPENING.iter().filter_map(|mark| start.find(mark)).min().filter(|_| !broken);
            let Some(next) = next else {
                add_text(&mut found.text, if found.calls.is_empty() { rest } else { start });
                break;
            };
            add_text(&mut found.text, start[..next].trim_end());
            rest = &start[next..];
            continue;
        };
        found.calls.extend(calls);
        rest = after;
    }
    found
}

/// Marks that are no text are left out of what is shown.
fn add_text(text: &mut String, more: &str) {
    let mut more = more.to_owned();
    for mark in ["[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>"].iter().chain(&WITHIN[1..]) {
        more = more.replace(mark, "");
    }
    text.push_str(&more);
}

type Call = (String, String);

/// The calls at the beginning of a text, and what comes after them.
fn one<'a>(text: &'a str, tools: &BTreeSet<String>) -> Option<(Vec<Call>, &'a str)> {
    for (opening, closing) in [("<tool_call>", "</tool_call>"), ("<|tool_call|>", "<|/tool_call|>")] {
        if let Some(body) = text.strip_prefix(opening) {
            // A model may end without the closing mark; what its strings hold is no mark.
            let (calls, after) = values(body)?;
            let after = after.trim_start();
            return Some((calls, after.strip_prefix(closing).unwrap_or(after)));
        }
    }
    if let Some(body) = text.strip_prefix("<|python_tag|>") {
        return values(body);
    }
    if let Some(body) = text.strip_prefix("[TOOL_CALLS]") {
        return values(body).or_else(|| named(body));
    }
    let (calls, after) = values(text)?;
    calls.iter().all(|(name, _)| tools.contains(name)).then_some((calls, after))
}

/// JSON objects and lists of them, one after another; `;` and `,` may stand between.
fn values(text: &str) -> Option<(Vec<Call>, &str)> {
    let mut calls = Vec::new();
    let mut rest = text;
    loop {
        let start = rest
            .trim_start_matches(|c: char| c.is_whitespace() || (!calls.is_empty() && matches!(c, ';' | ',')));
        if !start.starts_with(['{', '[']) {
            break;
        }
        // What follows may be a mark that only begins like a list.
        let Some((value, after)) = value(start) else {
            if calls.is_empty() {
                return None;
            }
            break;
        };
        match value {
            Value::Array(values) => calls.extend(values.iter().map(call).collect::<Option<Vec<_>>>()?),
            value => calls.push(call(&value)?),
        }
        rest = after;
    }
    (!calls.is_empty()).then_some((calls, rest))
}

/// Mistral's newer form: the name, then the arguments.
fn named(text: &str) -> Option<(Vec<Call>, &str)> {
    let text = text.trim_start();
    let end = text.find(['[', '{'])?;
    let name = text[..end].trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    let body = match text[end..].split_once("[ARGS]") {
        Some((id, body)) if id.is_empty() || id.starts_with("[CALL_ID]") => body,
        _ => &text[end..],
    };
    let (arguments, after) = value(body.trim_start())?;
    Some((vec![(name.to_owned(), object(&arguments)?)], after))
}

/// The first JSON value of a text, and what comes after it.
fn value(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// Name and arguments of a call.
fn call(value: &Value) -> Option<Call> {
    let inner = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = ["name", "function", "tool"].iter().find_map(|key| inner.get(key)?.as_str())?;
    let arguments = match ["arguments", "parameters"].iter().find_map(|key| inner.get(key)) {
        Some(arguments) => object(arguments)?,
        None => "{}".to_owned(),
    };
    (!name.is_empty()).then(|| (name.to_owned(), arguments))
}

/// The text of an object, which may be given as text already.
fn object(value: &Value) -> Option<String> {
    match value {
        Value::Object(_) => Some(value.to_string()),
        Value::Null => Some("{}".to_owned()),
        Value::String(text) => {
            let inner: Value = serde_json::from_str(text).ok()?;
            inner.is_object().then(|| text.clone())
        }
        _ => None,
    }
}
