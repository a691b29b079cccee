//! The plugin's own durable store, with a quota: capability `store`. A collection holds documents in chunks of text with a
//! vector each; search is hybrid.

pub use crate::bindings::store::{Chunk, Hit, Query, StoredDocument};
use crate::{Error, backend, inference::Vectors};

/// A named set of documents whose vectors have one length. Dropping it closes it.
#[derive(Debug)]
pub struct Collection(backend::Collection);

impl Collection {
    /// Opens it; makes it where there is none. Names are 1 to 64 letters, digits, `-`, `_` or `.`.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it holds vectors of another length: those of another model.
    pub fn open(name: &str, dimensions: u32) -> Result<Self, Error> {
        backend::Collection::open(name, dimensions).map(Self)
    }

    /// Adds chunks to a document's next version, one vector a chunk, in order. Searches see nothing of it before
    /// [`Self::commit`]. A chunk of the same id replaces the staged one.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the vectors do not fit, [`Error::Busy`] where the quota is used up.
    pub fn stage(&self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error> {
        self.0.stage(document, chunks, vectors)
    }

    /// Replaces what the collection holds of the document by what was staged, at once: also a host that is killed leaves
    /// the one or the other.
    ///
    /// # Errors
    /// Where the store cannot be written.
    pub fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error> {
        self.0.commit(document, fingerprint)
    }

    /// Removes a document, staged chunks included; says how many chunks went.
    ///
    /// # Errors
    /// Where the store cannot be written.
    pub fn remove(&self, document: &str) -> Result<u64, Error> {
        self.0.remove(document)
    }

    /// Every committed document.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn documents(&self) -> Result<Vec<StoredDocument>, Error> {
        self.0.documents()
    }

    /// What fits the query best, the best first.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the query has neither text nor vector, or its vector is of another length.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        self.0.search(query)
    }

    /// Committed chunks.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn count(&self) -> Result<u64, Error> {
        self.0.count()
    }
}

/// Removes a collection with all that it holds; says whether there was one.
///
/// # Errors
/// [`Error::Denied`] without `store`.
pub fn drop_collection(name: &str) -> Result<bool, Error> {
    backend::drop_collection(name)
}

/// The value under a key, or none.
///
/// # Errors
/// [`Error::Denied`] without `store`.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    backend::kv_get(key)
}

/// Keeps a value under a key.
///
/// # Errors
/// [`Error::Denied`] without `store`, [`Error::Busy`] where the quota is used up.
pub fn set(key: &str, value: &[u8]) -> Result<(), Error> {
    backend::kv_set(key, value)
}

/// Forgets a key; says nothing where there was none.
///
/// # Errors
/// [`Error::Denied`] without `store`.
pub fn delete(key: &str) -> Result<(), Error> {
    backend::kv_delete(key)
}

impl Query {
    /// The words and the meaning of a text: with both a text and its vector, the two rankings are fused by reciprocal rank.
    pub fn hybrid(text: impl Into<String>, vector: Vectors) -> Self {
        Self { vector: Some(vector), ..Self::words(text) }
    }

    /// The words of a text alone.
    pub fn words(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Nearness to one vector alone.
    pub fn near(vector: Vectors) -> Self {
        Self { vector: Some(vector), ..Self::default() }
    }

    /// Most hits to give, 10 where nothing is said.
    pub fn limit(self, limit: u32) -> Self {
        Self { limit, ..self }
    }

    /// Only chunks of these documents.
    pub fn within(self, documents: Vec<String>) -> Self {
        Self { documents, ..self }
    }
}

impl Default for Query {
    fn default() -> Self {
        Self { text: None, vector: None, limit: 10, documents: Vec::new(), more: Vec::new() }
    }
}
