use ebb_core::{Code, Failure, Message, Tool, ToolCall};
use serde_json::json;

use super::*;
use crate::scene::{ask, weather};

fn refused(generation: &Generation) -> Failure {
    check_prompt(generation).and_then(|()| check_end(generation).map(drop)).unwrap_err().into()
}

#[test]
fn a_malformed_conversation_names_the_field() {
    let mut unknown = ask("hi");
    unknown.messages.push(Message::new("robot", "x"));
    let mut calling = ask("hi");
    calling.messages[0].tool_calls = vec![ToolCall::default()];
    let bare = |prompt: &str| Generation { prompt: Some(prompt.to_owned()), ..Generation::default() };
    for (generation, param, message) in [
        (Generation::default(), "messages", "there is nothing to answer: no messages and no prompt"),
        (
            Generation { prompt: Some("x".into()), ..ask("x") },
            "prompt",
            "a request has either messages or a prompt, not both",
        ),
        (unknown, "messages[1].role", "message 1 has the unknown role 'robot'"),
        (calling, "messages[0].tool_calls", "message 0 has tool calls, but only an assistant's message may"),
        (Generation { tools: vec![weather()], ..bare("x") }, "tools", "a bare prompt takes no tools"),
        (
            Generation { tool_choice: ToolChoice::Required, ..ask("x") },
            "tool_choice",
            "tool_choice asks for a call, but no tools were given",
        ),
        (
            Generation { tool_choice: ToolChoice::Tool("x".into()), tools: vec![weather()], ..ask("x") },
            "tool_choice",
            "tool_choice asks for 'x', which is no tool given",
        ),
        (
            Generation {
                tool_choice: ToolChoice::Required,
                tools: vec![weather()],
                response_format: Some(ResponseFormat::JsonObject),
                ..ask("x")
            },
            "response_format",
            "an answer cannot be a call and have a response format at once",
        ),
    ] {
        let failure = refused(&generation);
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidRequest, Some(param)));
        assert_eq!(failure.message, message);
    }
}

#[test]
fn values_out_of_bounds_name_the_field() {
    let tool = |name: &str| Tool { name: name.to_owned(), ..Tool::default() };
    let stop = |stop: Vec<String>| Generation { stop, ..ask("x") };
    for (generation, param) in [
        (Generation { max_tokens: Some(0), ..ask("x") }, "max_tokens"),
        (stop(vec!["x".to_owned(); 10_000]), "stop"),
        (stop(vec!["x".to_owned(), String::new()]), "stop[1]"),
        (stop(vec!["x".repeat(1025)]), "stop[0]"),
        (Generation { tools: vec![tool("")], ..ask("x") }, "tools[0].name"),
        (Generation { tools: vec![tool("a b")], ..ask("x") }, "tools[0].name"),
        (Generation { tools: vec![tool("a"), tool("a")], ..ask("x") }, "tools[1].name"),
        (Generation { tools: (0..129).map(|n| tool(&format!("t{n}"))).collect(), ..ask("x") }, "tools"),
        (
            Generation { tools: vec![Tool { parameters: json!([1]).into(), ..tool("a") }], ..ask("x") },
            "tools[0].parameters",
        ),
    ] {
        let failure = refused(&generation);
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some(param)), "{failure}");
    }
    let fits = stop(vec!["x".repeat(1024); 64]);
    assert_eq!(check_end(&fits).unwrap().len(), 64);
}
