//! A collection: documents come in by staging and committing, and go by removing.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::{Chunk, Error, Hit, Query, StoredDocument, check, error::Fault, schema, search, store::Shared};

/// What a row takes besides its columns, roughly.
const ROW_BYTES: u64 = 32;
/// How many pages of the full-text index are written anew after a removal, at most: some milliseconds of work.
const MERGED_PAGES: u32 = 256;

/// A named set of documents whose vectors have one length. A cheap handle.
#[derive(Debug, Clone)]
pub struct Collection {
    draft: Arc<Draft>,
    id: i64,
    name: Arc<str>,
    dimensions: u32,
}

/// What was staged through a handle and its clones. It goes with the last of them, so that a call which ended early leaves
/// nothing that a later commit would take for its own.
#[derive(Debug)]
struct Draft {
    shared: Arc<Shared>,
    number: i64,
    staged: AtomicBool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.staged.load(Ordering::Relaxed) {
            return;
        }
        let cleaned = self.shared.lock().database.shrink(|transaction| {
            Ok(transaction.execute("DELETE FROM temp.staged WHERE draft = ?", [self.number])?)
        });
        if let Err(error) = cleaned {
            tracing::warn!(%error, "staged chunks stay until the store is closed");
        }
    }
}

impl Collection {
    pub(crate) fn new(shared: Arc<Shared>, id: i64, name: &str, dimensions: u32, draft: i64) -> Self {
        let draft = Arc::new(Draft { shared, number: draft, staged: AtomicBool::new(false) });
        Self { draft, id, name: name.into(), dimensions }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length of its vectors.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Adds chunks to a document's next version: one vector a chunk, in order, one after the other in `vectors`. Nothing of it
    /// is found before [`Self::commit`]. A chunk of the same id replaces the staged one.
    ///
    /// # Errors
    /// [`Error::VectorLength`], [`Error::Vector`], [`Error::Metadata`], [`Error::Name`] and [`Error::TooLarge`] where
    /// something does not fit, [`Error::Quota`] where there is no room: then nothing of the call was staged.
    pub fn stage(&self, document: &str, chunks: &[Chunk], vectors: &[f32]) -> Result<(), Error> {
        check::document(document)?;
        chunks.iter().try_for_each(check::chunk)?;
        check::vectors(vectors, chunks.len(), self.dimensions)?;
        let texts =
            chunks.iter().map(|chunk| (chunk.id.len() + chunk.text.len() + chunk.metadata.len()) as u64);
        let bytes = texts.sum::<u64>() + size_of_val(vectors) as u64 + ROW_BYTES * chunks.len() as u64;

        self.draft.staged.store(true, Ordering::Relaxed);
        self.draft.shared.lock().database.grow(bytes, |transaction| {
            self.held(transaction)?;
            let mut stage = transaction.prepare_cached(
                "INSERT INTO temp.staged (draft, collection, document, name, text, metadata, vector)
                 VALUES (?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT (draft, document, name) DO UPDATE
                 SET text = excluded.text, metadata = excluded.metadata, vector = excluded.vector",
            )?;
            for (chunk, vector) in chunks.iter().zip(vectors.chunks_exact(self.dimensions as usize)) {
                let Chunk { id, text, metadata } = chunk;
                stage.execute((
                    self.draft.number,
                    self.id,
                    document,
                    id,
                    text,
                    metadata,
                    to_bytes(vector),
                ))?;
            }
            Ok(())
        })
    }

    /// Replaces what the collection holds of the document by what was staged of it, at once: also a process that is killed
    /// leaves the one or the other. A document of which nothing was staged is kept without chunks.
    ///
    /// # Errors
    /// [`Error::Quota`] where there is no room: the earlier version and what was staged stay. [`Error::OtherHandle`] where it
    /// was staged through another handle alone.
    pub fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error> {
        check::document(document)?;
        check::fingerprint(fingerprint)?;
        let mut inner = self.draft.shared.lock();
        let row = inner.database.grow(0, |transaction| {
            self.held(transaction)?;
            self.replace(transaction, document, fingerprint)
        })?;
        let Some(mut index) = inner.indexes.remove(&self.id) else { return Ok(()) };
        index.remove(row);
        // Without its new vectors the index would lie. The document is committed either way: where they cannot be read, the
        // next search reads all of them.
        match inner.database.read(|connection| Ok(search::read_vectors(connection, row, &mut index)?)) {
            Ok(()) => drop(inner.indexes.insert(self.id, index)),
            Err(error) => {
                tracing::warn!(collection = &*self.name, %error, "the vectors in memory are dropped")
            }
        }
        Ok(())
    }

    /// Removes a document, with what this handle staged of it; says how many chunks went, staged ones included.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn remove(&self, document: &str) -> Result<u64, Error> {
        check::document(document)?;
        let mut inner = self.draft.shared.lock();
        let (row, removed) = inner.database.shrink(|transaction| {
            self.held(transaction)?;
            let mut removed = self.unstage(transaction, document)?;
            let row = find(transaction, self.id, document)?;
            if let Some(row) = row {
                removed += self.clear(transaction, row)?;
                transaction.prepare_cached("DELETE FROM documents WHERE id = ?")?.execute([row])?;
                self.merge(transaction)?;
            }
            Ok((row, removed))
        })?;
        if let (Some(row), Some(index)) = (row, inner.indexes.get_mut(&self.id)) {
            index.remove(row);
        }
        Ok(removed as u64)
    }

    /// Every committed document, by name.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn documents(&self) -> Result<Vec<StoredDocument>, Error> {
        self.draft.shared.lock().database.read(|connection| {
            self.held(connection)?;
            let mut found = connection.prepare_cached(
                "SELECT name, fingerprint, chunks FROM documents WHERE collection = ? ORDER BY name",
            )?;
            let documents = found.query_map([self.id], |row| {
                Ok(StoredDocument { document: row.get(0)?, fingerprint: row.get(1)?, chunks: row.get(2)? })
            })?;
            Ok(documents.collect::<Result<_, _>>()?)
        })
    }

    /// What fits the query best, the best first. Of equally good chunks, those that were committed first come first.
    ///
    /// # Errors
    /// [`Error::EmptyQuery`] where there is nothing to look for, [`Error::VectorLength`] and [`Error::Vector`] where the vector
    /// does not fit.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        check::query(query, self.dimensions)?;
        search::search(&self.draft.shared, self.id, &self.name, query)
    }

    /// Committed chunks.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn count(&self) -> Result<u64, Error> {
        self.draft.shared.lock().database.read(|connection| {
            self.held(connection)?;
            Ok(search::count(connection, self.id)?)
        })
    }

    /// Sees that the collection is still there.
    fn held(&self, connection: &Connection) -> Result<(), Fault> {
        schema::dimensions(connection, self.id, &self.name).map(drop)
    }

    /// Puts what was staged of a document in the place of what is there; gives the document's number.
    fn replace(&self, transaction: &Transaction, document: &str, fingerprint: &str) -> Result<i64, Fault> {
        let staged = self.staged(transaction, document)?;
        let sql = "INSERT INTO documents (collection, name, fingerprint, chunks) VALUES (?, ?, ?, ?)
            ON CONFLICT (collection, name) DO UPDATE SET fingerprint = excluded.fingerprint, chunks = excluded.chunks
            RETURNING id";
        let row: i64 = transaction
            .prepare_cached(sql)?
            .query_row((self.id, document, fingerprint, staged), |row| row.get(0))?;
        self.clear(transaction, row)?;
        for sql in [
            "INSERT INTO chunks (document, name, text, metadata)
                SELECT ?1, name, text, metadata FROM temp.staged WHERE draft = ?2 AND document = ?3 ORDER BY id",
            "INSERT INTO vectors (chunk, vector) SELECT c.id, s.vector
                FROM chunks c JOIN temp.staged s ON s.draft = ?2 AND s.document = ?3 AND s.name = c.name
                WHERE c.document = ?1 ORDER BY c.id",
        ] {
            transaction.prepare_cached(sql)?.execute((row, self.draft.number, document))?;
        }
        schema::index_words(transaction, self.id, row)?;
        let words = schema::words(self.id);
        // Else it would write what it has only when the transaction ends, after the quota was asked.
        transaction.prepare_cached(&format!("INSERT INTO {words} ({words}) VALUES ('flush')"))?.execute([])?;
        self.unstage(transaction, document)?;
        Ok(row)
    }

    /// How many chunks of the document this handle staged; an error where only others did.
    fn staged(&self, transaction: &Transaction, document: &str) -> Result<u32, Fault> {
        let own = "SELECT count(*) FROM temp.staged WHERE draft = ? AND document = ?";
        let own = transaction
            .prepare_cached(own)?
            .query_row((self.draft.number, document), |row| row.get::<_, u32>(0))?;
        let others = "SELECT 1 FROM temp.staged WHERE collection = ? AND document = ? LIMIT 1";
        if own == 0 && transaction.prepare_cached(others)?.exists((self.id, document))? {
            return Err(Error::OtherHandle { document: document.to_owned() }.into());
        }
        Ok(own)
    }

    fn unstage(&self, transaction: &Transaction, document: &str) -> Result<usize, Fault> {
        let sql = "DELETE FROM temp.staged WHERE draft = ? AND document = ?";
        Ok(transaction.prepare_cached(sql)?.execute((self.draft.number, document))?)
    }

    /// Gives back some of what words of removed chunks take: the index does so by itself only when it is added to.
    fn merge(&self, transaction: &Transaction) -> Result<(), Fault> {
        let words = schema::words(self.id);
        let sql = format!("INSERT INTO {words} ({words}, rank) VALUES ('merge', ?)");
        transaction.prepare_cached(&sql)?.execute([MERGED_PAGES])?;
        Ok(())
    }

    /// Removes the chunks of a document; says how many they were.
    fn clear(&self, transaction: &Transaction, row: i64) -> Result<usize, Fault> {
        let words = schema::words(self.id);
        let chunks = "(SELECT id FROM chunks WHERE document = ?)";
        transaction
            .prepare_cached(&format!("DELETE FROM {words} WHERE rowid IN {chunks}"))?
            .execute([row])?;
        transaction
            .prepare_cached(&format!("DELETE FROM vectors WHERE chunk IN {chunks}"))?
            .execute([row])?;
        Ok(transaction.prepare_cached("DELETE FROM chunks WHERE document = ?")?.execute([row])?)
    }
}

/// The number of a document.
pub(crate) fn find(
    connection: &Connection,
    collection: i64,
    document: &str,
) -> rusqlite::Result<Option<i64>> {
    let mut found =
        connection.prepare_cached("SELECT id FROM documents WHERE collection = ? AND name = ?")?;
    found.query_row((collection, document), |row| row.get(0)).optional()
}

/// A vector as it lies in the file: little-endian.
fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}
