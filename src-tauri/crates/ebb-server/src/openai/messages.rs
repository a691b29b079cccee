//! Messages of a conversation, whose content is a text or a list of parts.

use ebb_core::{Code, Failure, Json, Message};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{not_offered, tools::CalledTool};

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatMessage {
    /// Who speaks: `system`, `developer`, `user`, `assistant`, `tool`.
    role: String,
    /// What is said: a text, or parts of the type `text`.
    #[serde(default)]
    content: Json,
    /// What an assistant said instead of an answer.
    refusal: Option<String>,
    /// The speaker's name.
    name: Option<String>,
    /// Calls that an assistant asked for.
    tool_calls: Option<Vec<CalledTool>>,
    /// The call that a tool's message answers.
    tool_call_id: Option<String>,
    /// The call of former versions.
    #[serde(default)]
    function_call: Json,
}

impl ChatMessage {
    /// The message in Ebb's words. `at` is where it stands: `messages[2]`.
    ///
    /// # Errors
    /// For content that is no text, and what only former versions have.
    pub(crate) fn read(self, at: &str) -> Result<Message, Failure> {
        if self.role == "function" {
            return Err(not_offered(
                format!("{at}.role"),
                "messages of the role 'function' are of a former version",
            )
            .hint("use the role 'tool', with the tool_call_id of the call"));
        }
        if !self.function_call.0.is_null() {
            return Err(not_offered(
                format!("{at}.function_call"),
                "function_call is of a former version of the interface",
            )
            .hint("use tool_calls"));
        }
        let calls = self.tool_calls.unwrap_or_default();
        let tool_calls = calls
            .into_iter()
            .enumerate()
            .map(|(place, call)| call.read(&format!("{at}.tool_calls[{place}]")))
            .collect::<Result<Vec<_>, _>>()?;
        let content = match (text(self.content, &format!("{at}.content"))?, self.refusal) {
            (Some(content), _) => content,
            (None, Some(refusal)) => refusal,
            // A call needs no words beside it.
            (None, None) if self.role == "assistant" => String::new(),
            (None, None) => {
                let param = format!("{at}.content");
                return Err(Failure::new(Code::InvalidRequest, format!("'{param}' is missing")).param(param));
            }
        };
        Ok(Message { role: self.role, content, name: self.name, tool_calls, tool_call_id: self.tool_call_id })
    }
}

/// Every message, in order.
///
/// # Errors
/// As [`ChatMessage::read`].
pub(crate) fn read_all(messages: Vec<ChatMessage>) -> Result<Vec<Message>, Failure> {
    let numbered = messages.into_iter().enumerate();
    numbered.map(|(place, message)| message.read(&format!("messages[{place}]"))).collect()
}

/// The text of a content: itself, or that of its parts, a line each; `None` where there is none.
///
/// # Errors
/// For a part that is no text.
pub(crate) fn text(content: Json, at: &str) -> Result<Option<String>, Failure> {
    use serde_json::Value;
    match content.0 {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Array(parts) => {
            let numbered = parts.into_iter().enumerate();
            let texts: Vec<String> = numbered
                .map(|(place, part)| part_text(part, &format!("{at}[{place}]")))
                .collect::<Result<_, _>>()?;
            Ok(Some(texts.join("\n")))
        }
        _ => {
            Err(Failure::new(Code::InvalidRequest, format!("'{at}' must be a text or a list of parts"))
                .param(at))
        }
    }
}

fn part_text(part: serde_json::Value, at: &str) -> Result<String, Failure> {
    use serde_json::Value;
    let mut fields = match part {
        Value::Object(fields) => fields,
        // Some clients list bare texts.
        Value::String(text) => return Ok(text),
        _ => {
            return Err(
                Failure::new(Code::InvalidRequest, format!("'{at}' is no part of a message")).param(at)
            );
        }
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let field = match kind {
        "text" | "input_text" | "output_text" => "text",
        "refusal" => "refusal",
        "" => {
            let param = format!("{at}.type");
            return Err(Failure::new(Code::InvalidRequest, format!("'{param}' is missing")).param(param));
        }
        _ => {
            let shown: String = kind.chars().take(40).collect();
            return Err(not_offered(
                format!("{at}.type"),
                format!("a part is of the type '{}', and models here take text alone", shown.escape_debug()),
            )
            .hint("send parts of the type 'text'; a recording is transcribed by /v1/audio/transcriptions"));
        }
    };
    match fields.remove(field) {
        Some(Value::String(text)) => Ok(text),
        _ => {
            let param = format!("{at}.{field}");
            Err(Failure::new(Code::InvalidRequest, format!("'{param}' must be a text")).param(param))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(message: Value) -> Result<Message, Failure> {
        serde_json::from_value::<ChatMessage>(message).unwrap().read("messages[0]")
    }

    #[test]
    fn content_is_a_text_or_parts_of_text() {
        for (content, want) in [
            (json!("hi"), "hi"),
            (json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "a\nb"),
            (json!([{"type": "input_text", "text": "a"}]), "a"),
            (json!([]), ""),
            (json!(["bare"]), "bare"),
        ] {
            assert_eq!(read(json!({"role": "user", "content": content})).unwrap().content, want);
        }
        let silent = read(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}));
        let silent = silent.unwrap();
        assert_eq!((silent.content.as_str(), silent.tool_calls[0].name.as_str()), ("", "f"));
        assert_eq!(read(json!({"role": "assistant", "refusal": "no"})).unwrap().content, "no");
    }

    #[test]
    fn what_is_no_text_is_refused_by_its_place() {
        for (message, code, param) in [
            (json!({"role": "user"}), Code::InvalidRequest, "messages[0].content"),
            (json!({"role": "user", "content": 3}), Code::InvalidRequest, "messages[0].content"),
            (json!({"role": "user", "content": [1]}), Code::InvalidRequest, "messages[0].content[0]"),
            (
                json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]}),
                Code::Unsupported,
                "messages[0].content[1].type",
            ),
            (
                json!({"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}),
                Code::Unsupported,
                "messages[0].content[0].type",
            ),
            (
                json!({"role": "user", "content": [{"text": "a"}]}),
                Code::InvalidRequest,
                "messages[0].content[0].type",
            ),
            (
                json!({"role": "user", "content": [{"type": "text"}]}),
                Code::InvalidRequest,
                "messages[0].content[0].text",
            ),
            (json!({"role": "function", "content": "a"}), Code::Unsupported, "messages[0].role"),
            (
                json!({"role": "assistant", "content": "a", "function_call": {"name": "f"}}),
                Code::Unsupported,
                "messages[0].function_call",
            ),
        ] {
            let failure = read(message.clone()).unwrap_err();
            assert_eq!((failure.code, failure.param.as_deref()), (code, Some(param)), "{message}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
            prop_oneof![Just("text"), Just("image_url"), Just("refusal")].prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop_oneof![Just("type"), Just("text"), Just("refusal"), Just("other")];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(key, inner, 0..4).prop_map(|fields| {
                    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()
                }),
            ]
        })
    }

    proptest! {
        /// Whatever stands in a message, its text comes out whole or it is refused by its place.
        #[test]
        fn any_content_is_read_or_refused(content in any_json()) {
            match text(Json(content.clone()), "at") {
                Ok(None) => prop_assert!(content.is_null()),
                Ok(Some(text)) => match &content {
                    Value::String(whole) => prop_assert_eq!(&text, whole),
                    Value::Array(parts) => {
                        let lines = parts.iter().map(|part| part.as_str().or_else(|| {
                            part["text"].as_str().filter(|_| part["type"] != "refusal")
                        }).or_else(|| part["refusal"].as_str()).unwrap());
                        prop_assert_eq!(text, lines.collect::<Vec<_>>().join("\n"));
                    }
                    other => prop_assert!(false, "{} is no text", other),
                },
                Err(failure) => {
                    prop_assert!(failure.param.is_some_and(|param| param.starts_with("at")));
                    prop_assert!(!content.is_string() && !content.is_null());
                }
            }
        }
    }
}
