//! Arenas of ONNX Runtime: giving a model one of its own, and reading what it holds.
//!
//! No session option and no provider option sets strategy or cap of the CPU arena. What does: register an arena with the
//! environment, create the sessions that are to share it, and unregister it. The sessions keep it alive.
#![expect(unsafe_code, reason = "the crate `ort` wraps neither arena registration nor allocator statistics")]

mod registration;
mod stats;

pub(crate) use registration::Registration;
#[cfg(test)]
pub(crate) use registration::turn;
pub(crate) use stats::{Arena, ArenaStats};
