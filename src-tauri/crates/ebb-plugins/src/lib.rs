//! The sandbox for plugins: Wasm components on wasmtime, what they may do, and what they are held to.
//!
//! It is the only crate that knows wasmtime. It must not know models, workers or files of Ebb: what plugins may ask of models
//! comes through the trait [`Models`].

mod bindings;
mod error;
mod guest;
mod host;
mod limits;
mod models;
mod plugin;
mod wasi;

pub use error::{Error, Stop};
pub use limits::Limits;
pub use models::{ModelSummary, Models, PluginFuture, TextStream, Vectors};

/// The version of `ebb:plugin` that this host speaks.
pub const CONTRACT: &str = "0.1.0";
