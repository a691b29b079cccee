//! Calls that no safe crate wraps: into the C library's heap, and into tensors of any element type.
#![expect(unsafe_code, reason = "each call is argued where it stands")]

mod tensor;

pub(crate) use tensor::{contents, tensor};
