//! The one place with `unsafe`: code that was compiled earlier.

use wasmtime::{Engine, component::Component};

use crate::cache::Verified;

/// Loads what [`Component::serialize`] gave.
///
/// # Errors
/// Where another version of wasmtime, or one set up otherwise, wrote it.
#[expect(unsafe_code, reason = "wasmtime cannot check compiled code")]
pub(crate) fn load(engine: &Engine, code: &Verified) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` demands bytes that `serialize` gave and nobody has changed. `Verified` is only made of bytes
    // whose keyed hash, taken when they were serialised, still fits; the key lies in a folder that only the user can enter.
    // They are a copy in memory, so nobody changes them after the check.
    unsafe { Component::deserialize(engine, code.bytes()) }
}
