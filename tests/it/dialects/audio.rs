//! Transcriptions.

use reqwest::{Method, Response, multipart};
use serde_json::{Value, json};

use super::{Scene, data, json};

const TRANSCRIPTIONS: &str = "/v1/audio/transcriptions";

/// A form with two KiB of audio, which are two segments.
async fn transcribe(scene: &Scene, fields: &[(&'static str, &'static str)]) -> Response {
    let file = multipart::Part::bytes(vec![0; 2 << 10]).file_name("a.wav");
    let form = multipart::Form::new().text("model", "speech").part("file", file);
    let form = fields.iter().fold(form, |form, (name, value)| form.text(*name, *value));
    scene.request(Method::POST, TRANSCRIPTIONS).multipart(form).send().await.unwrap()
}

#[tokio::test]
async fn every_format() {
    let scene = Scene::new().await;
    let short: Value = transcribe(&scene, &[]).await.json().await.unwrap();
    assert_eq!((&short["text"], &short["usage"]["seconds"]), (&json!("part 0 part 1"), &json!(2.0)));
    let verbose: Value =
        transcribe(&scene, &[("response_format", "verbose_json")]).await.json().await.unwrap();
    assert_eq!((&verbose["task"], &verbose["duration"]), (&json!("transcribe"), &json!(2.0)));
    assert_eq!(verbose["segments"][1], json!({"id": 1, "start": 1.0, "end": 2.0, "text": " part 1"}));
    for (format, kind, part) in [
        ("text", "text/plain; charset=utf-8", "part 0 part 1\n"),
        ("srt", "text/plain; charset=utf-8", "2\n00:00:01,000 --> 00:00:02,000\n"),
        ("vtt", "text/vtt; charset=utf-8", "WEBVTT\n"),
    ] {
        let response = transcribe(&scene, &[("response_format", format)]).await;
        assert_eq!(response.headers()["content-type"], kind);
        let text = response.text().await.unwrap();
        assert!(text.contains(part), "{format}: {text}");
    }
}

#[tokio::test]
async fn a_stream_of_stretches() {
    let scene = Scene::new().await;
    let response = transcribe(&scene, &[("stream", "true"), ("ebb", "{\"timeout_ms\": 60000}")]).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let events: Vec<Value> = data(&response.text().await.unwrap()).iter().map(|event| json(event)).collect();
    assert_eq!(events[0], json!({"type": "transcript.text.delta", "delta": "part 0"}));
    assert_eq!(events[1], json!({"type": "transcript.text.delta", "delta": " part 1"}));
    assert_eq!(
        (&events[2]["type"], &events[2]["text"]),
        (&json!("transcript.text.done"), &json!("part 0 part 1"))
    );
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let scene = Scene::new().await;
    for (fields, status, param) in [
        (&[("response_format", "xml")], 400, "response_format"),
        (&[("timestamp_granularities[]", "word")], 422, "timestamp_granularities"),
        (&[("model", "chat")], 422, "model"),
        (&[("model", "none")], 404, "model"),
    ] {
        let response = transcribe(&scene, fields).await;
        assert_eq!(response.status().as_u16(), status, "{fields:?}");
        assert_eq!(response.json::<Value>().await.unwrap()["error"]["param"], param);
    }
    let (status, error) = scene.fails(TRANSCRIPTIONS, json!({})).await;
    assert_eq!((status, &error["param"]), (400, &json!("Content-Type")));
    let (status, error) = scene.fails("/v1/audio/translations", json!({})).await;
    assert_eq!((status, &error["code"]), (422, &json!("unsupported")));
}
