//! Chat, completions, embeddings and the list of models.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ebb_core::EventKind;
use serde_json::{Value, json};

use super::{Scene, json};

const CHAT: &str = "/v1/chat/completions";

fn say(text: &str, more: Value) -> Value {
    let mut body = json!({"model": "chat", "messages": [{"role": "user", "content": text}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn a_whole_answer() {
    let scene = Scene::new().await;
    let answer = scene.ok(CHAT, say("give it back", json!({}))).await;
    assert!(answer["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert_eq!((&answer["object"], &answer["model"]), (&json!("chat.completion"), &json!("chat")));
    assert_eq!(
        answer["choices"],
        json!([{"index": 0, "message": {"role": "assistant", "content": "give it back", "refusal": null},
            "logprobs": null, "finish_reason": "stop"}])
    );
    assert_eq!(
        answer["usage"],
        json!({"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6,
            "prompt_tokens_details": {"cached_tokens": 0}})
    );
    assert!(answer["ebb"]["tokens_per_second"].is_number() && answer["ebb"]["kv_bytes"].is_u64());
    let cut = scene.ok(CHAT, say("give it back", json!({"max_tokens": 1}))).await;
    assert_eq!(
        (&cut["choices"][0]["message"]["content"], &cut["choices"][0]["finish_reason"]),
        (&json!("give "), &json!("length"))
    );
}

#[tokio::test]
async fn an_answer_in_chunks() {
    let scene = Scene::new().await;
    let body = say("give it back", json!({"stream": true, "stream_options": {"include_usage": true}}));
    let events = scene.events(CHAT, body).await;
    assert_eq!(events.last().unwrap(), "[DONE]");
    let chunks: Vec<Value> = events[..events.len() - 1].iter().map(|event| json(event)).collect();
    assert!(chunks.iter().all(|chunk| {
        chunk["id"] == chunks[0]["id"]
            && chunk["object"] == "chat.completion.chunk"
            && chunk["model"] == "chat"
    }));
    let deltas: Vec<&Value> =
        chunks[..chunks.len() - 1].iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
    assert_eq!(
        deltas,
        [
            &json!({"role": "assistant", "content": ""}),
            &json!({"content": "give "}),
            &json!({"content": "it "}),
            &json!({"content": "back"}),
            &json!({}),
        ]
    );
    let reasons: Vec<&Value> =
        chunks[..chunks.len() - 1].iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).collect();
    assert_eq!(reasons, [&json!(null), &json!(null), &json!(null), &json!(null), &json!("stop")]);
    let last = chunks.last().unwrap();
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(6)));
    assert!(last["ebb"]["took_us"].is_u64());
    assert!(chunks[..chunks.len() - 1].iter().all(|chunk| chunk["usage"].is_null()));
    // Without the wish there is no usage at all.
    let events = scene.events(CHAT, say("hi", json!({"stream": true}))).await;
    assert!(events[..events.len() - 1].iter().all(|event| json(event).get("usage").is_none()));
    assert!(json(&events[events.len() - 2])["ebb"]["took_us"].is_u64());
}

#[tokio::test]
async fn calls_come_whole_and_as_deltas() {
    let scene = Scene::new().await;
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]);
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\"text\":\"hi\"}"}});
    let answer = scene.ok(CHAT, say("hi", json!({"tools": tools}))).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(answer["choices"][0]["message"]["tool_calls"], json!([call]));
    let events = scene.events(CHAT, say("hi", json!({"tools": tools, "stream": true}))).await;
    let delta = &json(&events[events.len() - 3])["choices"][0]["delta"]["tool_calls"][0];
    let mut want = call;
    want["index"] = json!(0);
    assert_eq!(*delta, want);
    assert_eq!(json(&events[events.len() - 2])["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn a_failure_is_an_answer_before_the_first_word_and_an_event_after_it() {
    let scene = Scene::new().await;
    for stream in [false, true] {
        let (status, error) = scene.fails(CHAT, say("fail", json!({"stream": stream}))).await;
        assert_eq!(
            (status, &error["code"], &error["type"]),
            (500, &json!("internal"), &json!("server_error"))
        );
    }
    for path in [CHAT, "/v1/completions"] {
        let body = json!({"model": "chat", "messages": [{"role": "user", "content": "well fail then"}],
            "prompt": "well fail then", "stream": true});
        let events = scene.events(path, body).await;
        let last = json(events.last().unwrap());
        assert_eq!(last["error"]["message"], "the fake was told to fail", "{path}");
        assert!(events.iter().any(|event| event.contains("well ")) && !events.contains(&"[DONE]".to_owned()));
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_in_the_one_form() {
    let scene = Scene::new().await;
    for (path, body, status, code, param) in [
        (
            CHAT,
            json!({"model": "none", "messages": [{"role": "user", "content": "a"}]}),
            404,
            "not_found",
            "model",
        ),
        (
            CHAT,
            json!({"model": "embed", "messages": [{"role": "user", "content": "a"}]}),
            422,
            "unsupported",
            "model",
        ),
        (CHAT, say("a", json!({"messages": []})), 400, "invalid_request", "messages"),
        (CHAT, say("a", json!({"max_tokens": 0})), 400, "invalid_value", "max_tokens"),
        (CHAT, say("a", json!({"n": 3})), 422, "unsupported", "n"),
        (CHAT, json!([]), 400, "invalid_request", "body"),
        ("/v1/completions", json!({"model": "chat"}), 400, "invalid_request", "prompt"),
        ("/v1/embeddings", json!({"model": "none", "input": "a"}), 404, "not_found", "model"),
        ("/v1/embeddings", json!({"model": "embed", "input": [[1]]}), 422, "unsupported", "input"),
        (
            "/v1/embeddings",
            json!({"model": "embed", "input": "a", "dimensions": 2}),
            400,
            "invalid_value",
            "dimensions",
        ),
        (
            "/v1/embeddings",
            json!({"model": "embed", "input": "a", "encoding_format": "int8"}),
            400,
            "invalid_request",
            "encoding_format",
        ),
    ] {
        let (got, error) = scene.fails(path, body.clone()).await;
        assert_eq!(
            (got, &error["code"], &error["param"]),
            (status, &json!(code), &json!(param)),
            "{path} {body}: {error}"
        );
        assert!(error["type"].is_string() && error["message"].is_string() && error.get("hint").is_some());
    }
}

#[tokio::test]
async fn a_text_is_continued() {
    let scene = Scene::new().await;
    let body = json!({"model": "chat", "prompt": ["once upon"], "echo": true});
    let answer = scene.ok("/v1/completions", body.clone()).await;
    assert_eq!(
        answer["choices"],
        json!([{"index": 0, "text": "once upononce upon", "logprobs": null, "finish_reason": "stop"}])
    );
    assert_eq!((&answer["object"], &answer["usage"]["total_tokens"]), (&json!("text_completion"), &json!(4)));
    let mut body = body;
    body["stream"] = json!(true);
    let events = scene.events("/v1/completions", body).await;
    assert_eq!(events.last().unwrap(), "[DONE]");
    let texts: Vec<Value> =
        events[..events.len() - 1].iter().map(|event| json(event)["choices"][0]["text"].take()).collect();
    assert_eq!(texts, ["once upon", "once ", "upon", ""]);
}

#[tokio::test]
async fn embeddings_in_both_encodings() {
    let scene = Scene::new().await;
    let answer =
        scene.ok("/v1/embeddings", json!({"model": "embed", "input": ["a", "four"], "dimensions": 1})).await;
    assert_eq!(answer["data"].as_array().unwrap().len(), 2);
    assert_eq!(answer["data"][1]["index"], 1);
    let plain = scene.ok("/v1/embeddings", json!({"model": "embed", "input": "four"})).await;
    assert_eq!(plain["data"], json!([{"object": "embedding", "index": 0, "embedding": [4.0]}]));
    assert_eq!(plain["usage"], json!({"prompt_tokens": 0, "total_tokens": 0}));
    let encoded = scene
        .ok("/v1/embeddings", json!({"model": "embed", "input": "four", "encoding_format": "base64"}))
        .await;
    assert_eq!(encoded["data"][0]["embedding"], BASE64.encode(4.0_f32.to_le_bytes()));
}

#[tokio::test]
async fn models_are_listed() {
    let scene = Scene::new().await;
    let list: Value = scene.get("/v1/models").await.json().await.unwrap();
    let ids: Vec<_> =
        list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!((ids, &list["object"]), (vec!["chat", "embed", "speech"], &json!("list")));
    let one: Value = scene.get("/v1/models/chat").await.json().await.unwrap();
    assert_eq!(one, list["data"][0]);
    assert_eq!((&one["object"], &one["ebb"]["kind"]), (&json!("model"), &json!("chat")));
    assert_eq!(scene.get("/v1/models/none").await.status(), 404);
}

/// What only Ebb does stands beside what OpenAI does.
#[tokio::test]
async fn a_request_shrinks_after_it_and_says_how_long_the_model_stays() {
    let scene = Scene::new().await;
    let mut events = scene.host.events();
    scene
        .ok(
            "/v1/embeddings",
            json!({"model": "embed", "input": "some text", "keep_alive": "1h", "ebb": {"shrink_after": true}}),
        )
        .await;
    let (cause, report) = tokio::time::timeout(super::PATIENCE, async {
        loop {
            if let EventKind::Shrink { cause, report } = events.recv().await.unwrap().kind {
                return (cause, report);
            }
        }
    })
    .await
    .expect("it shrinks");
    assert_eq!((cause.as_str(), report.freed_bytes), ("request", 9));
    let left_ms = scene.host.stats("embed", 0).await.unwrap().unloads_in_ms.unwrap();
    assert!((3_000_000..=3_600_000).contains(&left_ms), "{left_ms}");
}
