//! The only crate that knows ONNX Runtime: sessions, arenas, devices, embeddings, tensors.

mod batch;
mod embed;
mod error;
mod folder;
mod library;
mod model;
mod session;
mod sys;
mod tensors;
mod tokens;

pub use error::Error;
pub use folder::inspect;
pub use library::Attempt;
pub use model::{OrtRun, OrtSession};
