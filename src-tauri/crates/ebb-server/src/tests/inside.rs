//! The routes for callers in this process.

use axum::http::{Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use ebb_core::ErrorBody;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::{BODY_LIMIT_BYTES, Scene};
use crate::AnswerBody;

async fn call(scene: &Scene, method: Method, path: &str, body: &str) -> Response<AnswerBody> {
    let request = Request::builder().method(method).uri(path).body(Bytes::from(body.to_owned())).unwrap();
    scene.inside.call(request).await
}

async fn read(response: Response<AnswerBody>) -> Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).expect("JSON")
}

#[tokio::test]
async fn nothing_need_be_shown_for_what_only_control_may_do() {
    let scene = Scene::new();
    let key = call(&scene, Method::POST, "/ebb/v1/keys", r#"{"name": "app"}"#).await;
    assert_eq!((key.status(), &read(key).await["name"]), (StatusCode::OK, &json!("app")));
    // The port leads to the same host.
    assert_eq!(scene.call(Method::GET, "/ebb/v1/keys", "").await.1["keys"][0]["name"], "app");
}

#[tokio::test]
async fn refusals_are_those_of_the_port() {
    let scene = Scene::new();
    let large = format!("{{\"path\": \"{}\"}}", "x".repeat(BODY_LIMIT_BYTES));
    for (method, path, body) in [
        (Method::GET, "/ebb/v1/modles", ""),
        (Method::PATCH, "/ebb/v1/models", ""),
        (Method::POST, "/ebb/v1/models/m/load", "{"),
        (Method::POST, "/ebb/v1/models/m/shrink", ""),
        (Method::POST, "/ebb/v1/models", &large),
    ] {
        let (status, error) = scene.refused(method.clone(), path, body.to_owned()).await;
        let inside = call(&scene, method, path, body).await;
        assert_eq!(inside.status(), status, "{path}");
        let body: ErrorBody = serde_json::from_value(read(inside).await).expect("the one error form");
        assert_eq!(body.error, error, "{path}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_ends_when_the_server_closes() {
    let scene = Scene::new();
    let events = call(&scene, Method::GET, "/ebb/v1/events", "").await;
    assert_eq!(events.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut body = events.into_body();
    // Open as it is, it holds nobody up.
    assert_eq!(call(&scene, Method::GET, "/ebb/v1/status", "").await.status(), StatusCode::OK);
    let pending = tokio::spawn(async move { body.frame().await.is_none() });
    scene.closing.send_replace(true);
    assert!(pending.await.unwrap());
}

#[test]
fn the_description_is_the_same_each_time() {
    let json = crate::openapi_json();
    assert_eq!(json, crate::openapi_json());
    assert!(json.ends_with("}\n") && !json.ends_with("\n\n"));
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["paths"]["/ebb/v1/status"]["get"]["operationId"], "get_ebb_v1_status");
}
