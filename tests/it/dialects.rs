//! The dialects of other servers over HTTP: a real server, workers with a fake session. The fake says the last message again,
//! a word a step; a vector holds its text's length; a KiB of audio is a segment.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod audio;
mod chat;
mod clients;
mod foundry;
mod keys;
mod metrics;
mod responses;

use std::{path::PathBuf, time::Duration};

use ebb_api::{Host, Settings};
use ebb_core::{Endpoint, Places, operations::AddModel};
use ebb_server::{ServeOptions, Server};
use ebb_tests::home::program;
use reqwest::{Method, Response};
use serde_json::Value;
use tempfile::TempDir;

/// What is bound to happen is waited for this long: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server with the fake models `chat`, `speech` and `embed`.
struct Scene {
    host: Host,
    endpoint: Endpoint,
    http: reqwest::Client,
    _folder: TempDir,
}

impl Scene {
    async fn new() -> Self {
        Self::with(ServeOptions::default(), program("fake-worker")).await
    }

    async fn with(options: ServeOptions, worker_program: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { home: folder.path().to_owned(), cache: folder.path().join("cache") };
        let settings = Settings { worker_program: Some(worker_program), ..Settings::default() };
        let host = Host::open(places, settings).unwrap();
        for name in ["chat", "speech", "embed"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            host.add_model(AddModel { path, alias: None }).await.unwrap();
        }
        let options = ServeOptions { port: Some(0), signals: false, ..options };
        let server = Server::bind(host.clone(), options).await.unwrap();
        let endpoint = server.endpoint().clone();
        tokio::spawn(server.run());
        Self { host, endpoint, http: reqwest::Client::new(), _folder: folder }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.endpoint.url)).bearer_auth(&self.endpoint.token)
    }

    async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        self.request(Method::POST, path).json(body).send().await.unwrap()
    }

    /// The JSON of a POST that must succeed.
    async fn ok(&self, path: &str, body: Value) -> Value {
        let response = self.post(path, &body).await;
        let (status, answer) = (response.status(), response.json::<Value>().await.unwrap());
        assert!(status.is_success(), "{path} {body}: {status} {answer}");
        answer
    }

    /// The status and the error of a POST that must fail.
    async fn fails(&self, path: &str, body: Value) -> (u16, Value) {
        let response = self.post(path, &body).await;
        let status = response.status().as_u16();
        assert!(status >= 400, "{path} {body}: {status}");
        (status, response.json::<Value>().await.unwrap()["error"].take())
    }

    /// The data of each event of a stream, to its end.
    async fn events(&self, path: &str, body: Value) -> Vec<String> {
        let response = self.post(path, &body).await;
        assert!(response.status().is_success(), "{path} {body}: {}", response.status());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        data(&response.text().await.unwrap())
    }
}

/// The data of each event.
fn data(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(ToOwned::to_owned).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in: {text}"))
}
