//! The tables of a store, and how a file is recognised as one.

use std::time::Instant;

use rusqlite::{Connection, Transaction};

use crate::{Error, error::Fault, scripts};

/// `EbbS`: how a store of Ebb is told from another SQLite file.
const APPLICATION: i64 = 0x4562_6253;
/// The version of the tables that this Ebb writes. 2: scripts without spaces are found by pairs of characters, and marks belong to
/// their words.
pub(crate) const VERSION: i64 = 2;

/// Rows are never numbered anew (`AUTOINCREMENT`), so that a number in memory cannot come to mean another row. Vectors have a
/// table of their own: reading all of them must not touch the texts.
const TABLES: &str = "
    CREATE TABLE collections (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        dimensions INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection INTEGER NOT NULL,
        name TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        chunks INTEGER NOT NULL,
        UNIQUE (collection, name)
    ) STRICT;
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        document INTEGER NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        metadata TEXT NOT NULL,
        UNIQUE (document, name)
    ) STRICT;
    CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
    CREATE TABLE pairs (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL) STRICT;
";

/// Staged chunks lie in SQLite's temporary database: nothing of them is in the file, and nothing remains of them when the
/// process ends, however it ends.
const STAGED: &str = "
    PRAGMA temp.auto_vacuum = FULL;
    CREATE TEMP TABLE staged (
        id INTEGER PRIMARY KEY,
        draft INTEGER NOT NULL,
        collection INTEGER NOT NULL,
        document TEXT NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        metadata TEXT NOT NULL,
        vector BLOB NOT NULL,
        UNIQUE (draft, document, name)
    ) STRICT;
";

/// What a file turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file without anything in it.
    Empty,
    /// A store of the version that this Ebb writes.
    Store,
    /// A store of an older Ebb: its full-text indexes are made anew.
    Older,
    /// A store of a newer Ebb.
    Newer(i64),
    /// Something else.
    Foreign,
}

/// Says what the file is. Changes nothing.
pub(crate) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (number("application_id")?, number("user_version")?) {
        (0, 0) if tables == 0 => Kind::Empty,
        (APPLICATION, VERSION) => Kind::Store,
        (APPLICATION, 1..VERSION) => Kind::Older,
        (APPLICATION, newer) if newer > VERSION => Kind::Newer(newer),
        _ => Kind::Foreign,
    })
}

/// Makes the tables, or what of them is of an older Ebb anew, unless another program did so meanwhile.
pub(crate) fn create(transaction: &Transaction) -> rusqlite::Result<()> {
    match kind(transaction)? {
        Kind::Empty => {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
        }
        Kind::Older => index_anew(transaction)?,
        _ => return Ok(()),
    }
    transaction.pragma_update(None, "user_version", VERSION)
}

/// Makes the full-text indexes anew, of the texts that are kept.
fn index_anew(transaction: &Transaction) -> rusqlite::Result<()> {
    let started = Instant::now();
    let mut found = transaction.prepare("SELECT id FROM collections ORDER BY id")?;
    let collections: Vec<i64> = found.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for collection in &collections {
        transaction.execute_batch(&format!("DROP TABLE {}", words(*collection)))?;
        create_words(transaction, *collection)?;
        let mut found = transaction.prepare("SELECT id FROM documents WHERE collection = ? ORDER BY id")?;
        for document in found.query_map([collection], |row| row.get(0))? {
            index_words(transaction, *collection, document?)?;
        }
    }
    let took_ms = started.elapsed().as_millis() as u64;
    tracing::info!(collections = collections.len(), took_ms, "full-text indexes of an older Ebb made anew");
    Ok(())
}

/// Makes the place of staged chunks, which each connection has for itself.
pub(crate) fn create_staged(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(STAGED)
}

/// Makes the full-text index of a collection. It keeps no texts (`content=''`): they are in `chunks` already. Each
/// collection has its own, so that how rare a word is follows from the collection alone. Marks are of words (`M*`): scripts
/// that write vowels as marks would fall apart at them.
pub(crate) fn create_words(transaction: &Transaction, collection: i64) -> rusqlite::Result<()> {
    transaction.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {} USING fts5(text, content='', contentless_delete=1,
            tokenize=\"unicode61 remove_diacritics 2 categories 'L* N* Co M*'\");",
        words(collection)
    ))
}

/// Adds the texts of a document's chunks to the full-text index of its collection.
pub(crate) fn index_words(transaction: &Transaction, collection: i64, document: i64) -> rusqlite::Result<()> {
    let mut found =
        transaction.prepare_cached("SELECT id, text FROM chunks WHERE document = ? ORDER BY id")?;
    let sql = format!("INSERT INTO {} (rowid, text) VALUES (?, ?)", words(collection));
    let mut insert = transaction.prepare_cached(&sql)?;
    let mut chunks = found.query([document])?;
    while let Some(chunk) = chunks.next()? {
        let text = scripts::indexed(chunk.get_ref(1)?.as_str()?);
        insert.execute((chunk.get::<_, i64>(0)?, text))?;
    }
    Ok(())
}

/// The name of a collection's full-text index. It is made of a number: no name that a plugin gives becomes SQL.
pub(crate) fn words(collection: i64) -> String {
    format!("words_{collection}")
}

/// The length of the collection's vectors: `Gone` where it was removed.
pub(crate) fn dimensions(connection: &Connection, collection: i64, name: &str) -> Result<u32, Fault> {
    let mut found = connection.prepare_cached("SELECT dimensions FROM collections WHERE id = ?")?;
    match found.query_row([collection], |row| row.get(0)) {
        Err(rusqlite::Error::QueryReturnedNoRows) => Err(Error::Gone(name.to_owned()).into()),
        other => Ok(other?),
    }
}
