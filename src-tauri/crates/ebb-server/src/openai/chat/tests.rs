//! What a chat request is read as, and what is refused in it.

use ebb_core::{FinishReason, GenerateFigures, operations::GenerateAnswer};
use ebb_core::{KeepAlive, Message, Target, TokenLogprob, Tool, ToolCall, ToolChoice, TopLogprob};
use serde_json::{Value, json};

use super::{super::body::parse, *};

fn read(more: Value) -> Result<(String, GenerateRequest, Manner), Failure> {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    parse::<ChatBody>(body.to_string().as_bytes())?.read()
}

fn generation(more: Value) -> Generation {
    read(more).unwrap().1.generation
}

#[test]
fn what_is_not_given_is_the_models_own() {
    let (model, request, manner) = read(json!({})).unwrap();
    let want = Generation { messages: vec![Message::new("user", "hi")], ..Generation::default() };
    assert_eq!((model.as_str(), request.generation), ("m", want));
    assert_eq!(manner, Manner { stream: false, include_usage: false, one_call: false, logprobs: false });
    // Null is the same as not given, as many clients write it.
    let nulls = [
        "stream",
        "stop",
        "temperature",
        "tools",
        "tool_choice",
        "max_tokens",
        "logit_bias",
        "response_format",
        "stream_options",
        "seed",
        "n",
        "ebb",
        "functions",
        "function_call",
        "logprobs",
        "parallel_tool_calls",
    ];
    let nulls: Value = nulls.into_iter().map(|name| (name.to_owned(), Value::Null)).collect();
    assert_eq!(read(nulls).unwrap().1, read(json!({})).unwrap().1);
}

#[test]
fn every_field_reaches_the_generation() {
    let asked = generation(json!({
        "temperature": 0.5, "top_p": 0.25, "top_k": 40, "min_p": 0.125, "repetition_penalty": 1.5,
        "frequency_penalty": -1.0, "presence_penalty": 2.0, "seed": -1, "logit_bias": {"7": -100, "9": 1.5},
        "stop": "END", "max_tokens": 5, "max_completion_tokens": 6, "logprobs": true, "top_logprobs": 2,
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "strict": true,
            "parameters": {"type": "object"}}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "chat_template_kwargs": {"enable_thinking": false},
        "ebb": {"template_options": {"today": "Monday"}},
        "user": "someone", "metadata": {"a": "b"}, "store": true, "service_tier": "auto",
    }));
    let want = Generation {
        messages: vec![Message::new("user", "hi")],
        temperature: Some(0.5),
        top_p: Some(0.25),
        top_k: Some(40),
        min_p: Some(0.125),
        repetition_penalty: Some(1.5),
        frequency_penalty: Some(-1.0),
        presence_penalty: Some(2.0),
        seed: Some(u64::MAX),
        logit_bias: [(7, -100.0), (9, 1.5)].into(),
        stop: vec!["END".into()],
        max_tokens: Some(6),
        logprobs: Some(2),
        tools: vec![Tool {
            name: "f".into(),
            description: Some("d".into()),
            parameters: json!({"type": "object"}).into(),
        }],
        tool_choice: ToolChoice::Tool("f".into()),
        template_options: [
            ("enable_thinking".to_owned(), json!(false).into()),
            ("today".to_owned(), json!("Monday").into()),
        ]
        .into(),
        ..Generation::default()
    };
    assert_eq!(asked, want);
    assert_eq!(generation(json!({"stop": ["a", "b"], "top_k": -1, "random_seed": 4})).stop, ["a", "b"]);
}

#[test]
fn formats_and_choices_are_told_apart() {
    for (format, want) in [
        (json!({"type": "text"}), ResponseFormat::Text),
        (json!({"type": "json_object"}), ResponseFormat::JsonObject),
        (
            json!({"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": {"type": "array"}}}),
            ResponseFormat::JsonSchema(json!({"type": "array"}).into()),
        ),
    ] {
        assert_eq!(generation(json!({"response_format": format})).response_format, Some(want));
    }
    let regex = generation(json!({"ebb": {"regex": "a+"}, "response_format": {"type": "text"}}));
    assert_eq!(regex.response_format, Some(ResponseFormat::Regex("a+".into())));
    for (choice, want) in
        [("none", ToolChoice::None), ("auto", ToolChoice::Auto), ("required", ToolChoice::Required)]
    {
        assert_eq!(generation(json!({"tool_choice": choice})).tool_choice, want);
    }
}

#[test]
fn wishes_of_ebb_stand_beside() {
    let (_, request, _) =
        read(json!({"ebb": {"shrink_after": true, "timeout_ms": 7, "run_options": {"a": "b"}}})).unwrap();
    assert_eq!((request.options.shrink_after, request.options.timeout_ms), (Some(vec![]), Some(7)));
    assert_eq!(request.options.run_options["a"], "b");
    let options = |more| read(more).unwrap().1.options;
    assert_eq!(options(json!({"ebb": {"shrink_after": false}})).shrink_after, None);
    let targets = options(json!({"ebb": {"shrink_after": ["CPU:0", "cuda:1"]}})).shrink_after;
    assert_eq!(targets, Some(vec![Target::cpu(0), Target::gpu(1)]));
    let five = Some(KeepAlive::from_seconds(300.0).unwrap());
    for more in [
        json!({"keep_alive": "5m"}),
        json!({"ttl": 300}),
        json!({"ebb": {"keep_alive": 300}}),
        json!({"ebb": {"keep_alive": "5m"}, "keep_alive": "1h", "ttl": 7}),
    ] {
        assert_eq!(options(more.clone()).keep_alive, five, "{more}");
    }
    assert_eq!(options(json!({"keep_alive": -1})).keep_alive, Some(KeepAlive::Forever));
}

#[test]
fn bad_fields_are_named() {
    use Code::{Conflict, InvalidRequest, InvalidTarget, InvalidValue, Unsupported};
    for (more, code, param) in [
        (json!({"model": null}), InvalidRequest, "model"),
        (json!({"messages": "hi"}), InvalidRequest, "messages"),
        (json!({"messages": [{"content": "hi"}]}), InvalidRequest, "messages[0].role"),
        (json!({"max_tokens": 0}), InvalidValue, "max_tokens"),
        (json!({"max_tokens": -1}), InvalidValue, "max_tokens"),
        (json!({"max_completion_tokens": 0}), InvalidValue, "max_completion_tokens"),
        (json!({"max_tokens": 1.5}), InvalidRequest, "max_tokens"),
        (json!({"temperature": 2.1}), InvalidValue, "temperature"),
        (json!({"temperature": -0.1}), InvalidValue, "temperature"),
        (json!({"temperature": 1e39}), InvalidValue, "temperature"),
        (json!({"temperature": "hot"}), InvalidRequest, "temperature"),
        (json!({"top_p": 1.1}), InvalidValue, "top_p"),
        (json!({"min_p": 2}), InvalidValue, "min_p"),
        (json!({"repetition_penalty": 0}), InvalidValue, "repetition_penalty"),
        (json!({"frequency_penalty": 3}), InvalidValue, "frequency_penalty"),
        (json!({"presence_penalty": -3}), InvalidValue, "presence_penalty"),
        (json!({"logit_bias": {"x": 1}}), InvalidValue, "logit_bias"),
        (json!({"logit_bias": {"1": 101}}), InvalidValue, "logit_bias"),
        (json!({"stop": [1]}), InvalidRequest, "stop"),
        (json!({"n": 2}), Unsupported, "n"),
        (json!({"n": 0}), InvalidValue, "n"),
        (json!({"top_logprobs": 3}), InvalidValue, "top_logprobs"),
        (json!({"logprobs": true, "top_logprobs": 21}), InvalidValue, "top_logprobs"),
        (json!({"functions": [{"name": "f"}]}), Unsupported, "functions"),
        (json!({"function_call": "auto"}), Unsupported, "function_call"),
        (json!({"modalities": ["text", "audio"]}), Unsupported, "modalities"),
        (json!({"tools": [{"type": "web_search"}]}), Unsupported, "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), InvalidValue, "tools[0].function"),
        (json!({"tools": [{"type": "function", "function": {}}]}), InvalidRequest, "tools[0].function.name"),
        (json!({"tool_choice": "maybe"}), InvalidValue, "tool_choice"),
        (json!({"tool_choice": {"type": "function"}}), InvalidValue, "tool_choice.function.name"),
        (json!({"tool_choice": {"type": "allowed_tools"}}), Unsupported, "tool_choice"),
        (json!({"response_format": {"type": "xml"}}), InvalidValue, "response_format.type"),
        (json!({"response_format": {"type": "json_schema"}}), InvalidValue, "response_format.schema"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"schema": "x"}}}),
            InvalidValue,
            "response_format.json_schema.schema",
        ),
        (json!({"response_format": {"type": "json_object"}, "ebb": {"regex": "a"}}), Conflict, "ebb.regex"),
        (json!({"ebb": {"shrink_after": ["disk:0"]}}), InvalidTarget, "ebb.shrink_after"),
        (json!({"ebb": {"shrink_after": "all"}}), InvalidRequest, "ebb.shrink_after"),
        (json!({"ebb": {"shrink": true}}), InvalidRequest, "ebb.shrink"),
        (json!({"keep_alive": "soon"}), InvalidRequest, "keep_alive"),
    ] {
        let failure = read(more.clone()).unwrap_err();
        assert_eq!((failure.code, failure.param.as_deref()), (code, Some(param)), "{more}: {failure}");
    }
}

fn manner(one_call: bool, logprobs: bool) -> Manner {
    Manner { stream: false, include_usage: false, one_call, logprobs }
}

fn whole(answer: GenerateAnswer, manner: Manner) -> Value {
    serde_json::to_value(ChatCompletion::of("m".into(), answer, manner)).unwrap()
}

#[test]
fn a_whole_answer() {
    let top = TopLogprob { token_id: 1, token: "ö".into(), bytes: vec![195, 182], logprob: -0.25 };
    let token = TokenLogprob {
        token_id: 1,
        token: "ö".into(),
        bytes: vec![195, 182],
        logprob: -0.25,
        top: vec![top],
    };
    let figures = GenerateFigures {
        prompt_tokens: 5,
        cached_tokens: 3,
        completion_tokens: 1,
        finish_reason: FinishReason::Length,
        seed: 9,
        first_token_us: 10,
        took_us: 20,
        tokens_per_second: 50.5,
        kv_bytes: 64,
        peak_arena_bytes: 128,
        ..GenerateFigures::default()
    };
    let answer =
        GenerateAnswer { text: "ö".into(), logprobs: vec![token], figures, ..GenerateAnswer::default() };
    insta::assert_json_snapshot!(whole(answer, manner(false, true)), {".id" => "[id]", ".created" => "[time]"});
}

#[test]
fn an_answer_of_calls_has_no_text() {
    let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() };
    let figures = GenerateFigures { finish_reason: FinishReason::ToolCalls, ..GenerateFigures::default() };
    let answer =
        GenerateAnswer { tool_calls: vec![call("a"), call("b")], figures, ..GenerateAnswer::default() };
    let both = whole(answer.clone(), manner(false, false));
    insta::assert_json_snapshot!(both["choices"]);
    let one = whole(answer, manner(true, false));
    assert_eq!(one["choices"][0]["message"]["tool_calls"].as_array().unwrap().len(), 1);
}
