//! Files that are no store, or not one for this Ebb: each is refused and left as it is.

use std::{fs, path::Path};

use ebb_core::{Code, Failure};
use rusqlite::Connection;

use super::{chunk, filled, near, vector, words};
use crate::{Error, Store};

/// What opening says of a file with this content; the file must not change by it.
fn refused(content: &[u8]) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    fs::write(&path, content).unwrap();
    let error = Store::open(&path, 1 << 20).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), content, "the file was changed");
    error
}

/// The bytes of an SQLite file on which `sql` was run.
fn sqlite(sql: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.sqlite");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_is() {
    let zip = [b"PK\x03\x04".as_slice(), &[7; 9_000]].concat();
    for content in [&zip, &b"hello, hello, hello".to_vec(), &sqlite("CREATE TABLE theirs (a)")] {
        assert!(matches!(refused(content), Error::Foreign { .. }));
    }
    let other = sqlite("PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE theirs (a)");
    assert!(matches!(refused(&other), Error::Foreign { .. }));
}

#[test]
fn a_store_of_a_newer_ebb_is_refused_with_both_versions() {
    let newer = sqlite("PRAGMA application_id = 0x45626253; PRAGMA user_version = 9; CREATE TABLE later (a)");
    let error = refused(&newer);
    assert!(matches!(error, Error::Newer { found: 9, known: 2, .. }), "{error}");
    let failure = Failure::from(error);
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("version 9, this Ebb knows up to 2"), "{failure}");
    assert!(failure.hint.unwrap().contains("update Ebb"));
}

#[test]
fn a_store_of_an_older_ebb_is_indexed_anew_of_its_texts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let open = || Store::open(&path, 1 << 24).unwrap();
    let store = open();
    let collection = filled(&store, 3);
    collection.stage("tokyo", &[chunk("0", "東京都の地図")], &vector(9)).unwrap();
    collection.commit("tokyo", "f").unwrap();
    store.collection("empty", 3).unwrap();
    drop((collection, store));
    let first_version = "DROP TABLE words_1;
        CREATE VIRTUAL TABLE words_1 USING fts5(text, content='', contentless_delete=1,
            tokenize='unicode61 remove_diacritics 2');
        INSERT INTO words_1 (rowid, text) SELECT id, text FROM chunks;
        PRAGMA user_version = 1;";
    Connection::open(&path).unwrap().execute_batch(first_version).unwrap();

    // The second time it is a store of this Ebb.
    for _ in 0..2 {
        let collection = open().collection("notes", 3).unwrap();
        let tokyo = collection.search(&words("地図")).unwrap();
        assert_eq!((tokyo.len(), &*tokyo[0].document), (1, "tokyo"));
        assert_eq!(collection.search(&words("note")).unwrap().len(), 3);
    }
    let version = |connection: Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(version(Connection::open(&path).unwrap()), 2);
    let collection = open().collection("notes", 3).unwrap();
    collection.remove("tokyo").unwrap();
    assert!(collection.search(&words("地図")).unwrap().is_empty());
}

#[test]
fn where_no_file_can_be_the_path_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing/store.sqlite")] {
        let error = Store::open(&path, 1 << 20).unwrap_err();
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert_eq!(Failure::from(error).code, Code::Storage);
    }
}

#[test]
fn damage_is_told_and_what_can_be_read_still_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = Store::open(&path, 1 << 24).unwrap();
    let collection = filled(&store, 3);
    let large = "note ".repeat(20_000);
    collection.stage("large", &[chunk("0", &large)], &vector(40)).unwrap();
    collection.commit("large", "f").unwrap();
    store.kv_set("key", b"value").unwrap();
    drop((collection, store));
    let mut content = fs::read(&path).unwrap();
    let damaged = content.chunks_mut(8 << 10).filter(|page| {
        page[9..].starts_with(&large.as_bytes()[4..1_000])
            || page.windows(1_000).any(|part| part == &large.as_bytes()[..1_000])
    });
    let mut count = 0;
    for page in damaged {
        page.fill(0xA5);
        count += 1;
    }
    assert!(count > 5, "the pages of the large text were not found");
    fs::write(&path, &content).unwrap();

    let store = Store::open(&path, 1 << 24).unwrap();
    let collection = store.collection("notes", 3).unwrap();
    assert_eq!(store.kv_get("key").unwrap().unwrap(), b"value");
    assert_eq!(collection.documents().unwrap().len(), 4);
    let error = collection.search(&near(40)).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(Failure::from(error).hint.unwrap().contains("move the file away"));
}

#[test]
fn a_truncated_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = Store::open(&path, 1 << 24).unwrap();
    filled(&store, 200);
    drop(store);
    let content = fs::read(&path).unwrap();
    let cut = &content[..content.len() / 2];
    fs::write(&path, cut).unwrap();
    let used = |path: &Path| -> Result<(), Error> {
        let collection = Store::open(path, 1 << 24)?.collection("notes", 3)?;
        collection.documents()?;
        collection.search(&words("note"))?;
        collection.search(&near(1)).map(drop)
    };
    assert!(matches!(used(&path), Err(Error::Damaged { .. })));
}

#[test]
fn everything_is_there_after_closing_and_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file:store?.sqlite");
    let store = Store::open(&path, 1 << 24).unwrap();
    let collection = filled(&store, 5);
    collection.stage("half", &[chunk("0", "staged note")], &vector(9)).unwrap();
    store.kv_set("key", &[0, 1]).unwrap();
    let before = (collection.documents().unwrap(), collection.search(&near(2)).unwrap());
    drop((collection, store));

    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the log was folded into the one file");
    let store = Store::open(&path, 1 << 24).unwrap();
    let collection = store.collection("notes", 3).unwrap();
    assert_eq!((collection.documents().unwrap(), collection.search(&near(2)).unwrap()), before);
    assert_eq!(store.kv_get("key").unwrap().unwrap(), [0, 1]);
    assert_eq!(collection.search(&words("staged")).unwrap(), []);
    collection.commit("half", "empty").unwrap();
    assert_eq!(collection.documents().unwrap()[5].chunks, 0, "nothing that was staged outlived the process");
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.sqlite"), 1 << 24).unwrap();
    filled(&store, 1);
    for file in fs::read_dir(folder.path()).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }
}
