//! The Rust client of a running Ebb host, in the words of [`ebb_core`].
//!
//! It finds the host by its endpoint file and talks HTTP to it on loopback. It starts no host, tries nothing twice and
//! caches nothing: every call is one request, and every answer is what the host said. It must not know how a host works.
//!
//! ```no_run
//! use ebb_client::{Client, LoadOptions};
//!
//! # async fn example() -> Result<(), ebb_client::Error> {
//! let client = Client::connect()?;
//! let model = client.model("minilm");
//! model.load(&LoadOptions { shrink_every: Some(10), ..LoadOptions::default() }).await?;
//!
//! let found = model.embed(["where did my memory go?", "give it back"]).await?;
//! assert_eq!(found.vector(0).len(), found.dimensions());
//!
//! let runtime = model.runtime();
//! runtime.shrink_after_next_run(None).await?;
//! model.embed(["one more"]).await?;
//! let report = runtime.shrink_arena(None).await?;
//! println!("{} bytes came back, {} are resident", report.freed_bytes, report.resident_after_bytes);
//! # Ok(())
//! # }
//! ```

#[cfg(test)]
mod canned;
mod client;
mod embed;
mod error;
mod events;
mod fetch;
mod generate;
mod lines;
mod model;
mod plugin;
mod recording;
mod runtime;
mod system;
mod tensor;
#[cfg(test)]
mod tests;
mod transcribe;

pub use client::Client;
pub use ebb_core::LoadOptions;
pub use embed::{EmbedStream, Embeddings, Piece};
pub use error::Error;
pub use events::EventStream;
pub use generate::{GenerateStream, Generated};
pub use model::Model;
pub use plugin::{Pieces, Plugin};
pub use runtime::Runtime;
pub use tensor::Tensor;
pub use transcribe::{Heard, TranscribeStream};
