//! The tables of a store, and how a file is recognised as one.

use rusqlite::{Connection, Transaction};

use crate::{Error, error::Fault};

/// `EbbS`: how a store of Ebb is told from another SQLite file.
const APPLICATION: i64 = 0x4562_6253;
/// The version of the tables that this Ebb writes.
pub(crate) const VERSION: i64 = 1;

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
        (APPLICATION, newer) if newer > VERSION => Kind::Newer(newer),
        _ => Kind::Foreign,
    })
}

/// Makes the tables, unless another program did so meanwhile.
pub(crate) fn create(transaction: &Transaction) -> rusqlite::Result<()> {
    if kind(transaction)? != Kind::Empty {
        return Ok(());
    }
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)
}

/// Makes the place of staged chunks, which each connection has for itself.
pub(crate) fn create_staged(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(STAGED)
}

/// Makes the full-text index of a collection. It keeps no texts (`content=''`): they are in `chunks` already. Each
/// collection has its own, so that how rare a word is follows from the collection alone.
pub(crate) fn create_words(transaction: &Transaction, collection: i64) -> rusqlite::Result<()> {
    transaction.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {} USING fts5(text, content='', contentless_delete=1,
            tokenize='unicode61 remove_diacritics 2');",
        words(collection)
    ))
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
