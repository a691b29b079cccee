//! Pipelines: documents in, grounded answers out.

use crate::Error;
pub use crate::bindings::pipeline::{Citation, Ingested};

/// Answers questions about the documents that the user granted.
///
/// The host makes an instance for a call, so a value may be new each time: what is to last belongs into the
/// [`store`](crate::store). A caller may give a call up at any point; then nothing more of it runs, and what it held at the
/// host is freed.
pub trait RagPipeline: Default + 'static {
    /// An answer in the making.
    type Answer: Answer;

    /// Brings the index up to date with the [granted documents](crate::documents::granted).
    ///
    /// # Errors
    /// What keeps the whole ingest from going on; a document that cannot be read belongs into [`Ingested::skipped`].
    fn ingest(&mut self) -> Result<Ingested, Error>;

    /// Begins to answer. `history`: earlier questions and their answers, oldest first.
    ///
    /// # Errors
    /// Where no answer can be begun, for instance because nothing was ingested.
    fn ask(&mut self, question: &str, history: &[(String, String)]) -> Result<Self::Answer, Error>;
}

/// An answer in the making. Dropping it ends its generation.
pub trait Answer: 'static {
    /// The passages that the answer is grounded on; they are known before its first piece.
    ///
    /// # Errors
    /// Whatever keeps them from being told.
    fn citations(&mut self) -> Result<Vec<Citation>, Error>;

    /// The next piece of text; `None` at the end.
    ///
    /// # Errors
    /// Where the model fails.
    fn next(&mut self) -> Result<Option<String>, Error>;

    /// Ends it now. Nothing to do where dropping does it.
    fn cancel(&mut self) {}
}

#[expect(clippy::derivable_impls, reason = "the type is generated")]
impl Default for Ingested {
    fn default() -> Self {
        Self { documents: 0, chunks: 0, unchanged: 0, removed: 0, skipped: Vec::new(), more: Vec::new() }
    }
}
