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

/// A model that hangs is shown as such, and holds up neither the scrape nor the other models' figures.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_that_hangs_does_not_hang_the_scrape() {
    use ebb_server::ServeOptions;
    use ebb_tests::home::program;
    use rustix::process::{Signal, kill_process};

    use crate::supervised::workers_of;

    let folder = tempfile::tempdir().unwrap();
    // By a name of its own, so that its workers can be told from others.
    let named = folder.path().join("fake-worker");
    std::os::unix::fs::symlink(program("fake-worker"), &named).unwrap();
    let scene = Scene::with(ServeOptions::default(), named.clone()).await;
    scene.host.load("embed", Default::default(), false).await.unwrap();
    let hanging = workers_of(&named);
    scene.host.load("chat", Default::default(), false).await.unwrap();
    for pid in &hanging {
        kill_process(*pid, Signal::STOP).unwrap();
    }
    let samples = samples(&scene.get("/metrics").await.text().await.unwrap());
    for pid in &hanging {
        kill_process(*pid, Signal::CONT).unwrap();
    }
    assert_eq!(hanging.len(), 1);
    assert_eq!(samples[r#"ebb_model_answers{model="embed"}"#], 0.0);
    assert_eq!(samples[r#"ebb_model_answers{model="chat"}"#], 1.0);
    assert!(samples.contains_key(r#"ebb_model_resident_bytes{model="chat"}"#));
    assert!(!samples.contains_key(r#"ebb_model_resident_bytes{model="embed"}"#));
}
