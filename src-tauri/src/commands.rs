//! All that the page may call. `build.rs` and `capabilities/main.json` list the same names; a test compares them.
//!
//! `send`, `read` and `close` are the whole of Ebb: they reach every route of [`ebb_server`]. The others are what only the
//! desktop has.

pub(crate) mod answers;
pub(crate) mod desktop;

use ebb_core::{Code, ErrorBody, Failure};
use tauri::ipc::{InvokeBody, Request};

/// What a command answers: an error has the one form of every door.
type Answer<T> = Result<T, ErrorBody>;

/// The bytes that came along.
fn content<'a>(request: &'a Request<'_>) -> Result<&'a [u8], Failure> {
    match request.body() {
        InvokeBody::Raw(bytes) => Ok(bytes),
        InvokeBody::Json(_) => {
            Err(Failure::new(Code::InvalidRequest, "the content must come as bytes, not as JSON"))
        }
    }
}

/// A header that came along.
fn header<'a>(request: &'a Request<'_>, name: &str) -> Result<&'a str, Failure> {
    let value = request.headers().get(name).and_then(|value| value.to_str().ok());
    value.ok_or_else(|| {
        Failure::new(Code::InvalidRequest, format!("the header `{name}` is missing")).param(name)
    })
}

#[cfg(test)]
mod tests;
