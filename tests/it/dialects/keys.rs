//! Keys open what their scopes say, for as long as they are there.

use ebb_core::operations::{AddKey, KeyScope};
use serde_json::json;

use super::Scene;

#[tokio::test]
async fn an_apps_key_works_with_models_and_nothing_else() {
    let scene = Scene::new().await;
    let app = scene.host.add_key(AddKey { name: "app".into(), scopes: vec![] }).await.unwrap().key;
    let scopes = vec![KeyScope::Control];
    let ops = scene.host.add_key(AddKey { name: "ops".into(), scopes }).await.unwrap().key;
    let status = async |key: &str, path: &str| {
        let body = json!({"model": "chat", "messages": [{"role": "user", "content": "hi"}]});
        let url = format!("{}{path}", scene.endpoint.url);
        let request = if path.ends_with("completions") || path.starts_with("/ebb") {
            scene.http.post(url).json(if path.starts_with("/ebb") { &serde_json::Value::Null } else { &body })
        } else {
            scene.http.get(url)
        };
        request.bearer_auth(key).send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(&app, "/v1/chat/completions").await, 200);
    assert_eq!(status(&app, "/v1/models").await, 200);
    assert_eq!(status(&app, "/openai/unload/chat").await, 403);
    assert_eq!(status(&app, "/ebb/v1/models/chat/shrink").await, 403);
    assert_eq!(status(&ops, "/v1/chat/completions").await, 403);
    assert_eq!(status(&ops, "/openai/unload/chat").await, 200);
    scene.host.remove_key("app").await.unwrap();
    assert_eq!(status(&app, "/v1/models").await, 401);
}
