//! A server of one answer, for the tests of this crate. The real host is tested end to end.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    thread::{self, JoinHandle},
};

use ebb_core::Endpoint;

use crate::Client;

/// Answers one request with `status` and `body`, and gives back what was asked: request line, headers, body.
pub(crate) fn answer(status: &str, body: &'static str) -> (Client, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let asked = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut asked = String::new();
        let mut length = 0;
        while !asked.ends_with("\r\n\r\n") {
            let start = asked.len();
            reader.read_line(&mut asked).unwrap();
            if let Some(value) = asked[start..].to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut sent = vec![0; length];
        reader.read_exact(&mut sent).unwrap();
        asked.push_str(&String::from_utf8(sent).unwrap());
        (&stream).write_all(head.as_bytes()).unwrap();
        // In small pieces, so that lines come in torn.
        for piece in body.as_bytes().chunks(7) {
            (&stream).write_all(piece).unwrap();
        }
        asked
    });
    let endpoint = Endpoint { url, pid: 1, token: "secret".into(), version: "0".into() };
    (Client::at(endpoint).unwrap(), asked)
}
