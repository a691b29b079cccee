//! Ebb with programs that others wrote, as their users run them, on the real models. `cargo xtask peers` gets them and
//! runs this. Each program lies beside this file and prints JSON; what it must say stands here.
// Programs are put together with symbolic links and scripts.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod begun;
mod chains;
mod foundry;
mod guests;
mod node;
mod openai;
mod own;
mod same_text;
mod scene;
