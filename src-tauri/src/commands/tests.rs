//! What the page may call, asked as the page asks: through the real rights, without a display.

use std::collections::BTreeSet;

use ebb_api::{Host, Settings};
use ebb_core::Places;
use ebb_server::{ServeOptions, Server};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tauri::{
    App, Manager as _, WebviewWindow, WebviewWindowBuilder,
    ipc::{CallbackFn, InvokeBody, InvokeResponseBody},
    test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder},
    webview::InvokeRequest,
};
use tempfile::TempDir;

use crate::{
    app,
    calls::Calls,
    start::{Serving, Start},
    window::MAIN,
};

/// The app without a display, and the window's page.
struct Scene {
    app: App<MockRuntime>,
    page: WebviewWindow<MockRuntime>,
    _folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let app = app::core(mock_builder()).build(app::context()).unwrap();
        let page = WebviewWindowBuilder::new(&app, MAIN, Default::default()).build().unwrap();
        Self { app, page, _folder: tempfile::tempdir().unwrap() }
    }

    /// With a host that serves.
    fn serving() -> Self {
        let scene = Self::new();
        let home = scene._folder.path().to_owned();
        let opened = tauri::async_runtime::block_on(async {
            let settings = Settings { worker_program: Some("/no/such/worker".into()), ..Settings::default() };
            let host = Host::open(Places { cache: home.join("cache"), home }, settings)?;
            let server = Server::bind(host.clone(), ServeOptions::default()).await?;
            let url = server.endpoint().url.clone();
            Ok(Serving { inside: server.inside(), url, took_over: None, host })
        });
        scene.app.state::<Start>().settle(opened);
        scene
    }

    fn call(&self, command: &str, body: InvokeBody, headers: &[(&'static str, &str)]) -> Answered {
        let headers = headers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        let request = InvokeRequest {
            cmd: command.into(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: "tauri://localhost".parse().unwrap(),
            body,
            headers: headers.collect::<HeaderMap>(),
            invoke_key: INVOKE_KEY.into(),
        };
        get_ipc_response(&self.page, request)
    }

    fn json(&self, command: &str, body: Value) -> Result<Value, Value> {
        self.call(command, InvokeBody::Json(body), &[]).map(|body| body.deserialize().unwrap())
    }

    fn send(&self, method: &str, path: &str, content: &str) -> Result<Value, Value> {
        let headers = [("ebb-method", method), ("ebb-path", path), ("ebb-content-type", "application/json")];
        self.call("send", InvokeBody::Raw(content.into()), &headers).map(|body| body.deserialize().unwrap())
    }

    fn read(&self, body: &Value) -> Vec<u8> {
        match self.call("read", InvokeBody::Json(json!({ "body": body })), &[]).unwrap() {
            InvokeResponseBody::Raw(bytes) => bytes,
            InvokeResponseBody::Json(text) => panic!("bytes are wanted, not {text}"),
        }
    }

    fn whole(&self, body: &Value) -> Value {
        let mut whole = Vec::new();
        loop {
            match self.read(body) {
                piece if piece.is_empty() => return serde_json::from_slice(&whole).unwrap(),
                piece => whole.extend(piece),
            }
        }
    }
}

type Answered = Result<InvokeResponseBody, Value>;

/// Whether a call was refused for want of rights, before it came to anything.
fn is_refused(answered: &Result<Value, Value>) -> bool {
    let refused = |error: &Value| error.as_str().is_some_and(|text| text.contains("not allowed"));
    answered.as_ref().is_err_and(refused)
}

#[test]
fn the_page_may_call_these_commands_and_no_others() {
    let commands: Vec<&str> = env!("EBB_COMMANDS").split(' ').collect();
    let capability: Value = serde_json::from_str(include_str!("../../capabilities/main.json")).unwrap();
    let granted: BTreeSet<String> = capability["permissions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap().into())
        .collect();
    let own = commands.iter().map(|name| format!("allow-{}", name.replace('_', "-")));
    let events = ["core:event:allow-listen", "core:event:allow-unlisten"].map(str::to_owned);
    assert_eq!(granted, own.chain(events).collect());

    let scene = Scene::serving();
    for command in commands.into_iter().filter(|command| *command != "quit") {
        // What is granted and not there would say so; what is there complains of its arguments at most.
        let answered = scene.json(command, json!({ "body": "no number", "name": 7, "kind": 7, "path": 7 }));
        let missing = answered.as_ref().is_err_and(|error| error.to_string().contains("not found"));
        assert!(!is_refused(&answered) && !missing, "{command}: {answered:?}");
    }
    for command in [
        "plugin:dialog|open",
        "plugin:event|emit",
        "plugin:notification|notify",
        "plugin:opener|open_url",
        "plugin:opener|open_path",
        "plugin:path|resolve_directory",
        "plugin:webview|create_webview",
        "plugin:window|close",
        "plugin:app|version",
        "start",
    ] {
        let answered = scene.json(command, json!({}));
        assert!(answered.is_err(), "{command}: {answered:?}");
    }
}

#[test]
fn another_window_or_page_may_call_nothing() {
    let scene = Scene::serving();
    let other = WebviewWindowBuilder::new(&scene.app, "other", Default::default()).build().unwrap();
    let request = |url: &str| InvokeRequest {
        cmd: "desktop_info".into(),
        callback: CallbackFn(0),
        error: CallbackFn(1),
        url: url.parse().unwrap(),
        body: InvokeBody::default(),
        headers: HeaderMap::new(),
        invoke_key: INVOKE_KEY.into(),
    };
    let from_other = get_ipc_response(&other, request("tauri://localhost"));
    assert!(is_refused(&from_other.map(|_| Value::Null)));
    let from_elsewhere = get_ipc_response(&scene.page, request("https://example.org"));
    assert!(is_refused(&from_elsewhere.map(|_| Value::Null)));
    assert!(get_ipc_response(&scene.page, request("tauri://localhost")).is_ok());
}

#[test]
fn the_routes_are_reached_without_a_port() {
    let scene = Scene::serving();
    let head = scene.send("GET", "/ebb/v1/status", "").unwrap();
    assert_eq!((&head["status"], &head["content_type"]), (&json!(200), &json!("application/json")));
    let status = scene.whole(&head["body"]);
    assert_eq!(status["pid"], std::process::id());

    let head = scene.send("POST", "/ebb/v1/models/nobody/shrink", "{}").unwrap();
    assert_eq!(head["status"], 404);
    assert_eq!(scene.whole(&head["body"])["error"]["code"], "not_found");
    let head = scene.send("GET", "/ebb/v1/options?search=arena", "").unwrap();
    assert!(!scene.whole(&head["body"])["options"].as_array().unwrap().is_empty(), "the query arrives");
    assert!(scene.app.state::<Calls>().open().is_empty());

    let headers = [("ebb-body", "41"), ("ebb-method", "GET"), ("ebb-path", "/ebb/v1/status")];
    let head = scene.call("send", InvokeBody::Raw(vec![]), &headers).unwrap();
    assert_eq!(head.deserialize::<Value>().unwrap()["body"], 41, "the page's own number");
}

#[test]
fn a_stream_is_gone_once_it_is_closed() {
    let scene = Scene::serving();
    let head = scene.send("GET", "/ebb/v1/events", "").unwrap();
    assert_eq!(scene.app.state::<Calls>().open(), ["GET /ebb/v1/events"]);
    scene.json("close", json!({ "body": head["body"] })).unwrap();
    let gone = scene.json("read", json!({ "body": head["body"] })).unwrap_err();
    assert_eq!(gone["error"]["code"], "not_found");
    scene.json("close", json!({ "body": head["body"] })).unwrap();
}

#[test]
fn what_is_no_request_is_refused_with_the_header_at_fault() {
    let scene = Scene::serving();
    for (method, path, at_fault) in [
        ("GET", "ebb/v1/status", "ebb-path"),
        ("GET", "http://127.0.0.1/ebb/v1/status", "ebb-path"),
        ("GET", "/a b", "ebb-path"),
        ("G T", "/ebb/v1/status", "ebb-method"),
    ] {
        let error = scene.send(method, path, "").unwrap_err();
        assert_eq!(error["error"]["code"], "invalid_request", "{method} {path}");
        assert_eq!(error["error"]["param"], at_fault, "{method} {path}");
    }
    let error = scene.json("send", json!({})).unwrap_err();
    assert_eq!(error["error"]["param"], "ebb-path", "no header at all");
    let headers = [("ebb-body", "-1"), ("ebb-method", "GET"), ("ebb-path", "/ebb/v1/status")];
    let error = scene.call("send", InvokeBody::Raw(vec![]), &headers).unwrap_err();
    assert_eq!(error["error"]["param"], "ebb-body");
    let headers = [("ebb-method", "POST"), ("ebb-path", "/ebb/v1/shutdown")];
    let error = scene.call("send", InvokeBody::Json(json!({})), &headers).unwrap_err();
    assert_eq!(error["error"]["message"], "the content must come as bytes, not as JSON");
    assert!(scene.app.state::<Calls>().open().is_empty());
}

#[test]
fn a_host_that_could_not_be_opened_is_told_of_by_every_door() {
    let scene = Scene::new();
    let why = ebb_core::Failure::new(ebb_core::Code::Storage, "cannot write there").hint("try elsewhere");
    scene.app.state::<Start>().settle(Err(why));
    let info = scene.json("desktop_info", json!({})).unwrap();
    assert_eq!(info["server_url"], Value::Null);
    assert_eq!(info["startup_error"]["code"], "storage");
    assert_eq!(info["startup_error"]["hint"], "try elsewhere");
    let error = scene.send("GET", "/ebb/v1/status", "").unwrap_err();
    assert_eq!(error["error"]["message"], "cannot write there");
}

#[test]
fn the_page_learns_what_the_app_is() {
    let scene = Scene::serving();
    let info = scene.json("desktop_info", json!({})).unwrap();
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert!(info["server_url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert_eq!((&info["startup_error"], &info["took_over"]), (&Value::Null, &Value::Null));
    let names: Vec<&String> = info["preferences"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["notifications", "autostart", "close_to_tray"]);
}
