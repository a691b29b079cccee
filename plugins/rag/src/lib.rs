//! The plugin `rag`: answers questions about documents, with citations.

mod error;
pub mod extract;
pub mod host;
pub mod settings;

pub use error::Error;
pub use host::Host;
