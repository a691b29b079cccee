//! What users of other programs met, through the host and a real worker. What a case asks of one crate alone is tested
//! there; the ids are in the names here and in the comments there.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod arena;
mod many;
mod options;
mod shrinking;
