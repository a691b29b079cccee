//! The `openai` client for Python.

use serde_json::{Value, json};

use crate::scene::{Scene, two_cities};

fn ask(models: &[&str], args: &[&str]) -> Value {
    Scene::new(models).python("openai_client.py", args)
}

#[test]
fn it_chats() {
    let said = ask(&["smollm2"], &["chat"]);
    assert_eq!((&said["object"], &said["model"]), (&json!("chat.completion"), &json!("smollm2")));
    assert_eq!(said["role"], "assistant");
    assert!(said["text"].as_str().unwrap().len() > 20, "{said}");
    assert_eq!(said["streamed"], said["text"], "a stream says what the whole answer says");
    assert!(said["pieces"].as_u64().unwrap() > 5, "{said}");
    assert_eq!(said["stream_finish"], said["finish"]);
    let total = said["usage"]["prompt_tokens"].as_u64().unwrap()
        + said["usage"]["completion_tokens"].as_u64().unwrap();
    assert_eq!(said["usage"]["total_tokens"], total);
    assert_eq!(said["stream_usage"]["total_tokens"], total);
    assert_eq!(said["seeded"][0], said["seeded"][1], "the same seed, the same text");
    assert_ne!(said["seeded"][0], said["seeded"][2]);
    assert!(!said["stopped"][0].as_str().unwrap().contains("sea"), "{said}");
    assert_eq!(said["stopped"][1], "stop");
    assert_eq!(said["limited"], json!([3, "length"]));
}

#[test]
fn it_gets_logprobs_that_belong_to_the_text() {
    let said = ask(&["smollm2"], &["chat"]);
    let tokens = said["logprobs"].as_array().unwrap();
    assert_eq!(tokens.len(), 4);
    let text: String = tokens.iter().map(|token| token[0].as_str().unwrap()).collect();
    assert_eq!(said["likely_text"], text);
    assert!(tokens.iter().all(|token| token[1].as_f64().unwrap() <= 0.0 && token[2] == 3), "{said}");
}

#[test]
fn it_calls_tools() {
    let said = ask(&["smollm2"], &["tools"]);
    assert_eq!(
        (&said["finish"], &said["name"], &said["type"]),
        (&json!("tool_calls"), &json!("get_weather"), &json!("function"))
    );
    assert!(said["arguments"]["city"].is_string(), "{said}");
    assert!(!said["id"].as_str().unwrap().is_empty());
    assert!(!said["answer"].as_str().unwrap().is_empty());
    assert_eq!(said["streamed"], json!(["get_weather"]));
    assert!(said["streamed_arguments"]["city"].is_string(), "{said}");
}

#[test]
fn it_gets_json_of_a_schema() {
    let said = ask(&["smollm2"], &["formats"])["json_schema"].take();
    assert!(["red", "green", "blue"].contains(&said["colour"].as_str().unwrap()), "{said}");
    assert!(said["count"].is_i64(), "{said}");
}

#[test]
fn it_completes_and_responds() {
    let said = ask(&["smollm2"], &["text"]);
    assert!(!said["completion"].as_str().unwrap().is_empty());
    assert_eq!(said["completion_streamed"], said["completion"]);
    assert!(!said["response"].as_str().unwrap().is_empty());
    assert_eq!(said["response_streamed"], said["response"]);
    assert_eq!(said["response_final"], said["response"]);
    assert!(said["response_usage"]["output_tokens"].as_u64().unwrap() > 0);
    let events: Vec<_> =
        said["events"].as_array().unwrap().iter().map(|event| event.as_str().unwrap()).collect();
    assert_eq!(events[0], "response.created");
    for event in ["response.output_item.added", "response.output_text.delta", "response.output_text.done"] {
        assert!(events.contains(&event), "{event} is missing: {events:?}");
    }
    assert!(["response.completed", "response.incomplete"].contains(events.last().unwrap()), "{events:?}");
}

#[test]
fn it_embeds() {
    let said = ask(&["minilm"], &["embeddings"]);
    assert_eq!((&said["dimensions"], &said["indexes"]), (&json!(384), &json!([0, 1, 2])));
    assert!(said["same"].as_f64().unwrap() < 1e-6, "base64 and floats are the same: {said}");
    assert!(said["single"].as_f64().unwrap() < 1e-5, "{said}");
    assert!(said["alike"].as_f64().unwrap() > said["unlike"].as_f64().unwrap() + 0.3, "{said}");
    assert!(said["prompt_tokens"].as_u64().unwrap() > 12, "{said}");
}

#[test]
fn it_transcribes() {
    let said = ask(&["moonshine"], &["speech", &two_cities()]);
    assert!(said["text"].as_str().unwrap().to_lowercase().contains("best of times"), "{said}");
    assert_eq!(said["plain"].as_str().unwrap().trim(), said["text"].as_str().unwrap().trim());
    assert_eq!(said["verbose"], said["text"]);
    assert!((40.0..50.0).contains(&said["duration"].as_f64().unwrap()), "{said}");
    let segments = said["segments"].as_array().unwrap();
    assert!(segments.iter().all(|one| one[0].as_f64().unwrap() < one[1].as_f64().unwrap()), "{said}");
    assert!(said["srt"].as_str().unwrap().starts_with("1\n00:00:0"), "{said}");
    assert!(said["vtt"].as_str().unwrap().starts_with("WEBVTT"), "{said}");
}

#[test]
fn it_raises_the_classes_of_its_errors() {
    let said = ask(&["minilm", "smollm2", "moonshine"], &["errors"]);
    for (what, class, status) in [
        ("wrong_key", "AuthenticationError", 401),
        ("unknown_model", "NotFoundError", 404),
        ("unknown_role", "BadRequestError", 400),
        ("no_tokens", "BadRequestError", 400),
        ("too_long", "BadRequestError", 400),
        ("bad_dimensions", "BadRequestError", 400),
    ] {
        assert_eq!((&said[what][0], &said[what][1]), (&json!(class), &json!(status)), "{what}: {said}");
        assert!(said[what][2].is_string() && said[what][3].is_string(), "{what}: {said}");
    }
    for what in ["not_chat", "bad_audio"] {
        assert!([400, 422].contains(&said[what][1].as_u64().unwrap()), "{what}: {said}");
    }
}

#[test]
fn it_lists_models() {
    let said = ask(&["minilm", "smollm2"], &["models"]);
    assert_eq!(said, json!({"ids": ["minilm", "smollm2"], "one": "minilm"}));
}

#[test]
fn leaving_a_stream_cancels_its_generation() {
    let scene = Scene::new(&["smollm2"]);
    scene.python("openai_client.py", &["left"]);
    // The next answer would have to wait for all of the thousand tokens otherwise, and the cache would still be there.
    let answer = scene.greedy("One, two,", 4, true);
    assert_eq!(answer["figures"]["completion_tokens"], 4);
    let stats = scene.host("models/smollm2/stats", None);
    assert_eq!((&stats["now"]["runs"], &stats["queued"]), (&json!(2), &json!(0)), "{stats}");
}
