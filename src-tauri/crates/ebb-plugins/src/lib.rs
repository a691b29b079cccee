//! The sandbox for plugins: Wasm components on wasmtime, what they may do, and what they are held to.
//!
//! It is the only crate that knows wasmtime. It must not know models, workers or files of Ebb: what plugins may ask of models
//! comes through the trait [`Models`].

mod models;

pub use models::{ModelSummary, Models, PluginFuture, TextStream, Vectors};
