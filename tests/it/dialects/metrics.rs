//! What Prometheus scrapes.

use std::collections::BTreeMap;

use serde_json::json;

use super::Scene;

/// Each sample's value by its name and labels. Every line must be one of the format's, and every sample belong to the family
/// before it.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut family) = (BTreeMap::new(), String::new());
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let (kind, rest) = comment.split_once(' ').unwrap();
            assert!(["HELP", "TYPE"].contains(&kind), "{line}");
            family = rest.split(' ').next().unwrap().to_owned();
            continue;
        }
        let (of, value) = line.rsplit_once(' ').unwrap();
        assert!(of.starts_with(&family), "{line} is not of {family}");
        let before = samples.insert(of.to_owned(), value.parse().unwrap());
        assert_eq!(before, None, "{line} is there twice");
    }
    samples
}

#[tokio::test]
async fn figures_follow_what_happens() {
    let scene = Scene::new().await;
    for text in ["some text", "a longer text"] {
        scene.ok("/v1/embeddings", json!({"model": "embed", "input": text})).await;
    }
    scene
        .ok(
            "/v1/chat/completions",
            json!({"model": "chat", "messages": [{"role": "user", "content": "a b"}]}),
        )
        .await;
    scene
        .fails(
            "/v1/chat/completions",
            json!({"model": "chat", "messages": [{"role": "user", "content": "fail"}]}),
        )
        .await;
    let freed = scene.host.shrink("embed", Default::default()).await.unwrap().freed_bytes;
    let response = scene.get("/metrics").await;
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let samples = samples(&response.text().await.unwrap());
    for (of, value) in [
        (r#"ebb_model_answers{model="embed"}"#, 1.0),
        (r#"ebb_model_runs_total{model="embed"}"#, 2.0),
        (r#"ebb_model_shrinks_total{model="embed"}"#, 1.0),
        (r#"ebb_model_freed_bytes_total{model="embed"}"#, freed as f64),
        (r#"ebb_model_queued_requests{model="chat"}"#, 0.0),
        (r#"ebb_arena_in_use_bytes{model="embed",device="cpu:0"}"#, 1_000.0),
        (r#"ebb_arena_reserved_bytes{model="embed",device="cpu:0"}"#, 1_000.0),
        (r#"ebb_requests_answered_total{model="embed",work="embed"}"#, 2.0),
        (r#"ebb_requests_answered_total{model="chat",work="generate"}"#, 1.0),
        (r#"ebb_requests_failed_total{model="chat",work="generate"}"#, 1.0),
        (r#"ebb_input_tokens_total{model="chat",work="generate"}"#, 2.0),
        (r#"ebb_output_tokens_total{model="chat",work="generate"}"#, 2.0),
        (r#"ebb_request_duration_seconds_count{model="embed",work="embed"}"#, 2.0),
        (r#"ebb_request_duration_seconds_bucket{model="embed",work="embed",le="+Inf"}"#, 2.0),
        (r#"ebb_http_requests_total{route="/v1/embeddings",method="POST",status="200"}"#, 2.0),
        (r#"ebb_http_requests_total{route="/v1/chat/completions",method="POST",status="500"}"#, 1.0),
    ] {
        assert_eq!(samples.get(of), Some(&value), "{of} in {samples:#?}");
    }
    assert_eq!(freed, 13);
    assert!(samples[r#"ebb_model_resident_bytes{model="chat"}"#] > 0.0);
}
