//! The store of one plugin.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use ebb_core::operations::CollectionState;
use rusqlite::OptionalExtension;

use crate::{Collection, Error, check, database::Database, error::Fault, index::Index, schema};

/// The durable store of one plugin: one SQLite file. A cheap handle; what it leads to is locked while a call runs.
#[derive(Debug, Clone)]
pub struct Store(pub(crate) Arc<Shared>);

/// What the handles of a store lead to.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) database: Database,
    /// The vectors of collections that were searched, by the collection's number.
    pub(crate) indexes: HashMap<i64, Index>,
    /// The file's state that the indexes were made of: it changes when another connection writes.
    pub(crate) seen: i64,
    /// The last search by vector.
    pub(crate) searched_at: Instant,
    /// Whether a thread watches for the indexes to become idle.
    pub(crate) watched: bool,
    /// Number of the next handle on a collection.
    next_draft: i64,
}

impl Shared {
    /// A call that panicked left nothing half done: its transaction was rolled back.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Drops the vectors in memory; says how many bytes they were.
    pub(crate) fn drop_indexes(&mut self) -> u64 {
        let bytes = self.index_bytes();
        self.indexes = HashMap::new();
        self.database.release_memory();
        bytes
    }

    fn index_bytes(&self) -> u64 {
        self.indexes.values().map(Index::bytes).sum()
    }
}

impl Store {
    /// Opens the store in a file, and makes it where there is none; the folder must be there. `quota_bytes` is what it may
    /// hold, staged chunks and its own tables included; its log on disk comes on top.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::Damaged`] and [`Error::Newer`] where the file is no store that this Ebb can use: it is
    /// left as it is. [`Error::File`] and [`Error::Storage`] where it cannot be opened.
    pub fn open(file: &Path, quota_bytes: u64) -> Result<Self, Error> {
        let inner = Inner {
            database: Database::open(file, quota_bytes)?,
            indexes: HashMap::new(),
            seen: 0,
            searched_at: Instant::now(),
            watched: false,
            next_draft: 0,
        };
        Ok(Self(Arc::new(Shared(Mutex::new(inner)))))
    }

    /// It may hold so much from now on; what it holds already stays.
    pub fn set_quota(&self, quota_bytes: u64) {
        self.0.lock().database.set_quota(quota_bytes);
    }

    /// Opens a collection whose vectors have `dimensions` numbers, and makes it where there is none. What is staged through
    /// the handle or its clones belongs to them, and goes when the last of them is dropped.
    ///
    /// # Errors
    /// [`Error::OtherDimensions`] where it holds vectors of another length, [`Error::Name`] where it cannot be called so,
    /// [`Error::Quota`] where a new one does not fit.
    pub fn collection(&self, name: &str, dimensions: u32) -> Result<Collection, Error> {
        check::collection(name)?;
        check::dimensions(dimensions)?;
        let mut inner = self.0.lock();
        let found = inner.database.read(|connection| Ok(find(connection, name)?))?;
        let (id, held) = match found {
            Some(found) => found,
            None => inner.database.grow(0, |transaction| make(transaction, name, dimensions))?,
        };
        if held != dimensions {
            return Err(Error::OtherDimensions { collection: name.to_owned(), held, given: dimensions });
        }
        let draft = inner.next_draft;
        inner.next_draft += 1;
        drop(inner);
        Ok(Collection::new(self.0.clone(), id, name, dimensions, draft))
    }

    /// Removes a collection with all that it holds, staged chunks included; says whether there was one.
    ///
    /// # Errors
    /// [`Error::Name`] where nothing can be called so.
    pub fn drop_collection(&self, name: &str) -> Result<bool, Error> {
        check::collection(name)?;
        let mut inner = self.0.lock();
        let dropped = inner.database.shrink(|transaction| {
            let Some((id, _)) = find(transaction, name)? else { return Ok(None) };
            transaction.execute_batch(&format!("DROP TABLE {}", schema::words(id)))?;
            for sql in [
                "DELETE FROM vectors WHERE chunk IN
                    (SELECT c.id FROM documents d JOIN chunks c ON c.document = d.id WHERE d.collection = ?)",
                "DELETE FROM chunks WHERE document IN (SELECT id FROM documents WHERE collection = ?)",
                "DELETE FROM documents WHERE collection = ?",
                "DELETE FROM temp.staged WHERE collection = ?",
                "DELETE FROM collections WHERE id = ?",
            ] {
                transaction.execute(sql, [id])?;
            }
            Ok(Some(id))
        })?;
        if let Some(id) = dropped {
            inner.indexes.remove(&id);
        }
        Ok(dropped.is_some())
    }

    /// Every collection, by name.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn collections(&self) -> Result<Vec<CollectionState>, Error> {
        self.0.lock().database.read(|connection| {
            let mut found = connection.prepare_cached(
                "SELECT c.name, c.dimensions, count(d.id), coalesce(sum(d.chunks), 0)
                 FROM collections c LEFT JOIN documents d ON d.collection = c.id GROUP BY c.id ORDER BY c.name",
            )?;
            let states = found.query_map([], |row| {
                Ok(CollectionState {
                    name: row.get(0)?,
                    dimensions: row.get(1)?,
                    documents: row.get(2)?,
                    chunks: row.get(3)?,
                })
            })?;
            Ok(states.collect::<Result<_, _>>()?)
        })
    }

    /// Bytes of the file and its log on disk.
    pub fn bytes_on_disk(&self) -> u64 {
        self.0.lock().database.bytes_on_disk()
    }

    /// Bytes that the vectors take in memory now: nothing before the first search by vector.
    pub fn index_memory_bytes(&self) -> u64 {
        self.0.lock().index_bytes()
    }

    /// Gives back the vectors in memory, and what SQLite keeps of the file; says how many bytes the vectors were. The next
    /// search reads them again.
    pub fn release_memory(&self) -> u64 {
        self.0.lock().drop_indexes()
    }
}

/// The collection's number and the length of its vectors.
fn find(connection: &rusqlite::Connection, name: &str) -> rusqlite::Result<Option<(i64, u32)>> {
    let mut found = connection.prepare_cached("SELECT id, dimensions FROM collections WHERE name = ?")?;
    found.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn make(transaction: &rusqlite::Transaction, name: &str, dimensions: u32) -> Result<(i64, u32), Fault> {
    // Another program may have made it since it was looked for.
    if let Some(found) = find(transaction, name)? {
        return Ok(found);
    }
    let count: u32 = transaction.query_row("SELECT count(*) FROM collections", [], |row| row.get(0))?;
    if count >= check::MAX_COLLECTIONS {
        return Err(Error::TooManyCollections(count).into());
    }
    transaction.execute("INSERT INTO collections (name, dimensions) VALUES (?, ?)", (name, dimensions))?;
    let id = transaction.last_insert_rowid();
    schema::create_words(transaction, id)?;
    Ok((id, dimensions))
}
