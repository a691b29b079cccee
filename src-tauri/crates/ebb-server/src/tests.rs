//! The routes and the server's life, on a host without models.

use std::{path::PathBuf, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{Method, Request, StatusCode, header},
    response::Response,
};
use ebb_api::{Host, Settings};
use ebb_core::{Code, ErrorBody, ErrorFields, Places};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::watch,
};
use tower::ServiceExt as _;

use crate::{
    Exit, ServeOptions, Server,
    guard::Guard,
    routes::{App, router},
    sent::Limits,
};

const TOKEN: &str = "the token";
const PORT: u16 = 4770;
const BODY_LIMIT_BYTES: usize = 1_000;

fn places(folder: &TempDir) -> Places {
    let home = folder.path().join("Ebb für mich");
    Places { cache: home.join("cache"), home }
}

fn host(folder: &TempDir) -> Host {
    let settings = Settings { worker_program: Some("/no/such/worker".into()), ..Settings::default() };
    Host::open(places(folder), settings).unwrap()
}

/// The routes over a host in a folder of its own.
struct Scene {
    router: Router,
    _folder: TempDir,
    _closing: watch::Sender<bool>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (closing, is_closing) = watch::channel(false);
        let limits = Limits {
            body_bytes: BODY_LIMIT_BYTES,
            audio_bytes: BODY_LIMIT_BYTES,
            body_time: Duration::from_millis(20),
        };
        let app = App { host: host(&folder), limits, closing: is_closing };
        let router = router(app, Guard::new(TOKEN.into(), PORT, |_| None));
        Self { router, _folder: folder, _closing: closing }
    }

    async fn send(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn call(&self, method: Method, path: &str, body: impl Into<Body>) -> (StatusCode, Value) {
        let request = request(method, path).body(body.into()).unwrap();
        read(self.send(request).await).await
    }

    /// A request that must be refused.
    async fn refused(&self, method: Method, path: &str, body: impl Into<Body>) -> (StatusCode, ErrorFields) {
        let (status, body) = self.call(method, path, body).await;
        let body: ErrorBody = serde_json::from_value(body).expect("the one error form");
        (status, body.error)
    }
}

fn request(method: Method, path: &str) -> axum::http::request::Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, format!("127.0.0.1:{PORT}"))
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
}

async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

const ROUTES: &[(Method, &str)] = &[
    (Method::GET, "/ebb/v1/status"),
    (Method::POST, "/ebb/v1/shutdown"),
    (Method::GET, "/ebb/v1/doctor"),
    (Method::GET, "/ebb/v1/models"),
    (Method::POST, "/ebb/v1/models"),
    (Method::GET, "/ebb/v1/models/m"),
    (Method::DELETE, "/ebb/v1/models/m"),
    (Method::POST, "/ebb/v1/models/m/load"),
    (Method::POST, "/ebb/v1/models/m/unload"),
    (Method::GET, "/ebb/v1/models/m/stats"),
    (Method::POST, "/ebb/v1/models/m/stats"),
    (Method::POST, "/ebb/v1/models/m/shrink"),
    (Method::POST, "/ebb/v1/models/m/shrink-after-next-run"),
    (Method::GET, "/ebb/v1/models/m/runtime-options"),
    (Method::POST, "/ebb/v1/models/m/runtime-options"),
    (Method::GET, "/ebb/v1/models/m/estimate"),
    (Method::POST, "/ebb/v1/models/m/embed"),
    (Method::POST, "/ebb/v1/models/m/run"),
    (Method::GET, "/ebb/v1/events?model=m"),
    (Method::GET, "/ebb/v1/options?search=arena"),
    (Method::GET, "/ebb/v1/profiles"),
    (Method::GET, "/ebb/v1/profiles/p"),
    (Method::PUT, "/ebb/v1/profiles/p"),
    (Method::DELETE, "/ebb/v1/profiles/p"),
];

#[tokio::test]
async fn every_route_wants_the_token_and_answers_in_one_form() {
    let scene = Scene::new();
    for (method, path) in ROUTES.iter().chain(&[(Method::GET, "/"), (Method::OPTIONS, "/ebb/v1/status")]) {
        let mut stranger = request(method.clone(), path).body(Body::empty()).unwrap();
        stranger.headers_mut().remove(header::AUTHORIZATION);
        let response = scene.send(stranger).await;
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
        let (status, body) = read(response).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{method} {path}");
        assert_eq!(body["error"]["code"], "unauthorized");
    }
    for (method, path) in ROUTES {
        let (status, body) = scene.call(method.clone(), path, "").await;
        assert_ne!(
            body["error"]["message"].as_str().unwrap_or_default(),
            format!("there is no route {path}")
        );
        assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        assert!(status.is_success() || body["error"]["code"].is_string(), "{method} {path}: {body}");
    }
}

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

fn any_port() -> ServeOptions {
    ServeOptions { port: Some(0), signals: false, ..ServeOptions::default() }
}

/// One request on a connection of its own; the whole answer, head included.
async fn over_tcp(server: &ebb_core::Endpoint, request: &str) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = request.replace("HOST", address).replace("TOKEN", &server.token);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const SHUTDOWN: &str = "POST /ebb/v1/shutdown HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer TOKEN\r\n\
                        content-length: 18\r\n\r\n{\"drain_ms\": 1000}";

#[tokio::test]
async fn it_serves_until_a_shutdown_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint_file = places(&folder).endpoint_file();
    let server = Server::bind(host(&folder), any_port()).await.unwrap();
    let endpoint = server.endpoint().clone();
    let written: ebb_core::Endpoint =
        serde_json::from_slice(&std::fs::read(&endpoint_file).unwrap()).unwrap();
    assert_eq!(written, endpoint);
    let running = tokio::spawn(server.run());
    // An event stream has no end of its own: it must not hold the shutdown up.
    let watcher = tokio::spawn({
        let endpoint = endpoint.clone();
        async move {
            let request = "GET /ebb/v1/events HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer TOKEN\r\n\r\n";
            over_tcp(&endpoint, request).await
        }
    });
    let answer = over_tcp(&endpoint, SHUTDOWN).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(&endpoint.url), "{answer}");
    assert_eq!(running.await.unwrap().unwrap(), Exit::Requested);
    assert!(!endpoint_file.exists());
    let events = watcher.await.unwrap();
    assert!(events.is_empty() || events.contains("text/event-stream"), "{events}");
    // C20: a host can start at once where one ended.
    Server::bind(host(&folder), any_port()).await.unwrap();
}

#[tokio::test]
async fn an_unused_host_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServeOptions { idle_exit: Some(Duration::from_millis(20)), ..any_port() };
    assert_eq!(crate::serve(host(&folder), options).await.unwrap(), Exit::Idle);
}

#[tokio::test]
async fn a_taken_port_is_an_error_where_it_was_asked_for() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let options = ServeOptions { port: Some(port), ..any_port() };
    let failure = Server::bind(host(&folder), options).await.err().unwrap();
    assert_eq!((failure.code, failure.param.as_deref()), (Code::Conflict, Some("port")));
    assert!(failure.message.contains(&port.to_string()));
}

#[tokio::test]
async fn another_port_is_taken_where_none_was_asked_for() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = ServeOptions { port: None, ..any_port() };
    let first = Server::bind(host(&one), options.clone()).await.unwrap();
    let second = Server::bind(host(&two), options).await.unwrap();
    assert_ne!(first.endpoint().url, second.endpoint().url);
    assert!(first.endpoint().url.starts_with("http://127.0.0.1:"));
}

#[tokio::test]
async fn a_second_host_of_the_same_user_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::bind(host(&folder), any_port()).await.unwrap();
    let failure = Host::open(places(&folder), Settings::default()).unwrap_err();
    assert_eq!(failure.code, Code::Conflict);
    assert!(failure.message.contains(&server.endpoint().url), "{failure}");
}

/// A client that never finishes the head of its request loses its connection, and nobody else does.
#[tokio::test]
async fn a_slow_head_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServeOptions { header_time: Duration::from_millis(20), ..any_port() };
    let server = Server::bind(host(&folder), options).await.unwrap();
    let endpoint = server.endpoint().clone();
    let running = tokio::spawn(server.run());
    // Ends only once the server closes the connection.
    let answer = over_tcp(&endpoint, "GET /ebb/v1/status HTTP/1.1\r\nhost: HO").await;
    assert!(!answer.contains("200"), "{answer}");
    over_tcp(&endpoint, SHUTDOWN).await;
    running.await.unwrap().unwrap();
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let places = Places { home: file.join("home"), cache: file.join("cache") };
    let failure = Host::open(places, Settings::default()).unwrap_err();
    assert_eq!(failure.code, Code::Storage);
    assert!(failure.message.contains(&file.display().to_string()), "{failure}");
}
