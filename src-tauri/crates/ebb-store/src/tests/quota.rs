//! The quota: what does not fit is refused with figures, and nothing is lost by it.

use std::fs;

use ebb_core::{Code, Failure};

use super::{chunk, filled, near, store, vector, words};
use crate::{Chunk, Error};

const QUOTA: u64 = 1 << 20;

/// Checks the figures of a refusal.
fn refused<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = result.unwrap_err();
    let Error::Quota { quota_bytes, used_bytes, needed_bytes } = error else { panic!("{error}") };
    assert_eq!(quota_bytes, QUOTA);
    assert!(used_bytes <= quota_bytes && used_bytes + needed_bytes > quota_bytes, "{error}");
    let failure = Failure::from(error);
    assert_eq!((failure.code, failure.details["quota_bytes"]), (Code::Storage, QUOTA));
    assert!(failure.message.contains("1.0 MiB"), "{failure}");
}

/// Texts that no compression or shared word makes small.
fn text(seed: usize, bytes: usize) -> String {
    let mut text: String = (0..bytes / 8)
        .map(|word| format!("{:07x} ", word.wrapping_mul(2_654_435_761).wrapping_add(seed) & 0xfff_ffff))
        .collect();
    text.truncate(bytes);
    text
}

#[test]
fn a_full_store_refuses_more_and_loses_nothing() {
    let (_folder, store) = store(QUOTA);
    let collection = filled(&store, 3);
    let mut stored = 3;
    let full = loop {
        let name = format!("large {stored}");
        let filled = collection
            .stage(&name, &[chunk("0", &text(stored, 50_000))], &vector(stored))
            .and_then(|()| collection.commit(&name, "f"));
        if filled.is_err() {
            break filled;
        }
        stored += 1;
    };
    refused(full);
    assert!((5..20).contains(&stored), "{stored} documents of 50 kB each, with their words, fit into 1 MiB");
    assert_eq!(collection.documents().unwrap().len(), stored);
    assert_eq!(collection.search(&words("word1")).unwrap()[0].document, "1");
    assert_eq!(collection.search(&near(2)).unwrap()[0].document, "2");
    refused(store.kv_set("key", &[0; 600_000]));
    assert_eq!(store.kv_get("key").unwrap(), None);

    // A document in the place of one as large fits, and removing makes room.
    let another = store.collection("notes", 3).unwrap();
    drop(collection);
    another.remove("large 3").unwrap();
    another.remove("large 4").unwrap();
    another.stage("large 5", &[chunk("0", &text(7, 50_000))], &vector(5)).unwrap();
    another.commit("large 5", "second").unwrap();
    assert_eq!(another.documents().unwrap().len(), stored - 2);
    store.kv_set("key", b"fits").unwrap();
}

#[test]
fn the_earlier_version_stays_where_the_next_does_not_fit() {
    let (_folder, store) = store(QUOTA);
    let collection = filled(&store, 3);
    refused(collection.stage("1", &[chunk("0", &text(1, 2_000_000))], &vector(9)));
    // What is staged fits just so, but not with its words.
    collection.stage("1", &[chunk("0", &text(1, 600_000))], &vector(9)).unwrap();
    refused(collection.commit("1", "second"));
    assert_eq!(collection.documents().unwrap()[1].fingerprint, "first");
    assert_eq!(collection.search(&words("word1")).unwrap()[0].document, "1");
    store.kv_set("small", b"value").unwrap();
    refused(store.kv_set("small", &[0; 900_000]));
    assert_eq!(store.kv_get("small").unwrap().unwrap(), b"value");
    assert_eq!(collection.remove("1").unwrap(), 2, "one chunk that was there, one that was staged");
    store.kv_set("small", &[0; 600_000]).unwrap();
}

#[test]
fn a_text_of_64_mb_is_stored_where_it_fits_and_else_refused() {
    // Few words: what splits texts is not optimised in tests.
    let mut large = chunk("0", &format!("{}{}", text(3, 8 << 10), "-".repeat(1 << 20)).repeat(64));
    large.text.truncate(crate::MAX_TEXT_BYTES);
    let (_folder, small) = store(QUOTA);
    refused(filled(&small, 1).stage("large", std::slice::from_ref(&large), &vector(1)));

    let (_folder, store) = store(1 << 30);
    let collection = filled(&store, 1);
    let larger = Chunk { text: format!("{} ", large.text), ..large.clone() };
    assert!(matches!(collection.stage("large", &[larger], &vector(1)), Err(Error::TooLarge { .. })));
    collection.stage("large", std::slice::from_ref(&large), &vector(1)).unwrap();
    collection.commit("large", "f").unwrap();
    let hits = collection.search(&words(&large.text[..7])).unwrap();
    assert_eq!((hits.len(), hits[0].text == large.text), (1, true));
    assert_eq!(
        collection.search(&near(1)).unwrap().len(),
        1,
        "the small one is left out of more than 64 MiB of texts"
    );
    assert!(matches!(store.kv_set("k", &vec![0; crate::MAX_VALUE_BYTES + 1]), Err(Error::TooLarge { .. })));

    let before = store.bytes_on_disk();
    assert_eq!(collection.remove("large").unwrap(), 1);
    drop((collection, store.clone()));
    let file = _folder.path().join("store.sqlite");
    drop(store);
    let after = fs::metadata(file).unwrap().len();
    assert!(before > crate::MAX_TEXT_BYTES as u64 && after < before / 50, "{before} bytes, then {after}");
}

#[test]
fn many_collections_need_room_too() {
    let (_folder, store) = store(QUOTA);
    let made = (0..100).map(|number| store.collection(&format!("c{number}"), 3));
    let made = made.take_while(Result::is_ok).count();
    assert!((2..60).contains(&made), "{made}");
    refused(store.collection("one-more", 3));
    assert_eq!(store.collections().unwrap().len(), made);
}
