//! The input of a response: a text, or items of a conversation.

use ebb_core::{Code, Failure, Json, Message, ToolCall};
use serde::Deserialize;
use serde_json::Value;

use super::super::{messages::text, not_offered};

/// An item of the input. Which fields it has is told by its type.
#[derive(Debug, Deserialize)]
struct Item {
    r#type: Option<String>,
    role: Option<String>,
    #[serde(default)]
    content: Json,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    #[serde(default)]
    output: Json,
}

/// The messages of an input.
///
/// # Errors
/// For an item that does not fit, by its place.
pub(super) fn read(input: Json) -> Result<Vec<Message>, Failure> {
    let items = match input.0 {
        Value::String(text) => return Ok(vec![Message::new("user", text)]),
        Value::Array(items) => items,
        Value::Null => return Err(bad("input", "is missing")),
        _ => return Err(bad("input", "must be a text or a list of items")),
    };
    let mut messages: Vec<Message> = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        let at = format!("input[{place}]");
        let item: Item =
            serde_json::from_value(item).map_err(|error| bad(&at, &format!("does not fit: {error}")))?;
        match item.r#type.as_deref().unwrap_or("message") {
            "message" => messages.push(message(item, &at)?),
            "function_call" => call(&mut messages, item, &at)?,
            "function_call_output" => messages.push(output(item, &at)?),
            // What a model thought before is not told again.
            "reasoning" => {}
            kind => {
                let shown: String = kind.chars().take(40).collect();
                let message = format!("items of the type '{}' are not taken", shown.escape_debug());
                return Err(not_offered(format!("{at}.type"), message)
                    .hint("send messages, function calls and their outputs"));
            }
        }
    }
    Ok(messages)
}

fn bad(param: &str, what: &str) -> Failure {
    Failure::new(Code::InvalidRequest, format!("'{param}' {what}")).param(param)
}

fn given<T>(value: Option<T>, at: &str, field: &str) -> Result<T, Failure> {
    value.ok_or_else(|| bad(&format!("{at}.{field}"), "is missing"))
}

fn message(item: Item, at: &str) -> Result<Message, Failure> {
    let role = given(item.role, at, "role")?;
    let content = given(text(item.content, &format!("{at}.content"))?, at, "content")?;
    Ok(Message::new(&role, content))
}

/// A call belongs to the assistant's message before it, or is one of its own.
fn call(messages: &mut Vec<Message>, item: Item, at: &str) -> Result<(), Failure> {
    let call = ToolCall {
        id: given(item.call_id, at, "call_id")?,
        name: given(item.name, at, "name")?,
        arguments: given(item.arguments, at, "arguments")?,
    };
    match messages.last_mut() {
        Some(last) if last.role == "assistant" => last.tool_calls.push(call),
        _ => messages.push(Message { tool_calls: vec![call], ..Message::new("assistant", "") }),
    }
    Ok(())
}

fn output(item: Item, at: &str) -> Result<Message, Failure> {
    let content = given(text(item.output, &format!("{at}.output"))?, at, "output")?;
    let tool_call_id = Some(given(item.call_id, at, "call_id")?);
    Ok(Message { tool_call_id, ..Message::new("tool", content) })
}
