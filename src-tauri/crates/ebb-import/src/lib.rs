//! Foreign weights made into ONNX model folders.
//!
//! A safetensors folder of the BERT family, as sentence-transformers and most embedding models ship it, becomes an
//! embedding model; a GGUF file of the Llama family becomes a chat model in the layout of onnxruntime-genai, its weights
//! carried over as they are quantised. Either is a folder with `model.onnx` and the tokenizer and config files beside it.
//! No Python, no network, and no more memory than the largest matrix takes. The module [`onnx`] builds and writes models
//! of any kind.
//!
//! This crate must not know ONNX Runtime, and nothing of how a model is then served: it reads files and writes files.
//!
//! ```no_run
//! use std::{ops::ControlFlow, path::Path};
//!
//! use ebb_import::{Options, import};
//!
//! let imported = import(
//!     Path::new("all-MiniLM-L6-v2"),
//!     Path::new("models/minilm"),
//!     Options::default(),
//!     &mut |progress| {
//!         eprintln!("{}: {} of {}", progress.stage, progress.done_bytes, progress.total_bytes);
//!         ControlFlow::Continue(())
//!     },
//! )?;
//! assert_eq!(imported.architecture, "BertModel");
//! # Ok::<(), ebb_import::Error>(())
//! ```

mod bert;
mod companions;
mod error;
mod genai;
mod gguf;
mod import;
mod llama;
pub mod onnx;
mod staging;
mod vocabulary;
mod weights;

pub use error::Error;
pub use import::{Imported, OnProgress, Options, Progress, Stage, import, import_bert, import_gguf};
