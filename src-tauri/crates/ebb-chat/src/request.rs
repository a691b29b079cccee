//! What is asked, checked: roles, tools, stop texts and limits. Everything after this may rely on it.

use std::collections::BTreeSet;

use ebb_core::{Generation, ResponseFormat, ToolChoice};

use crate::Error;

/// Who may speak in a conversation.
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];
/// Most stop texts.
const STOP_TEXTS: usize = 64;
/// Longest stop text.
const STOP_BYTES: usize = 1024;
/// Most functions that a model is told of, and the longest name of one, as OpenAI has it.
const TOOLS: usize = 128;
const TOOL_NAME_BYTES: usize = 64;

/// Checks the conversation and the tools.
pub(crate) fn check_prompt(generation: &Generation) -> Result<(), Error> {
    match (&generation.prompt, generation.messages.is_empty()) {
        (Some(_), false) => {
            return Err(Error::request("a request has either messages or a prompt, not both", "prompt"));
        }
        (None, true) => {
            return Err(Error::request("there is nothing to answer: no messages and no prompt", "messages"));
        }
        (Some(_), true) if !generation.tools.is_empty() => {
            return Err(
                Error::request("a bare prompt takes no tools", "tools").with_hint("send messages instead")
            );
        }
        _ => {}
    }
    for (place, message) in generation.messages.iter().enumerate() {
        if !ROLES.contains(&message.role.as_str()) {
            let said = format!("message {place} has the unknown role '{}'", message.role);
            let roles = format!("the roles are {}", ROLES.join(", "));
            return Err(Error::request(said, format!("messages[{place}].role")).with_hint(roles));
        }
        if !message.tool_calls.is_empty() && message.role != "assistant" {
            let said = format!("message {place} has tool calls, but only an assistant's message may");
            return Err(Error::request(said, format!("messages[{place}].tool_calls")));
        }
    }
    check_tools(generation)
}

fn check_tools(generation: &Generation) -> Result<(), Error> {
    if generation.tools.len() > TOOLS {
        return Err(Error::value(
            format!("{} tools were given; at most {TOOLS} are taken", generation.tools.len()),
            "tools",
        ));
    }
    let mut names = BTreeSet::new();
    for (place, tool) in generation.tools.iter().enumerate() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
        let fits = (1..=TOOL_NAME_BYTES).contains(&tool.name.len()) && tool.name.bytes().all(plain);
        if !fits {
            let said = format!("tool {place} has no usable name");
            let hint = format!("1 to {TOOL_NAME_BYTES} letters, digits, `_`, `-`, `.` or `:`");
            return Err(Error::value(said, format!("tools[{place}].name")).with_hint(hint));
        }
        if !names.insert(&tool.name) {
            return Err(Error::value(
                format!("two tools have the name '{}'", tool.name),
                format!("tools[{place}].name"),
            ));
        }
        if !(tool.parameters.0.is_null() || tool.parameters.0.is_object()) {
            let said = format!("the parameters of '{}' are no JSON schema", tool.name);
            return Err(Error::value(said, format!("tools[{place}].parameters")));
        }
    }
    let formatted = !matches!(generation.response_format, None | Some(ResponseFormat::Text));
    match &generation.tool_choice {
        ToolChoice::Auto | ToolChoice::None => Ok(()),
        ToolChoice::Required if generation.tools.is_empty() => {
            Err(Error::request("tool_choice asks for a call, but no tools were given", "tool_choice"))
        }
        ToolChoice::Tool(name) if !names.contains(name) => Err(Error::request(
            format!("tool_choice asks for '{name}', which is no tool given"),
            "tool_choice",
        )),
        _ if formatted => Err(Error::request(
            "an answer cannot be a call and have a response format at once",
            "response_format",
        )
        .with_hint("leave out response_format, or use tool_choice auto")),
        _ => Ok(()),
    }
}

/// Checks the stop texts and the limit of the answer, and gives the stop texts.
pub(crate) fn check_end(generation: &Generation) -> Result<Vec<String>, Error> {
    if generation.max_tokens == Some(0) {
        return Err(Error::value("max_tokens is 0; an answer has at least one token", "max_tokens")
            .with_hint("leave it out for as many as the context has room for"));
    }
    let stop = &generation.stop;
    if stop.len() > STOP_TEXTS {
        return Err(Error::value(
            format!("{} stop texts were given; at most {STOP_TEXTS} are taken", stop.len()),
            "stop",
        ));
    }
    for (place, text) in stop.iter().enumerate() {
        let param = format!("stop[{place}]");
        if text.is_empty() {
            return Err(Error::value("a stop text is empty, which would end every answer at once", param));
        }
        if text.len() > STOP_BYTES {
            let said = format!("a stop text has {} bytes; at most {STOP_BYTES} are taken", text.len());
            return Err(Error::value(said, param));
        }
    }
    Ok(stop.clone())
}

#[cfg(test)]
mod tests;
