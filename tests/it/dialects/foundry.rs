//! Foundry Local's dialects, older and newer.

use serde_json::{Value, json};

use super::Scene;

#[tokio::test]
async fn models_are_loaded_and_unloaded_by_get() {
    let scene = Scene::new().await;
    for (load, unload, loaded) in [
        ("/openai/load/chat?ttl=600", "/openai/unload/chat?force=true", "/openai/loadedmodels"),
        ("/models/load/chat", "/models/unload/chat", "/models/loaded"),
    ] {
        let names = async || scene.get(loaded).await.json::<Value>().await.unwrap();
        for _ in 0..2 {
            let response = scene.get(load).await;
            assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (200, ""));
            assert_eq!(names().await, json!(["chat"]));
        }
        for _ in 0..2 {
            assert_eq!(scene.get(unload).await.status(), 200);
            assert_eq!(names().await, json!([]));
        }
    }
    // The second load had no wish of its own: the model's former one holds.
    assert_eq!(scene.host.model("chat").await.unwrap().options.keep_alive.unwrap().to_string(), "10m");
    let response = scene.get("/openai/load/none").await;
    assert_eq!(response.status(), 404);
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["param"], "model");
    assert_eq!(scene.get("/openai/load/chat?ttl=soon").await.status(), 400);
}

#[tokio::test]
async fn a_loaded_model_takes_another_time_to_stay() {
    let scene = Scene::new().await;
    for (ttl, at_most_ms) in [(3_600, 3_600_000), (600, 600_000)] {
        assert_eq!(scene.get(&format!("/openai/load/chat?ttl={ttl}")).await.status(), 200);
        let left_ms = scene.host.stats("chat", 0).await.unwrap().unloads_in_ms.unwrap();
        assert!((at_most_ms / 2..=at_most_ms).contains(&left_ms), "{left_ms}");
    }
}

#[tokio::test]
async fn what_there_is_is_told() {
    let scene = Scene::new().await;
    for path in ["/openai/status", "/status"] {
        let status: Value = scene.get(path).await.json().await.unwrap();
        assert_eq!(status["endpoints"], json!([scene.endpoint.url]));
        assert!(status["modelDirPath"].as_str().is_some_and(|path| !path.is_empty()), "{status}");
    }
    let names: Value = scene.get("/openai/models").await.json().await.unwrap();
    assert_eq!(names, json!(["chat", "embed", "speech"]));
    let list: Value = scene.get("/foundry/list").await.json().await.unwrap();
    let chat = &list[0];
    assert_eq!(
        (&chat["name"], &chat["alias"], &chat["task"]),
        (&json!("chat"), &json!("chat"), &json!("chat-completion"))
    );
    assert_eq!(chat["runtime"], json!({"deviceType": "CPU", "executionProvider": "CPUExecutionProvider"}));
}
