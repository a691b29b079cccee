//! The operations that a window is made of, on a host without models.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use ebb_core::Code;
use http_body_util::BodyExt as _;

use super::{Scene, request};

#[tokio::test]
async fn without_models_there_is_nothing_to_shrink_and_the_system_is_there() {
    let scene = Scene::new();
    let (status, report) = scene.call(Method::POST, "/ebb/v1/models/shrink-all", "").await;
    assert_eq!((status, &report["freed_bytes"]), (StatusCode::OK, &0.into()));
    let refused =
        scene.refused(Method::POST, "/ebb/v1/models/shrink-all", r#"{"targets": ["disk:0"]}"#).await;
    assert_eq!((refused.0, refused.1.code), (StatusCode::BAD_REQUEST, Code::InvalidTarget));
    let (status, system) = scene.call(Method::GET, "/ebb/v1/system?folders=true", "").await;
    assert_eq!((status, &system["host"]["pid"]), (StatusCode::OK, &std::process::id().into()));
    assert_eq!(system["folders"][0]["name"], "models");
    assert_eq!(system["models"].as_array().map(Vec::len), Some(0));
}

#[tokio::test]
async fn what_no_operation_takes_is_refused_with_its_field() {
    let scene = Scene::new();
    for (path, body, field) in [
        ("/ebb/v1/models/pull", r#"{"model": "org/name"}"#, "model"),
        ("/ebb/v1/models/pull", r#"{"model": "hf:org/name", "alias": "a b"}"#, "alias"),
        ("/ebb/v1/models/pull", r#"{"model": "hf:org/name", "alias": "pull"}"#, "alias"),
        ("/ebb/v1/models/import", r#"{"path": "not/absolute.gguf"}"#, "path"),
        ("/ebb/v1/plugins/p/replay?settings=[]", "", "settings"),
        ("/ebb/v1/plugins/p/replay", "", "plugin"),
        ("/ebb/v1/models/m/check", "{}", "model"),
    ] {
        let (status, error) = scene.refused(Method::POST, path, body).await;
        assert!(status.is_client_error(), "{path}: {status}");
        assert_eq!(error.param.as_deref(), Some(field), "{path} {body}: {}", error.message);
    }
    for path in ["/ebb/v1/log?lines=-1", "/ebb/v1/events?history=many", "/ebb/v1/system?folders=2"] {
        let (status, error) = scene.refused(Method::GET, path, "").await;
        assert_eq!((status, error.param.as_deref()), (StatusCode::BAD_REQUEST, Some("query")), "{path}");
    }
}

#[tokio::test]
async fn streams_without_an_end_end_when_the_server_closes() {
    let scene = Scene::new();
    for (path, media) in [
        ("/ebb/v1/log?follow=true", "application/x-ndjson"),
        ("/ebb/v1/events?history=9", "text/event-stream"),
    ] {
        let response = scene.send(request(Method::GET, path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], media, "{path}");
        scene.closing.send_replace(true);
        response.into_body().collect().await.unwrap();
    }
}
