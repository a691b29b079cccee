//! One process, one model: serves a session over frames.
//!
//! [`serve`] is generic over the session, so that most tests run it on a thread and a pipe with
//! [`ebb_core::fake::FakeSession`]; the program `ebb-worker` runs it on ONNX Runtime.
//!
//! Two threads: one reads frames and answers controls at once, the other owns the session and advances the jobs in turns,
//! a step each. A job whose reader is slow waits without holding up any other.

mod error;
mod inbox;
mod ledger;
mod output;
mod serve;
mod turns;

pub use error::Error;
pub use serve::serve;
