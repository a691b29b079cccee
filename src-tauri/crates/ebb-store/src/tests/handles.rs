//! Several handles: on a collection, on a store, on a file.

use std::thread;

use super::{chunk, filled, near, store, vector, words};
use crate::{Error, Store};

fn names(store: &Store) -> Vec<String> {
    store.collection("notes", 3).unwrap().documents().unwrap().into_iter().map(|one| one.document).collect()
}

#[test]
fn what_one_handle_commits_the_other_finds() {
    let (_folder, store) = store(1 << 24);
    let one = filled(&store, 3);
    let other = store.collection("notes", 3).unwrap();
    assert_eq!(other.search(&near(1)).unwrap()[0].document, "1");
    one.stage("new", &[chunk("0", "fresh")], &vector(40)).unwrap();
    assert_eq!(other.search(&words("fresh")).unwrap(), []);
    one.commit("new", "f").unwrap();
    assert_eq!(other.search(&words("fresh")).unwrap()[0].document, "new");
    assert_eq!(other.search(&near(40)).unwrap()[0].document, "new");
    assert_eq!(other.remove("new").unwrap(), 1);
    assert_eq!(one.search(&near(40)).unwrap().len(), 3);
    assert_eq!((one.count().unwrap(), other.count().unwrap()), (3, 3));
}

#[test]
fn what_a_handle_staged_is_its_own_and_goes_with_it() {
    let (_folder, store) = store(1 << 24);
    let one = filled(&store, 0);
    one.stage("a", &[chunk("0", "left behind"), chunk("1", "left behind")], &[vector(0), vector(1)].concat())
        .unwrap();
    let other = store.collection("notes", 3).unwrap();
    let refused = other.commit("a", "f").unwrap_err();
    assert!(matches!(&refused, Error::OtherHandle { document } if document == "a"), "{refused}");
    assert_eq!(other.documents().unwrap(), []);

    let clone = one.clone();
    drop(one);
    clone.stage("b", &[chunk("0", "kept")], &vector(2)).unwrap();
    clone.commit("b", "f").unwrap();
    drop(clone);
    other.stage("a", &[chunk("0", "own")], &vector(3)).unwrap();
    other.commit("a", "f").unwrap();
    assert_eq!(other.search(&words("left")).unwrap(), []);
    assert_eq!(other.documents().unwrap().iter().map(|one| one.chunks).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_collection_that_was_removed_is_gone_for_its_handles_and_begins_anew() {
    let (_folder, store) = store(1 << 24);
    let old = filled(&store, 3);
    assert_eq!(old.search(&near(1)).unwrap().len(), 3);
    old.stage("half", &[chunk("0", "x")], &vector(0)).unwrap();
    assert!(store.drop_collection("notes").unwrap());
    assert!(!store.drop_collection("notes").unwrap());
    assert_eq!(store.index_memory_bytes(), 0);

    let new = store.collection("notes", 2).unwrap();
    assert_eq!((new.count().unwrap(), new.documents().unwrap()), (0, vec![]));
    let gone =
        |result: Result<(), Error>| assert!(matches!(result, Err(Error::Gone(name)) if name == "notes"));
    gone(old.stage("a", &[chunk("0", "x")], &vector(0)));
    gone(old.commit("half", "f"));
    gone(old.remove("1").map(drop));
    gone(old.documents().map(drop));
    gone(old.count().map(drop));
    gone(old.search(&near(1)).map(drop));
    assert_eq!(new.search(&words("note")).unwrap(), []);
}

#[test]
fn another_length_is_refused_with_both_lengths() {
    let (_folder, store) = store(1 << 24);
    filled(&store, 1);
    let error = store.collection("notes", 768).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the collection 'notes' holds vectors of 3 numbers, and 768 were asked for"
    );
    for dimensions in [0, crate::MAX_DIMENSIONS + 1] {
        assert!(matches!(store.collection("new", dimensions), Err(Error::Dimensions(_))));
    }
    assert!(matches!(store.collection("../notes", 3), Err(Error::Name { .. })));
    assert_eq!(names(&store), ["0"]);
    assert_eq!(store.collections().unwrap().len(), 1, "what was refused was not made");
}

#[test]
fn collections_know_nothing_of_each_other() {
    let (_folder, store) = store(1 << 24);
    let notes = filled(&store, 3);
    let mails = store.collection("mails", 2).unwrap();
    mails.stage("0", &[chunk("0", "a mail, no note")], &[1.0, 0.0]).unwrap();
    mails.commit("0", "f").unwrap();
    assert_eq!(mails.search(&words("note")).unwrap().len(), 1);
    assert_eq!(notes.search(&words("mail")).unwrap(), []);
    assert_eq!(mails.remove("1").unwrap(), 0);
    let states = store.collections().unwrap();
    let told: Vec<_> =
        states.iter().map(|one| (&*one.name, one.dimensions, one.documents, one.chunks)).collect();
    assert_eq!(told, [("mails", 2, 1, 1), ("notes", 3, 3, 3)]);
    assert!(store.drop_collection("mails").unwrap());
    assert_eq!(notes.search(&words("note")).unwrap().len(), 3);
}

#[test]
fn two_stores_on_one_file_see_what_the_other_commits() {
    let (folder, one) = store(1 << 24);
    let collection = filled(&one, 3);
    let other = Store::open(&folder.path().join("store.sqlite"), 1 << 24).unwrap();
    let theirs = other.collection("notes", 3).unwrap();
    assert_eq!(theirs.search(&near(30)).unwrap()[0].document, "2");
    assert_eq!(collection.search(&near(30)).unwrap()[0].document, "2");
    collection.stage("new", &[chunk("0", "fresh")], &vector(30)).unwrap();
    collection.commit("new", "f").unwrap();
    assert_eq!(theirs.search(&near(30)).unwrap()[0].document, "new", "its vectors in memory are read again");
    theirs.remove("new").unwrap();
    assert_eq!(collection.search(&near(30)).unwrap()[0].document, "2");
}

#[test]
fn threads_share_a_store() {
    let (_folder, store) = store(1 << 26);
    thread::scope(|scope| {
        for number in 0..4_usize {
            let store = &store;
            scope.spawn(move || {
                let collection = store.collection("notes", 3).unwrap();
                for round in 0..20 {
                    let name = format!("{number}-{round}");
                    collection.stage(&name, &[chunk("0", "note")], &vector(number)).unwrap();
                    collection.commit(&name, "f").unwrap();
                    assert!(!collection.search(&near(number)).unwrap().is_empty());
                }
            });
        }
    });
    assert_eq!(names(&store).len(), 80);
}

#[test]
fn a_store_has_only_so_many_collections() {
    let (_folder, store) = store(1 << 30);
    for number in 0..crate::check::MAX_COLLECTIONS {
        store.collection(&format!("c{number}"), 3).unwrap();
    }
    assert!(matches!(store.collection("more", 3), Err(Error::TooManyCollections(_))));
    assert!(store.collection("c7", 3).is_ok());
    assert!(store.drop_collection("c7").unwrap());
    assert!(store.collection("more", 3).is_ok());
}
