//! The plugin `rag`: answers questions about documents, with citations.
//!
//! Everything is written against the trait [`Host`], so that the same pipeline runs as a sandboxed component, in tests against the
//! SDK's host, and natively for comparison. What files hold is read by code that trusts none of it: see [`extract`].

pub mod ask;
pub mod chunk;
mod cite;
pub mod extract;
pub mod host;
mod index;
pub mod ingest;
mod load;
mod marker;
mod models;
mod prompt;
mod queue;
pub mod retrieve;
mod sentences;
pub mod settings;

use ebb_plugin_sdk::{Citation, Error, Ingested, RagPipeline, export_pipeline};

use self::host::Ebb;
pub use self::{ask::ask, host::Host, ingest::ingest};

/// What the component exports.
#[derive(Debug, Default)]
pub struct Rag;

impl RagPipeline for Rag {
    type Answer = ask::Answer<Ebb>;

    fn ingest(&mut self) -> Result<Ingested, Error> {
        ingest(&Ebb)
    }

    fn ask(&mut self, question: &str, history: &[(String, String)]) -> Result<Self::Answer, Error> {
        ask(&Ebb, question, history)
    }
}

impl ebb_plugin_sdk::Answer for ask::Answer<Ebb> {
    fn citations(&mut self) -> Result<Vec<Citation>, Error> {
        Ok(ask::Answer::citations(self).to_vec())
    }

    fn next(&mut self) -> Result<Option<String>, Error> {
        self.piece()
    }

    fn cancel(&mut self) {
        ask::Answer::cancel(self);
    }
}

export_pipeline!(Rag);
