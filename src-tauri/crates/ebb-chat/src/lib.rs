//! The text side of chat: a model folder's tokenizer and chat template, the choice of each token from the model's scores,
//! what the answer must be, where it ends, and the calls that it asks for.
//!
//! This crate must not know ONNX Runtime, processes or sockets: scores come in, text goes out. [`Language`] is built once for
//! a loaded model; [`Language::prompt`] gives the ids that the model reads, and a [`Writing`] takes the scores that come
//! after each token.
//!
//! ```
//! use ebb_chat::Language;
//! let error = Language::open("/nowhere".as_ref(), 49_152).err().map(ebb_core::Failure::from);
//! assert_eq!(error.map(|failure| failure.code), Some(ebb_core::Code::InvalidTokenizer));
//! ```

mod constraint;
mod error;
mod folder;
mod language;
mod logprobs;
mod request;
mod sampling;
#[cfg(test)]
mod scene;
mod settings;
mod spelling;
mod stops;
mod template;
mod tools;
mod utf8;
mod vocabulary;
mod writing;

pub use error::Error;
pub use language::Language;
pub use writing::{Next, Writing};
