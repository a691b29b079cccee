//! A plugin's durable store: collections of documents in chunks of text with a vector each, hybrid search over them, and
//! values by key. One SQLite file a plugin, with a quota.
//!
//! SQLite keeps the truth: texts, their full-text index, vectors as they were given. Searching by vector scans a copy of
//! them in memory, one byte a number, and scores the best exactly; the copy is made when it is first needed and given back
//! by [`Store::release_memory`], or after a while in which nobody searches.
//!
//! Words are found as they are written, whatever their case and their accents. Scripts without spaces between words (Chinese,
//! Japanese, Korean with its endings, Thai, Lao, Burmese, Khmer) are found by pairs of neighbouring characters: it takes no
//! dictionary, finds every word of two characters or more, and ranks by how many rare pairs a chunk shares with the query.
//!
//! This crate must not know Wasm, plugins or models. Every call blocks: call it where that is allowed.
//!
//! ```
//! use ebb_store::{Chunk, Query, Store};
//!
//! # fn shown(folder: &std::path::Path) -> Result<(), ebb_store::Error> {
//! let store = Store::open(&folder.join("store.sqlite"), 64 << 20)?;
//! let notes = store.collection("notes", 2)?;
//! let chunk = Chunk { id: "0".into(), text: "Arenas keep what they once reserved.".into(), metadata: "{}".into() };
//! notes.stage("arenas.md", &[chunk], &[0.6, 0.8])?;
//! notes.commit("arenas.md", "a hash of the content")?;
//!
//! let query = Query { text: Some("who keeps it?".into()), vector: Some(vec![0.0, 1.0]), limit: 3, documents: vec![] };
//! assert_eq!(notes.search(&query)?[0].document, "arenas.md");
//! # Ok(())
//! # }
//! # let folder = tempfile::tempdir().unwrap();
//! # shown(folder.path()).unwrap();
//! ```

mod check;
mod collection;
mod database;
mod document;
mod error;
mod idle;
mod index;
mod kv;
mod schema;
mod scripts;
mod search;
mod store;
#[cfg(test)]
mod tests;
mod words;

pub use check::{MAX_DIMENSIONS, MAX_HITS, MAX_TEXT_BYTES, MAX_VALUE_BYTES};
pub use collection::Collection;
pub use document::{Chunk, Hit, Query, StoredDocument};
pub use error::{Error, Flaw};
pub use store::Store;
