//! What the pipeline asks of whoever runs it: the imports of the world `rag-pipeline`, as a trait. The component answers with the
//! real host, tests with a fake one, a native program with what it likes.

use crate::Error;

/// What a call of the host gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// How much a line of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For the author.
    Debug,
    /// What was done.
    Info,
    /// What a person should look at.
    Warn,
}

/// A file that the user granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What [`Host::read`] takes.
    pub id: String,
    /// Its path within the granted folder.
    pub name: String,
    /// Guessed from the name.
    pub media_type: String,
    /// Its length.
    pub size_bytes: u64,
}

/// A model that was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name.
    pub alias: String,
    /// `embeddings`, `chat`, or what later hosts know.
    pub kind: String,
    /// Most tokens of a prompt and its answer, or of one text, while it is in memory.
    pub context_tokens: Option<u32>,
}

/// Vectors in one block, little-endian f32.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vectors {
    /// Length of each.
    pub dimensions: u32,
    /// How many.
    pub count: u32,
    /// `count` × `dimensions` numbers.
    pub data: Vec<u8>,
}

impl Vectors {
    /// Bytes of one vector.
    fn width(&self) -> usize {
        self.dimensions as usize * size_of::<f32>()
    }

    /// Some of them, by their place.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let bytes = self.data.get(range.start * self.width()..range.end * self.width()).unwrap_or_default();
        Self { dimensions: self.dimensions, count: range.len() as u32, data: bytes.to_vec() }
    }
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `system`, `user`, `assistant`.
    pub role: &'static str,
    /// What it says.
    pub content: String,
}

/// How an answer is generated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Most tokens.
    pub max_tokens: u32,
    /// 0 is greedy.
    pub temperature: f32,
}

/// What an arena of a model holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arena {
    /// Taken from the system.
    pub reserved_bytes: u64,
    /// Its cap, where one is set.
    pub limit_bytes: Option<u64>,
}

/// A piece of a document, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Unique within its document.
    pub id: String,
    /// What is searched.
    pub text: String,
    /// A JSON object.
    pub metadata: String,
}

/// A document that the store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its id.
    pub document: String,
    /// What was given when it was committed.
    pub fingerprint: String,
}

/// What a search looks for; with both, the two rankings are fused.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Words.
    pub text: Option<String>,
    /// One vector.
    pub vector: Option<Vectors>,
    /// Most hits.
    pub limit: u32,
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its document's id.
    pub document: String,
    /// Its own.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its metadata.
    pub metadata: String,
    /// Higher is better.
    pub score: f32,
}

/// A running generation. Dropping it ends it.
pub trait Generation {
    /// The next piece of text, or none at the end.
    fn next(&self) -> Result<Option<String>>;

    /// Ends it now.
    fn cancel(&self);
}

/// A collection of the store.
pub trait Collection {
    /// Adds chunks to a document's next version.
    fn stage(&self, document: &str, chunks: &[StoredChunk], vectors: &Vectors) -> Result<()>;

    /// Replaces a document by what was staged.
    fn commit(&self, document: &str, fingerprint: &str) -> Result<()>;

    /// Removes a document, staged chunks included.
    fn remove(&self, document: &str) -> Result<u64>;

    /// Every committed document.
    fn documents(&self) -> Result<Vec<StoredDocument>>;

    /// The chunks that fit best.
    fn search(&self, query: &Query) -> Result<Vec<Hit>>;

    /// Committed chunks.
    fn count(&self) -> Result<u64>;
}

/// The host. What each call means is said in the WIT package `ebb:plugin`.
pub trait Host {
    /// A running generation.
    type Generation: Generation;
    /// An open collection.
    type Collection: Collection;

    /// Writes a line into the log. Never a text of the user's.
    fn log(&self, level: Level, message: &str);
    /// A setting, as JSON.
    fn setting(&self, name: &str) -> Option<String>;
    /// Tells how far the call is, 0 to 1.
    fn progress(&self, fraction: f32, message: &str);

    /// Every file that was granted, by name.
    fn granted(&self) -> Result<Vec<Document>>;
    /// A part of a file.
    fn read(&self, id: &str, offset: u64, length: u64) -> Result<Vec<u8>>;

    /// The models that were granted.
    fn models(&self) -> Result<Vec<Model>>;
    /// One vector a text.
    fn embed(&self, model: &str, texts: &[String]) -> Result<Vectors>;
    /// Tokens of each text.
    fn count_tokens(&self, model: &str, texts: &[String]) -> Result<Vec<u32>>;
    /// Begins to generate.
    fn generate(&self, model: &str, messages: &[Message], sampling: Sampling) -> Result<Self::Generation>;

    /// What a loaded model's arenas hold.
    fn arenas(&self, model: &str) -> Result<Vec<Arena>>;
    /// Gives free memory of a loaded model back; says how many bytes.
    fn shrink(&self, model: &str) -> Result<u64>;

    /// Opens a collection.
    fn open(&self, name: &str, dimensions: u32) -> Result<Self::Collection>;
    /// Removes a collection; says whether there was one.
    fn drop_collection(&self, name: &str) -> Result<bool>;
    /// The value under a key.
    fn kv_get(&self, key: &str) -> Result<Option<Vec<u8>>>;
    /// Sets the value under a key.
    fn kv_set(&self, key: &str, value: &[u8]) -> Result<()>;
    /// Removes a key.
    fn kv_delete(&self, key: &str) -> Result<()>;
}
