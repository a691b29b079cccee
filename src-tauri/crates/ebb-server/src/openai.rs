//! OpenAI's dialect, under `/v1`: what its clients send is turned into Ebb's words, and answers into theirs. What cannot be
//! done is refused with the field's name; fields that change nothing here are passed over.

pub(crate) mod audio;
pub(crate) mod body;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod embeddings;
pub(crate) mod format;
pub(crate) mod logprobs;
pub(crate) mod messages;
pub(crate) mod models;
pub(crate) mod responses;
pub(crate) mod sampling;
pub(crate) mod streaming;
pub(crate) mod tools;
pub(crate) mod usage;
pub(crate) mod wishes;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use ebb_core::{Code, Failure};

/// An id that no other answer of this host has.
fn new_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{prefix}{:x}{:04x}", since_1970.as_micros(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Now, in seconds since 1970, as OpenAI writes times.
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A field whose value is none that it may have.
fn bad_value(param: impl Into<String>, message: impl Into<String>) -> Failure {
    Failure::new(Code::InvalidValue, message).param(param)
}

/// Something that OpenAI's dialect has and Ebb does not do.
fn not_offered(param: impl Into<String>, message: impl Into<String>) -> Failure {
    Failure::new(Code::Unsupported, message).param(param)
}
