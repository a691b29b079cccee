//! The plugin `rag`: answers questions about documents, with citations.
//!
//! Everything is written against the trait [`Host`], so that the same pipeline runs as a sandboxed component, in tests with a fake
//! host, and natively for comparison. What files hold is read by code that trusts none of it: see [`extract`].

pub mod ask;
pub mod chunk;
mod cite;
mod error;
pub mod extract;
#[cfg(test)]
mod fake;
#[cfg(target_family = "wasm")]
mod guest;
pub mod host;
mod index;
pub mod ingest;
mod load;
mod prompt;
pub mod retrieve;
mod sentences;
pub mod settings;

pub use ask::{Answer, Citation};
pub use error::Error;
pub use host::Host;
pub use ingest::{Ingested, ingest};
