//! What is sent, and what is refused in it.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use ebb_core::Code;
use serde_json::json;

use super::{BODY_LIMIT_BYTES, Scene, read, request};

#[tokio::test]
async fn a_page_of_another_origin_is_kept_out() {
    let scene = Scene::new();
    let page = request(Method::GET, "/ebb/v1/status").header(header::ORIGIN, "https://evil.example");
    let (status, body) = read(scene.send(page.body(Body::empty()).unwrap()).await).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::FORBIDDEN, &json!("forbidden")));
}

#[tokio::test]
async fn what_is_not_there_is_said_in_the_one_form() {
    let scene = Scene::new();
    let (status, error) = scene.refused(Method::GET, "/ebb/v1/modles", "").await;
    assert_eq!((status, error.code), (StatusCode::NOT_FOUND, Code::NotFound));
    assert!(error.message.contains("/ebb/v1/modles"));
    let (status, error) = scene.refused(Method::PATCH, "/ebb/v1/models", "").await;
    assert_eq!((status, error.code), (StatusCode::METHOD_NOT_ALLOWED, Code::InvalidRequest));
    for (method, path) in [
        (Method::GET, "/ebb/v1/models/m"),
        (Method::POST, "/ebb/v1/models/m/load"),
        (Method::POST, "/ebb/v1/models/m/unload"),
        (Method::POST, "/ebb/v1/models/m/shrink"),
        (Method::GET, "/ebb/v1/models/m/stats?history=3"),
        (Method::GET, "/ebb/v1/events?model=m"),
        (Method::GET, "/ebb/v1/models/a%2Fb%00"),
    ] {
        let (status, error) = scene.refused(method.clone(), path, "").await;
        assert_eq!((status, error.code), (StatusCode::NOT_FOUND, Code::NotFound), "{method} {path}");
        assert_eq!(error.param.as_deref(), Some("model"));
    }
    let (_, error) = scene.refused(Method::POST, "/ebb/v1/models/m/embed", r#"{"texts": ["a"]}"#).await;
    assert_eq!(error.code, Code::NotFound);
}

#[tokio::test]
async fn a_body_that_does_not_fit_says_where() {
    let scene = Scene::new();
    let load = "/ebb/v1/models/m/load";
    for (path, body, part) in [
        (load, r#"{"sesion_options": {}}"#, "unknown field `sesion_options`"),
        (load, r#"{"threads": "two"}"#, "expected u32"),
        (load, "{", "EOF"),
        (load, "{} {}", "trailing"),
        (load, "[]", "object"),
        ("/ebb/v1/models", "", "missing field `path`"),
        ("/ebb/v1/models/m/embed", r#"{"texts": "one"}"#, "expected a sequence"),
        ("/ebb/v1/models/m/embed", r#"{"texts": []}"#, "no texts"),
    ] {
        let (status, error) = scene.refused(Method::POST, path, body).await;
        assert_eq!((status, error.code), (StatusCode::BAD_REQUEST, Code::InvalidRequest), "{body}");
        assert!(error.message.contains(part), "{}", error.message);
    }
    let not_utf8 = b"{\"texts\": [\"\xff\"]}".to_vec();
    let (status, error) = scene.refused(Method::POST, "/ebb/v1/models/m/embed", not_utf8).await;
    assert_eq!((status, error.code), (StatusCode::BAD_REQUEST, Code::InvalidRequest));
    for (query, part) in [("force=maybe", "`true` or `false`"), ("fore=true", "unknown field `fore`")] {
        let (status, error) =
            scene.refused(Method::POST, &format!("/ebb/v1/models/m/load?{query}"), "").await;
        assert_eq!(
            (status, error.code, error.param.as_deref()),
            (StatusCode::BAD_REQUEST, Code::InvalidRequest, Some("query"))
        );
        let start = "what follows '?' in the address does not fit: ";
        assert!(error.message.starts_with(start) && error.message.contains(part), "{}", error.message);
        assert!(!error.message.contains("deserialize"), "{}", error.message);
    }
    let (status, _) = scene.refused(Method::GET, "/ebb/v1/models/m%ff", "").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_bad_shrink_target_says_how_devices_are_named() {
    let scene = Scene::new();
    for (path, body, field) in [
        ("shrink", r#"{"targets": ["cpu:0", "disk:0"]}"#, "targets"),
        ("shrink-after-next-run", r#"{"targets": ["disk:0"]}"#, "targets"),
        ("embed", r#"{"texts": ["a"], "shrink_after": ["disk:0"]}"#, "shrink_after"),
    ] {
        let (status, error) = scene.refused(Method::POST, &format!("/ebb/v1/models/m/{path}"), body).await;
        assert_eq!((status, error.code), (StatusCode::BAD_REQUEST, Code::InvalidTarget), "{path}");
        assert_eq!(
            (error.message.as_str(), error.param.as_deref()),
            ("'disk:0' is not a shrink target", Some(field))
        );
        assert!(error.hint.is_some_and(|hint| hint.contains("cpu:0 or gpu:0")), "{path}");
    }
    // What is wrong is said, not what only looks like it.
    let (_, error) = scene.refused(Method::POST, "/ebb/v1/models/m/load", r#"{"targets": ["disk:0"]}"#).await;
    assert!(error.message.contains("unknown field `targets`"), "{}", error.message);
}

#[tokio::test]
async fn a_body_that_is_too_large_or_too_slow_is_refused() {
    let scene = Scene::new();
    let large = "x".repeat(BODY_LIMIT_BYTES + 1);
    let announced = request(Method::POST, "/ebb/v1/models").header(header::CONTENT_LENGTH, large.len());
    let chunks = futures_util::stream::iter(
        large.as_bytes().to_vec().into_iter().map(|byte| Ok::<_, std::io::Error>(vec![byte])),
    );
    let in_chunks = request(Method::POST, "/ebb/v1/models").body(Body::from_stream(chunks)).unwrap();
    for request in [announced.body(Body::from(large.clone())).unwrap(), in_chunks] {
        let (status, body) = read(scene.send(request).await).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::PAYLOAD_TOO_LARGE, &json!("too_large")));
        assert_eq!(body["error"]["details"]["limit_bytes"], BODY_LIMIT_BYTES);
    }
    let never = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let slow = request(Method::POST, "/ebb/v1/models").body(Body::from_stream(never)).unwrap();
    let (status, body) = read(scene.send(slow).await).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::REQUEST_TIMEOUT, &json!("timeout")));
}

#[tokio::test]
async fn paths_and_aliases_are_checked_before_anything_starts() {
    let scene = Scene::new();
    for (body, param) in [
        (json!({"path": "models/minilm"}), "path"),
        (json!({"path": "/models/minilm", "alias": "../x"}), "alias"),
        (json!({"path": "/models/minilm", "alias": ""}), "alias"),
        (json!({"path": "/"}), "alias"),
    ] {
        let (status, error) = scene.refused(Method::POST, "/ebb/v1/models", body.to_string()).await;
        assert_eq!((status, error.param.as_deref()), (StatusCode::BAD_REQUEST, Some(param)), "{body}");
    }
}

#[tokio::test]
async fn profiles_are_saved_shown_and_removed() {
    let scene = Scene::new();
    let path = "/ebb/v1/profiles/mine";
    let mine = json!({"name": "mine", "description": "a try", "options": {"shrink_every": 5}});
    let (status, saved) = scene.call(Method::PUT, path, mine.to_string()).await;
    assert_eq!((status, &saved["options"]["shrink_every"]), (StatusCode::OK, &json!(5)));
    assert_eq!(scene.call(Method::GET, path, "").await.1, saved);
    let (_, list) = scene.call(Method::GET, "/ebb/v1/profiles", "").await;
    assert_eq!(list["profiles"].as_array().unwrap().last().unwrap()["name"], "mine");
    let (status, error) = scene.refused(Method::PUT, "/ebb/v1/profiles/other", mine.to_string()).await;
    assert_eq!((status, error.param.as_deref()), (StatusCode::BAD_REQUEST, Some("name")));
    assert_eq!(
        scene.refused(Method::GET, "/ebb/v1/profiles/..%2F..%2Fstate", "").await.1.code,
        Code::InvalidRequest
    );
    assert_eq!(scene.call(Method::DELETE, path, "").await.0, StatusCode::OK);
    assert_eq!(scene.refused(Method::GET, path, "").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_doctor_reports_what_is_missing_and_does_not_fail() {
    let scene = Scene::new();
    let (status, doctor) = scene.call(Method::GET, "/ebb/v1/doctor", "").await;
    assert_eq!(status, StatusCode::OK);
    let checks = doctor["checks"].as_array().unwrap();
    let state = |name: &str| &checks.iter().find(|check| check["name"] == name).unwrap()["state"];
    assert_eq!(
        (state("worker"), state("library"), state("home")),
        (&json!("missing"), &json!("missing"), &json!("ok"))
    );
}
