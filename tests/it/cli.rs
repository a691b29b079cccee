//! The program `ebb`, as it is typed: real hosts, real workers, tiny models.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod answers;
mod hosts;
mod vectors;

use std::path::PathBuf;

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
