//! The program `ebb`, as it is typed: real hosts, real workers, tiny models.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod answers;
mod chat;
mod demo;
mod hosts;
mod hub;
mod keys;
mod page;
mod speech;
mod vectors;

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Output, Stdio},
};

use ebb_tests::{home::Home, models};

/// A home with one embedding model, `m`, in a path that a careless program trips over.
fn with_embedder() -> Home {
    let home = Home::new();
    let path = models::embedder(&home.path().join("Modelle für mich").join("größtes, 模型"));
    home.ok(["model".as_ref(), "add".as_ref(), path.as_os_str(), "--alias".as_ref(), "m".as_ref()]);
    home
}

/// A file in the home.
fn file(home: &Home, name: &str, bytes: &[u8]) -> PathBuf {
    let path = home.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// `ebb ARGS` with this on stdin, to its end.
fn with_stdin(home: &Home, args: &[&str], input: &[u8]) -> Output {
    let mut child = home
        .command("ebb")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
