//! Downloads from a Hub that speaks the protocol on this machine, and fails as asked.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod broken;
mod refused;
mod scene;
mod server;
mod whole;
