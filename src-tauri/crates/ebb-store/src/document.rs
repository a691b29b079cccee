//! What goes into a collection and comes out of it.

/// A piece of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Unique within its document.
    pub id: String,
    /// What is searched, and given back.
    pub text: String,
    /// Free metadata, a JSON object.
    pub metadata: String,
}

/// A document that was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its name.
    pub document: String,
    /// What was given at its commit: a hash of the content.
    pub fingerprint: String,
    /// How many chunks it has.
    pub chunks: u32,
}

/// What to look for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Words, as a person wrote them: there is no syntax. Chunks with rare ones come first. Scripts without spaces between words
    /// are looked for by pairs of characters.
    pub text: Option<String>,
    /// One vector. With a text too, the two rankings are fused by reciprocal rank.
    pub vector: Option<Vec<f32>>,
    /// Most hits to give; never more than [`MAX_HITS`](crate::MAX_HITS).
    pub limit: u32,
    /// Only chunks of these documents; empty is all. Names that the collection does not hold find nothing.
    pub documents: Vec<String>,
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's name.
    pub document: String,
    /// The chunk's id.
    pub id: String,
    /// The chunk's text.
    pub text: String,
    /// The chunk's metadata.
    pub metadata: String,
    /// Higher is better. Of a vector: the cosine; of a text: BM25; of both: the sum over the two rankings of
    /// 1 / (60 + rank).
    pub score: f32,
}
