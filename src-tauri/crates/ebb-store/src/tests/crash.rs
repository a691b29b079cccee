//! A process that is killed in the middle of an ingest leaves each document as it was or as it was to become.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use super::{chunk, words};
use crate::{Collection, Query, Store};

/// Where the process to be killed finds the store; only that one has it set.
const FILE: &str = "EBB_STORE_KILLED_IN";
const DOCUMENTS: usize = 3;
const CHUNKS: usize = 40;
const KILLS: usize = 6;

fn open(file: &Path) -> (Store, Collection) {
    let store = Store::open(file, 1 << 28).unwrap();
    let collection = store.collection("notes", 3).unwrap();
    (store, collection)
}

/// The vector of a chunk in a version of its document: no two of neighbouring versions are the same.
fn vector(version: usize, number: usize) -> Vec<f32> {
    let angle = (version % 4 * CHUNKS + number) as f32 * 0.03;
    vec![angle.cos(), angle.sin(), 0.0]
}

/// Commits one version of a document after the other, each in two stages, until the process is killed.
fn ingest_until_killed(file: &Path) -> ! {
    let (_store, collection) = open(file);
    let mut version =
        collection.documents().unwrap().iter().map(|one| one.fingerprint.parse().unwrap()).max().unwrap_or(0);
    loop {
        version += 1;
        let name = (version % DOCUMENTS).to_string();
        for half in [0..CHUNKS / 2, CHUNKS / 2..CHUNKS] {
            let chunks: Vec<_> = half
                .clone()
                .map(|number| chunk(&number.to_string(), &format!("note version{version}")))
                .collect();
            let vectors: Vec<f32> = half.flat_map(|number| vector(version, number)).collect();
            collection.stage(&name, &chunks, &vectors).unwrap();
        }
        collection.commit(&name, &version.to_string()).unwrap();
        if version % 50 == DOCUMENTS {
            // What the test waits for: something is there, and more is under way.
            io::stdout().write_all(b"\nunder way\n").unwrap();
        }
    }
}

/// Whether every document is whole: all its chunks of the version that its fingerprint names, by words and by vector.
fn whole(collection: &Collection) {
    let documents = collection.documents().unwrap();
    assert_eq!(documents.len(), DOCUMENTS);
    assert_eq!(collection.count().unwrap(), (DOCUMENTS * CHUNKS) as u64);
    let every = collection.search(&Query { limit: 1_000, ..words("note") }).unwrap();
    assert_eq!(every.len(), DOCUMENTS * CHUNKS, "nothing twice, nothing lost");
    for document in documents {
        let (version, text) =
            (document.fingerprint.parse().unwrap(), format!("note version{}", document.fingerprint));
        let own: Vec<_> = every.iter().filter(|hit| hit.document == document.document).collect();
        assert!(own.len() == CHUNKS && own.iter().all(|hit| hit.text == text), "{document:?}");
        let near = Query { vector: Some(vector(version, 7)), limit: 1, ..Query::default() };
        let hit = &collection.search(&near).unwrap()[0];
        assert_eq!((&*hit.document, &*hit.id), (&*document.document, "7"));
    }
}

#[test]
fn a_killed_ingest_leaves_the_old_document_or_the_new() {
    if let Some(file) = std::env::var_os(FILE) {
        ingest_until_killed(Path::new(&file));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.sqlite");
    let mut last = 0;
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "tests::crash::a_killed_ingest_leaves_the_old_document_or_the_new",
                "--nocapture",
            ])
            .env(FILE, &file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let seen = lines.map(Result::unwrap).filter(|line| line == "under way").take(2).count();
        assert_eq!(seen, 2, "the ingest ended by itself");
        // At another point of the next version each time.
        std::thread::sleep(std::time::Duration::from_micros(1_300 * kill as u64));
        child.kill().unwrap();
        child.wait().unwrap();

        let (_store, collection) = open(&file);
        whole(&collection);
        let newest = collection.documents().unwrap().iter().map(|one| one.fingerprint.parse().unwrap()).max();
        assert!(newest > Some(last), "what was committed is there");
        last = newest.unwrap_or(0);
    }
}
