//! What a store takes: the one place that refuses names, sizes and vectors, before anything is made of them.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use crate::{Chunk, Error, Flaw, Query};

/// The longest vectors.
pub const MAX_DIMENSIONS: u32 = 16_384;
/// The largest text of a chunk.
pub const MAX_TEXT_BYTES: usize = 64 << 20;
/// The largest value under a key.
pub const MAX_VALUE_BYTES: usize = 64 << 20;
/// The most hits of a search.
pub const MAX_HITS: u32 = 1_000;
/// The most collections of a store: each is several tables.
pub(crate) const MAX_COLLECTIONS: u32 = 256;

const MAX_COLLECTION_NAME_BYTES: usize = 64;
const MAX_NAME_BYTES: usize = 4_096;
const MAX_METADATA_BYTES: usize = 1 << 20;

/// The name of a collection. It never becomes the name of a file or of a table, so that `..` is a name like others.
pub(crate) fn collection(name: &str) -> Result<(), Error> {
    let reason = if name.is_empty() || name.len() > MAX_COLLECTION_NAME_BYTES {
        format!("has 1 to {MAX_COLLECTION_NAME_BYTES} characters, this one has {}", name.len())
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        format!("has letters, digits, `-`, `_` and `.` alone: '{}' has others", name.escape_debug())
    } else {
        return Ok(());
    };
    Err(Error::Name { what: "a collection's name", reason })
}

pub(crate) fn dimensions(dimensions: u32) -> Result<(), Error> {
    if (1..=MAX_DIMENSIONS).contains(&dimensions) { Ok(()) } else { Err(Error::Dimensions(dimensions)) }
}

pub(crate) fn document(name: &str) -> Result<(), Error> {
    named("a document's name", name)
}

pub(crate) fn fingerprint(fingerprint: &str) -> Result<(), Error> {
    at_most("a fingerprint", fingerprint.len(), MAX_NAME_BYTES)
}

pub(crate) fn key(key: &str) -> Result<(), Error> {
    named("a key", key)
}

pub(crate) fn value(value: &[u8]) -> Result<(), Error> {
    at_most("the value", value.len(), MAX_VALUE_BYTES)
}

pub(crate) fn chunk(chunk: &Chunk) -> Result<(), Error> {
    named("a chunk's id", &chunk.id)?;
    at_most("a chunk's text", chunk.text.len(), MAX_TEXT_BYTES)?;
    at_most("a chunk's metadata", chunk.metadata.len(), MAX_METADATA_BYTES)?;
    match serde_json::from_str::<BTreeMap<String, IgnoredAny>>(&chunk.metadata) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Metadata { chunk: chunk.id.clone() }),
    }
}

/// Whether `values` are `count` vectors of a collection's length, each with a direction.
pub(crate) fn vectors(values: &[f32], count: usize, dimensions: u32) -> Result<(), Error> {
    let length = dimensions as usize;
    if count.checked_mul(length) != Some(values.len()) {
        return Err(Error::VectorLength { vectors: count, dimensions, given: values.len() });
    }
    for (index, vector) in values.chunks_exact(length).enumerate() {
        let flaw = if !vector.iter().all(|value| value.is_finite()) {
            Flaw::NotFinite
        } else if vector.iter().all(|value| *value == 0.0) {
            Flaw::Zero
        } else {
            continue;
        };
        return Err(Error::Vector { index, flaw });
    }
    Ok(())
}

pub(crate) fn query(query: &Query, dimensions: u32) -> Result<(), Error> {
    match &query.vector {
        Some(vector) => vectors(vector, 1, dimensions),
        None if query.text.is_none() => Err(Error::EmptyQuery),
        None => Ok(()),
    }
}

fn named(what: &'static str, name: &str) -> Result<(), Error> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        let reason = format!("has 1 to {MAX_NAME_BYTES} bytes, this one has {}", name.len());
        return Err(Error::Name { what, reason });
    }
    if name.contains('\0') {
        return Err(Error::Name { what, reason: "has no NUL characters".to_owned() });
    }
    Ok(())
}

fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), Error> {
    if found <= most {
        return Ok(());
    }
    Err(Error::TooLarge { what, found_bytes: found as u64, most_bytes: most as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collections_name_is_a_word() {
        for name in ["a", "minilm-384.v2_b", "..", &"x".repeat(64)] {
            assert!(collection(name).is_ok(), "{name}");
        }
        for name in ["", "../other", "a b", "a/b", "a\\b", "ä", "a\0", "a'; --", &"x".repeat(65)] {
            assert!(matches!(collection(name), Err(Error::Name { .. })), "{name}");
        }
    }

    #[test]
    fn metadata_is_an_object() {
        let with =
            |metadata: &str| chunk(&Chunk { id: "1".into(), text: String::new(), metadata: metadata.into() });
        for metadata in ["{}", r#" {"a": [1, {"b": null}]} "#] {
            assert!(with(metadata).is_ok(), "{metadata}");
        }
        let deep = format!("{{\"a\": {}", "[".repeat(100_000));
        for metadata in ["", "[]", "null", "{", "{} {}", "{a: 1}", &deep] {
            assert!(
                matches!(with(metadata), Err(Error::Metadata { .. })),
                "{}",
                &metadata[..metadata.len().min(9)]
            );
        }
    }

    #[test]
    fn vectors_have_a_direction_and_the_collections_length() {
        assert!(vectors(&[1.0, 0.0, 0.0, -1e-45], 2, 2).is_ok());
        assert!(vectors(&[], 0, 2).is_ok());
        for (values, count) in [(&[1.0; 3][..], 2), (&[1.0; 4][..], 1), (&[1.0; 4][..], usize::MAX)] {
            assert!(matches!(vectors(values, count, 2), Err(Error::VectorLength { .. })));
        }
        let flaw = |values: &[f32]| match vectors(values, 2, 2) {
            Err(Error::Vector { index, flaw }) => (index, flaw),
            other => panic!("{other:?}"),
        };
        assert_eq!(flaw(&[1.0, 1.0, 0.0, -0.0]), (1, Flaw::Zero));
        assert_eq!(flaw(&[f32::NAN, 1.0, 1.0, 1.0]), (0, Flaw::NotFinite));
        assert_eq!(flaw(&[1.0, 1.0, 1.0, f32::NEG_INFINITY]), (1, Flaw::NotFinite));
    }
}
