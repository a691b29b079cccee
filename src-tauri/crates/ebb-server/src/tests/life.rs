//! The server's life.

use std::{path::PathBuf, time::Duration};

use ebb_api::{Host, Settings};
use ebb_core::{Code, Places};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{host, places};
use crate::{Exit, ServeOptions, Server};

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
