//! A request as templates see it: OpenAI's shape of messages and tools.

use std::collections::BTreeMap;

use ebb_core::{Generation, Message, Tool, ToolCall, ToolChoice};
use serde_json::{Map, Value, json};

use super::json::spaced;

/// Whether the model is told of the tools.
pub(crate) fn are_told(generation: &Generation) -> bool {
    !generation.tools.is_empty() && generation.tool_choice != ToolChoice::None
}

/// How the arguments of calls are given to a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    /// As objects, which most templates write out by themselves.
    Objects,
    /// As the model wrote them.
    Text,
}

/// All that a template can read.
pub(super) fn context(
    generation: &Generation,
    source: &str,
    special: &BTreeMap<String, String>,
    arguments: Arguments,
) -> Value {
    let mut context = Map::new();
    context.insert("add_generation_prompt".to_owned(), true.into());
    context.extend(generation.template_options.iter().map(|(name, value)| (name.clone(), value.0.clone())));
    context.extend(special.iter().map(|(name, token)| (name.clone(), token.as_str().into())));
    let told = are_told(generation);
    let knows_tools = source.contains("tools");
    let messages = if knows_tools {
        generation.messages.iter().map(|one| message(one, arguments)).collect()
    } else {
        plain_messages(generation, told)
    };
    let mut messages: Vec<Value> = messages;
    if !source.contains("developer") {
        for message in messages.iter_mut().filter(|message| message["role"] == "developer") {
            message["role"] = "system".into();
        }
    }
    context.insert("messages".to_owned(), messages.into());
    let tools = told.then(|| generation.tools.iter().map(tool).collect());
    context.insert("tools".to_owned(), tools.unwrap_or_default());
    Value::Object(context)
}

fn message(message: &Message, arguments: Arguments) -> Value {
    let mut value = json!({"role": message.role, "content": message.content});
    if let Some(name) = &message.name {
        value["name"] = name.as_str().into();
    }
    if let Some(id) = &message.tool_call_id {
        value["tool_call_id"] = id.as_str().into();
    }
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|call| {
            let arguments = match arguments {
                Arguments::Objects => object(call),
                Arguments::Text => call.arguments.as_str().into(),
            };
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        });
        value["tool_calls"] = calls.collect();
    }
    value
}

/// The arguments of a call; their text where it is no JSON.
fn object(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| call.arguments.as_str().into())
}

fn tool(tool: &Tool) -> Value {
    let mut function = json!({"name": tool.name});
    if let Some(description) = &tool.description {
        function["description"] = description.as_str().into();
    }
    function["parameters"] = match &tool.parameters.0 {
        Value::Null => json!({"type": "object", "properties": {}}),
        schema => schema.clone(),
    };
    json!({"type": "function", "function": function})
}

/// For a template that knows no tools: they are told of in the system message, and calls and their answers are written as
/// text, in the form that most small models have seen.
fn plain_messages(generation: &Generation, told: bool) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::with_capacity(generation.messages.len() + 1);
    for one in &generation.messages {
        let content = match one.role.as_str() {
            "tool" => format!("<tool_response>\n{}\n</tool_response>", one.content),
            _ if one.tool_calls.is_empty() => one.content.clone(),
            _ => plain_calls(one),
        };
        let role = if one.role == "tool" { "user" } else { &one.role };
        messages.push(json!({"role": role, "content": content}));
    }
    if told {
        let text = plain_tools(&generation.tools);
        match messages.first_mut().filter(|first| first["role"] == "system" || first["role"] == "developer") {
            Some(first) => {
                first["content"] =
                    format!("{}\n\n{text}", first["content"].as_str().unwrap_or_default()).into();
            }
            None => messages.insert(0, json!({"role": "system", "content": text})),
        }
    }
    messages
}

fn plain_calls(message: &Message) -> String {
    let calls = message.tool_calls.iter().map(|call| {
        let call = json!({"name": call.name, "arguments": object(call)});
        format!("<tool_call>\n{}\n</tool_call>", spaced(&call))
    });
    let said = (!message.content.is_empty()).then(|| message.content.clone());
    said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}

fn plain_tools(tools: &[Tool]) -> String {
    let lines: Vec<String> = tools.iter().map(|one| spaced(&tool(one))).collect();
    format!(
        "You may call functions to help with the user's request. These are the functions:\n<tools>\n{}\n</tools>\n\
         To call one, answer with a JSON object with its name and arguments between <tool_call> tags:\n\
         <tool_call>\n{{\"name\": <name>, \"arguments\": <arguments>}}\n</tool_call>",
        lines.join("\n")
    )
}
