//! End-to-end tests.

#[cfg(target_os = "linux")]
mod cases;
mod cli;
mod dialects;
mod embed;
mod gguf;
mod guests;
mod import;
mod operations;
mod options;
mod plugins;
mod python;
mod requests;
mod server;
mod speech;
#[cfg(target_os = "linux")]
mod supervised;
mod tensors;
mod tidy;
#[cfg(target_os = "linux")]
mod worker;
