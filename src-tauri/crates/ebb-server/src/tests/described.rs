//! Every route is described, guarded, and opened by the scope that it should be.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use ebb_core::ErrorBody;
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{Scene, request};
use crate::{openapi::operations, routes::described};

/// Every route that the description knows: method, path, and an address that it stands for.
fn routes() -> Vec<(Method, String, String)> {
    let mut description = described().1;
    let mut routes = Vec::new();
    for (path, item) in &mut description.paths.paths {
        let mut address = path.clone();
        for name in ["{alias}", "{name}", "{model}"] {
            address = address.replace(name, "m");
        }
        if path.ends_with("/events") {
            // Without a model that is not there it would not end.
            address.push_str("?model=m");
        }
        let methods = [&item.get, &item.put, &item.post, &item.delete].map(Option::is_some);
        for (method, there) in
            [Method::GET, Method::PUT, Method::POST, Method::DELETE].into_iter().zip(methods)
        {
            if there {
                routes.push((method, path.clone(), address.clone()));
            }
        }
        assert!(operations(item).count() > 0, "{path} has no operation");
    }
    routes
}

async fn with_key(scene: &Scene, method: &Method, address: &str, key: &str) -> (StatusCode, Value) {
    let mut request = request(method.clone(), address).body(Body::empty()).unwrap();
    request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {key}").parse().unwrap());
    let response = scene.send(request).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    if status.is_success() {
        return (status, Value::Null);
    }
    let error: ErrorBody = serde_json::from_slice(&body).expect("the one error form");
    (status, serde_json::to_value(error.error).unwrap())
}

#[tokio::test]
async fn what_is_described_is_there() {
    let scene = Scene::new();
    for (method, path, address) in routes() {
        let (status, error) = with_key(&scene, &method, &address, super::TOKEN).await;
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        assert!(!message.starts_with("there is no route"), "{method} {path}");
        assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
    }
}

/// What is there is described: `routes!` takes no route without its description, and nothing else adds one. The list is what
/// the documentation of the interface promises.
#[tokio::test]
async fn every_route_and_the_scope_that_opens_it() {
    let scene = Scene::new();
    let mut lines = Vec::new();
    for (method, path, address) in routes() {
        let mut opens = Vec::new();
        for (scope, key) in [("infer", "ebb-infer"), ("control", "ebb-control")] {
            let (status, error) = with_key(&scene, &method, &address, key).await;
            if status != StatusCode::FORBIDDEN {
                opens.push(scope);
            } else {
                assert_eq!(error["type"], "permission_error", "{method} {path}");
            }
        }
        lines.push(format!("{method} {path}: {}", opens.join(" or ")));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn every_route_wants_a_token_or_a_key() {
    let scene = Scene::new();
    let mut all = routes();
    all.push((Method::GET, "/".into(), "/".into()));
    all.push((Method::OPTIONS, "/v1/models".into(), "/v1/models".into()));
    for (method, path, address) in all {
        let mut stranger = request(method.clone(), &address).body(Body::empty()).unwrap();
        stranger.headers_mut().remove(header::AUTHORIZATION);
        let response = scene.send(stranger).await;
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer", "{method} {path}");
        let (status, body) = super::read(response).await;
        assert_eq!((status, &body["error"]["code"]), (StatusCode::UNAUTHORIZED, &"unauthorized".into()));
    }
}

#[tokio::test]
async fn the_document_is_openapi_and_names_nothing_that_it_lacks() {
    let scene = Scene::new();
    let (status, document) = scene.call(Method::GET, "/ebb/v1/openapi.json", "").await;
    assert_eq!((status, &document["openapi"]), (StatusCode::OK, &"3.1.0".into()));
    let spec = oas3::from_json(document.to_string()).expect("an OpenAPI document");
    let mut ids: Vec<_> = spec
        .operations()
        .map(|(path, method, operation)| {
            assert!(operation.summary.is_some(), "{method} {path} has no summary");
            assert!(operation.responses(&spec).contains_key("default"), "{method} {path} has no error form");
            operation.operation_id.clone().expect("an id")
        })
        .collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), count), (count, routes().len()), "operation ids are not unique: {ids:?}");
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let answers = operation["responses"].as_object().unwrap();
            assert!(
                answers.len() >= 2 && answers.values().all(|answer| answer["description"].is_string()),
                "{operation}"
            );
        }
    }
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    assert!(references.len() > 50);
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(pointer).is_some(), "{reference} is not there");
    }
}

fn collect_references(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            into.extend(fields.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
            fields.values().for_each(|value| collect_references(value, into));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_references(value, into)),
        _ => {}
    }
}
