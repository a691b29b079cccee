//! What a search takes, counted by SQLite: not by the clock, which a busy machine makes lie.

use rusqlite::StatementStatus;

use super::*;
use crate::{Chunk, Store};

/// A word that every chunk has.
const COMMON: &str = "\"common\"";

/// A collection of documents, each of so many chunks; some work on its file.
fn counted<T>(documents: usize, chunks: usize, work: impl FnOnce(&Connection, &[i64]) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.sqlite"), 1 << 28).unwrap();
    let collection = store.collection("notes", 1).unwrap();
    for document in 0..documents {
        let chunk =
            |number: usize| Chunk { id: number.to_string(), text: "common".into(), metadata: "{}".into() };
        let staged: Vec<Chunk> = (0..chunks).map(chunk).collect();
        collection.stage(&document.to_string(), &staged, &vec![1.0; chunks]).unwrap();
        collection.commit(&document.to_string(), "f").unwrap();
    }
    let mut inner = store.0.lock();
    let done = inner.database.read(|connection| {
        let rows: Vec<i64> = connection
            .prepare("SELECT id FROM documents")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(work(connection, &rows))
    });
    done.unwrap()
}

/// Steps of SQLite's machine for the ten best chunks of these documents.
fn steps(connection: &Connection, within: &[i64]) -> u64 {
    let within: HashSet<i64> = within.iter().copied().collect();
    let mut found = connection.prepare(&ranking("words_1", Some(&within))).unwrap();
    let hits = found.query_map((COMMON, 10), |row| row.get::<_, i64>(0)).unwrap().count();
    assert_eq!(hits, 10);
    found.get_status(StatementStatus::VmStep).try_into().unwrap()
}

#[test]
fn a_search_kept_to_some_documents_takes_steps_for_them_and_for_the_chunks_found_and_not_for_each_pair() {
    let (few, many) =
        counted(100, 20, |connection, rows| (steps(connection, &rows[..1]), steps(connection, &rows[..50])));
    let (all, named) = (2_000, 50 * 20);
    assert!(few <= 10 * all, "{few} steps for 20 of {all} chunks");
    assert!(many <= 10 * (all + named), "{many} steps for {named} of {all} chunks");
}

/// The steps say nothing of those within the full-text index: asked for one chunk at a time, it reads its lists anew each time.
#[test]
fn a_search_kept_to_some_documents_asks_the_full_text_index_once() {
    counted(3, 2, |connection, rows| {
        // What the index is asked for, as SQLite tells it: `M` for words, `=` for a chunk's number.
        let asks = |sql: &str| {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let lines =
                plan.query_map((COMMON, 10), |row| row.get::<_, String>(3)).unwrap().map(Result::unwrap);
            let index: Vec<String> = lines
                .filter_map(|line| Some(line.strip_prefix("SCAN words_1 VIRTUAL TABLE INDEX ")?.to_owned()))
                .collect();
            assert_eq!(index.len(), 1, "{index:?}");
            (index[0].contains('M'), index[0].contains('='))
        };
        let within: HashSet<i64> = rows[..2].iter().copied().collect();
        let kept = ranking("words_1", Some(&within));
        assert_eq!(asks(&kept), (true, false));
        assert_eq!(asks(&ranking("words_1", None)), (true, false));
        assert_eq!(asks(&kept.replace("+rowid", "rowid")), (true, true), "so it is told, where it is");
    });
}
