//! What a request for a response is read as, and how it is answered.

use axum::response::{IntoResponse as _, Sse, sse};
use ebb_core::{
    Code, ErrorBody, FinishReason, GenerateFigures, Message, Piece, ResponseFormat, ToolCall, ToolChoice,
    operations::GenerateAnswer,
};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::{
    super::{body::parse, streaming::Render as _},
    *,
};

fn read(more: Value) -> Result<(GenerateRequest, Asked), Failure> {
    let mut body = json!({"model": "m", "input": "hi"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    parse::<ResponsesBody>(body.to_string().as_bytes())?.read()
}

#[test]
fn items_become_messages() {
    let input = json!([
        {"role": "user", "content": [{"type": "input_text", "text": "weather?"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "let me see"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c1", "output": "sun"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
    ]);
    let (request, _) = read(json!({"input": input, "instructions": "be short", "max_output_tokens": 7,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        "tools": [{"type": "function", "name": "f", "parameters": null, "strict": true}],
        "tool_choice": {"type": "function", "name": "f"}}))
    .unwrap();
    let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() };
    let want = [
        Message::new("system", "be short"),
        Message::new("user", "weather?"),
        Message { tool_calls: vec![call("c1", "f")], ..Message::new("assistant", "let me see") },
        Message { tool_call_id: Some("c1".into()), ..Message::new("tool", "sun") },
        Message { tool_calls: vec![call("c2", "g")], ..Message::new("assistant", "") },
    ];
    let generation = request.generation;
    assert_eq!(generation.messages, want);
    assert_eq!((generation.max_tokens, generation.tool_choice), (Some(7), ToolChoice::Tool("f".into())));
    assert_eq!(
        generation.response_format,
        Some(ResponseFormat::JsonSchema(json!({"type": "object"}).into()))
    );
}

#[test]
fn bad_fields_are_named() {
    use Code::{InvalidRequest, InvalidValue, Unsupported};
    for (more, code, param) in [
        (json!({"model": 1}), InvalidRequest, "model"),
        (json!({"input": null}), InvalidRequest, "input"),
        (json!({"input": 3}), InvalidRequest, "input"),
        (json!({"input": [3]}), InvalidRequest, "input[0]"),
        (json!({"input": [{"role": "user"}]}), InvalidRequest, "input[0].content"),
        (json!({"input": [{"content": "a"}]}), InvalidRequest, "input[0].role"),
        (json!({"input": [{"type": "function_call", "name": "f"}]}), InvalidRequest, "input[0].call_id"),
        (
            json!({"input": [{"type": "function_call_output", "call_id": "c"}]}),
            InvalidRequest,
            "input[0].output",
        ),
        (json!({"input": [{"type": "item_reference", "id": "x"}]}), Unsupported, "input[0].type"),
        (
            json!({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}),
            Unsupported,
            "input[0].content[0].type",
        ),
        (json!({"previous_response_id": "resp_1"}), Unsupported, "previous_response_id"),
        (json!({"conversation": {"id": "c"}}), Unsupported, "conversation"),
        (json!({"background": true}), Unsupported, "background"),
        (json!({"max_output_tokens": 0}), InvalidValue, "max_output_tokens"),
        (json!({"tools": [{"type": "web_search"}]}), Unsupported, "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), InvalidValue, "tools[0].name"),
        (json!({"text": {"format": {"type": "json_schema"}}}), InvalidValue, "text.format.schema"),
    ] {
        let failure = read(more.clone()).unwrap_err();
        assert_eq!((failure.code, failure.param.as_deref()), (code, Some(param)), "{more}: {failure}");
    }
}

fn figures(finish_reason: FinishReason) -> GenerateFigures {
    GenerateFigures {
        prompt_tokens: 4,
        cached_tokens: 1,
        completion_tokens: 2,
        finish_reason,
        ..GenerateFigures::default()
    }
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "f".into(), arguments: "{\"a\":1}".into() }
}

#[test]
fn a_whole_response() {
    let (_, asked) = read(json!({"tools": [{"type": "function", "name": "f"}], "temperature": 0.5})).unwrap();
    let answer = GenerateAnswer {
        text: "hello".into(),
        tool_calls: vec![call("c1")],
        figures: figures(FinishReason::ToolCalls),
        ..GenerateAnswer::default()
    };
    insta::assert_json_snapshot!(Response::of(asked, answer), {
        ".id" => "[id]", ".created_at" => "[time]", ".output[].id" => "[id]"
    });
}

#[test]
fn what_is_cut_short_is_incomplete() {
    let (_, asked) = read(json!({})).unwrap();
    let answer = GenerateAnswer {
        text: "hel".into(),
        figures: figures(FinishReason::Length),
        ..GenerateAnswer::default()
    };
    let response = serde_json::to_value(Response::of(asked, answer)).unwrap();
    assert_eq!(
        (&response["status"], &response["incomplete_details"]),
        (&json!("incomplete"), &json!({"reason": "max_output_tokens"}))
    );
}

/// The name and the data of each event.
async fn sent(events: Vec<sse::Event>) -> Vec<(String, Value)> {
    let events = futures_util::stream::iter(events.into_iter().map(Ok::<_, std::convert::Infallible>));
    let body = Sse::new(events).into_response().into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let parse = |event: &str| {
        let (name, data) = event.split_once("\ndata: ").unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), serde_json::from_str(data).unwrap())
    };
    text.split_terminator("\n\n").map(parse).collect()
}

#[tokio::test]
async fn events_build_the_response_up() {
    let (_, asked) = read(json!({})).unwrap();
    let mut render = ResponseEvents::new(asked);
    let mut events = render.begin();
    for text in ["hel", "", "lo"] {
        events.extend(render.text(Piece { text: text.into(), logprobs: vec![] }));
    }
    events.extend(render.call(call("c1")));
    events.extend(render.end(figures(FinishReason::ToolCalls)));
    let sent = sent(events).await;
    let names: Vec<_> = sent.iter().map(|(name, _)| name.as_str()).collect();
    let want = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names, want);
    for (number, (name, data)) in sent.iter().enumerate() {
        assert_eq!((&data["sequence_number"], &data["type"]), (&json!(number), &json!(name)));
    }
    assert_eq!(sent[6].1["text"], "hello");
    assert_eq!(sent[10].1["delta"], "{\"a\":1}");
    let output = sent[13].1["response"]["output"].as_array().unwrap();
    assert_eq!((output.len(), &output[0], &output[1]), (2, &sent[8].1["item"], &sent[12].1["item"]));
    assert_eq!(sent[12].1["output_index"], 1);
}

#[tokio::test]
async fn an_error_in_mid_stream_is_an_event_in_the_one_form() {
    let (_, asked) = read(json!({})).unwrap();
    let mut render = ResponseEvents::new(asked);
    let error = ErrorBody::from(Failure::new(Code::WorkerCrashed, "gone")).error;
    let sent = sent(render.failed(error)).await;
    assert_eq!(sent[0].0, "error");
    assert_eq!(
        (&sent[0].1["message"], &sent[0].1["error"]["code"]),
        (&json!("gone"), &json!("worker_crashed"))
    );
}
