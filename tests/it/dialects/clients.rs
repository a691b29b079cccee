//! Clients that go away, dawdle, or send too much: theirs is their own affair, and everybody else is served.

use std::time::Duration;

use ebb_core::{EventKind, Outcome};
use ebb_server::ServeOptions;
use ebb_tests::home::program;
use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{PATIENCE, Scene};

const CHAT: &str = "/v1/chat/completions";

fn say(text: &str, stream: bool) -> Value {
    json!({"model": "chat", "stream": stream, "messages": [{"role": "user", "content": text}]})
}

/// A text that the fake takes long to say.
fn long() -> String {
    "word ".repeat(1 << 20)
}

async fn hello(scene: &Scene) {
    let answer = scene.ok(CHAT, say("hello", false)).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "hello");
}

/// A connection with a request of its own, whose body is sent as far as `sent` goes.
async fn connect(scene: &Scene, path: &str, length: usize, sent: &str) -> TcpStream {
    let address = scene.endpoint.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n",
        scene.endpoint.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_client_that_leaves_a_stream_cancels_its_generation() {
    let scene = Scene::new().await;
    let mut events = scene.host.events();
    let response = scene.post(CHAT, &say(&long(), true)).await;
    let mut body = response.bytes_stream();
    body.next().await.unwrap().unwrap();
    drop(body);
    let cancelled = async {
        loop {
            if let EventKind::Run { outcome, .. } = events.recv().await.unwrap().kind {
                return outcome;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, cancelled).await.expect("the run ends"), Outcome::Cancelled);
    hello(&scene).await;
}

#[tokio::test]
async fn a_client_that_does_not_wait_for_a_whole_answer_cancels_it() {
    let scene = Scene::new().await;
    scene.host.load("chat", Default::default(), false).await.unwrap();
    let body = say(&long(), false).to_string();
    let cancelled = async {
        // It may leave before its request has come to the model: then there is no run to cancel.
        loop {
            let mut events = scene.host.events();
            let stream = connect(&scene, CHAT, body.len(), &body).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            drop(stream);
            let run = async {
                loop {
                    if let EventKind::Run { outcome, .. } = events.recv().await.unwrap().kind {
                        return outcome;
                    }
                }
            };
            if let Ok(outcome) = timeout(Duration::from_secs(5), run).await {
                return outcome;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, cancelled).await.expect("a run ends"), Outcome::Cancelled);
    hello(&scene).await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let options = ServeOptions { body_time: Duration::from_millis(50), ..ServeOptions::default() };
    let scene = Scene::with(options, program("fake-worker")).await;
    for path in [CHAT, "/v1/embeddings", "/v1/responses", "/v1/completions"] {
        let mut slow = connect(&scene, path, 100, "{\"model\": ").await;
        let mut answer = String::new();
        slow.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("\"timeout\""), "{path}: {answer}");
    }
    hello(&scene).await;
}

#[tokio::test]
async fn a_client_that_closes_half_of_its_connection_disturbs_nobody() {
    let scene = Scene::new().await;
    for (length, sent) in [(100, "{\"model\": "), (0, "")] {
        let mut half = connect(&scene, CHAT, length, sent).await;
        half.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // It is answered with an error, or just let go.
        half.read_to_end(&mut answer).await.unwrap();
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
    }
    hello(&scene).await;
}

#[tokio::test]
async fn a_body_of_50_mb_is_taken_and_one_above_the_limit_is_not() {
    let scene = Scene::new().await;
    let text = "x".repeat(50 << 20);
    let answer = scene.ok("/v1/embeddings", json!({"model": "embed", "input": text})).await;
    assert_eq!(answer["data"][0]["embedding"][0], (50 << 20) as f64);
    let large = "x".repeat(65 << 20);
    let announced = scene.request(Method::POST, CHAT).body(large.clone()).send().await;
    // The server closes before all of it is sent: that may cut its answer off at any place.
    if let Ok(response) = announced {
        assert_eq!(response.status(), 413);
        if let Ok(answer) = response.json::<Value>().await {
            assert_eq!(answer["error"]["code"], "too_large");
        }
    }
    hello(&scene).await;
}
