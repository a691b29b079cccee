//! What a store promises, tried from outside.

use crate::{Chunk, Collection, Query, Store};

mod crash;
mod files;
mod handles;
mod model;
mod quota;
mod recall;
mod searching;

/// A chunk with these words.
fn chunk(id: &str, text: &str) -> Chunk {
    Chunk { id: id.into(), text: text.into(), metadata: "{}".into() }
}

/// A direction of its own for each number.
fn vector(number: usize) -> Vec<f32> {
    let angle = number as f32 * 0.1;
    vec![angle.cos(), angle.sin(), 0.5]
}

/// The query of what lies at [`vector`].
pub(crate) fn near(number: usize) -> Query {
    Query { vector: Some(vector(number)), limit: 10, ..Query::default() }
}

/// The query of words.
fn words(text: &str) -> Query {
    Query { text: Some(text.into()), limit: 10, ..Query::default() }
}

/// A collection of documents `0`, `1` and so on, each with one chunk that lies at [`vector`].
pub(crate) fn filled(store: &Store, documents: usize) -> Collection {
    let collection = store.collection("notes", 3).unwrap();
    for number in 0..documents {
        let name = number.to_string();
        collection.stage(&name, &[chunk("0", &format!("note word{number}"))], &vector(number)).unwrap();
        collection.commit(&name, "first").unwrap();
    }
    collection
}

/// A store in a folder of its own.
fn store(quota_bytes: u64) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.sqlite"), quota_bytes).unwrap();
    (folder, store)
}
