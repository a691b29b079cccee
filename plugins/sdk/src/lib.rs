//! Write plugins for Ebb: one trait, one macro, and tests without Wasm.
//!
//! A plugin is a Wasm component that Ebb runs in a sandbox. It fills one of two worlds: a *shrink policy* decides when a model
//! gives memory back, a *RAG pipeline* answers questions about documents. `ebb plugin new` writes a crate that uses this one,
//! `ebb plugin build` makes the component of it.
//!
//! # A shrink policy
//!
//! ```
//! use ebb_plugin_sdk::{Decision, RunReport, ShrinkPolicy, export_policy, info, setting_or};
//!
//! #[derive(Default)]
//! struct Tidy;
//!
//! export_policy!(Tidy);
//!
//! impl ShrinkPolicy for Tidy {
//!     fn on_run(&mut self, run: &RunReport) -> Result<Decision, String> {
//!         let most_bytes = setting_or("slack_mib", 64_u64) << 20;
//!         if run.after.slack_bytes() <= most_bytes {
//!             return Ok(Decision::Keep);
//!         }
//!         info!("{} holds {} bytes that it does not use", run.model, run.after.slack_bytes());
//!         Ok(Decision::shrink_all())
//!     }
//! }
//!
//! // Its test needs no Wasm.
//! use ebb_plugin_sdk::testing::{Host, run, sample};
//!
//! let host = Host::new().setting("slack_mib", 32).install();
//! assert_eq!(Tidy.on_run(&run(sample(90 << 20, 100 << 20))), Ok(Decision::Keep));
//! assert_eq!(Tidy.on_run(&run(sample(90 << 20, 200 << 20))), Ok(Decision::shrink_all()));
//! assert_eq!(host.logs().len(), 1);
//! ```
//!
//! [`testing::replay`] shows what a policy makes of a recording of real use.
//!
//! # A RAG pipeline
//!
//! This one keeps each document as a single chunk and has a model answer from the one that fits best.
//!
//! ```
//! use ebb_plugin_sdk::{
//!     Answer, Citation, Error, Ingested, RagPipeline, documents, export_pipeline,
//!     inference::{self, GenerateOptions, Generation, Message},
//!     progress,
//!     store::{Chunk, Collection, Query},
//! };
//!
//! #[derive(Default)]
//! struct Smallest;
//!
//! export_pipeline!(Smallest);
//!
//! impl RagPipeline for Smallest {
//!     type Answer = Grounded;
//!
//!     fn ingest(&mut self) -> Result<Ingested, Error> {
//!         let mut ingested = Ingested::default();
//!         for document in documents::granted()? {
//!             progress(0.5, &document.name);
//!             let text = String::from_utf8_lossy(&document.read_all(1 << 20)?).into_owned();
//!             let vectors = inference::embed("minilm", std::slice::from_ref(&text))?;
//!             let notes = Collection::open("notes", vectors.dimensions)?;
//!             let chunk = Chunk { id: "whole".into(), text, metadata: "{}".into() };
//!             notes.stage(&document.name, &[chunk], &vectors)?;
//!             notes.commit(&document.name, &document.modified_ms.to_string())?;
//!             ingested.documents += 1;
//!             ingested.chunks += 1;
//!         }
//!         Ok(ingested)
//!     }
//!
//!     fn ask(&mut self, question: &str, _history: &[(String, String)]) -> Result<Grounded, Error> {
//!         let vector = inference::embed("minilm", &[question.to_owned()])?;
//!         let notes = Collection::open("notes", vector.dimensions)?;
//!         let hits = notes.search(&Query::hybrid(question, vector).limit(1))?;
//!         let hit = hits.into_iter().next().ok_or("nothing was ingested")?;
//!         let prompt = [Message::system(format!("Answer from this: {}", hit.text)), Message::user(question)];
//!         let generation = inference::generate("smollm2", &prompt, &GenerateOptions::default())?;
//!         let end = hit.text.len() as u64;
//!         let Hit { document, text, score, .. } = hit;
//!         Ok(Grounded { citation: Citation { number: 1, document, text, start: 0, end, score }, generation })
//!     }
//! }
//!
//! struct Grounded {
//!     citation: Citation,
//!     generation: Generation,
//! }
//!
//! impl Answer for Grounded {
//!     fn citations(&mut self) -> Result<Vec<Citation>, Error> {
//!         Ok(vec![self.citation.clone()])
//!     }
//!
//!     fn next(&mut self) -> Result<Option<String>, Error> {
//!         self.generation.next().transpose()
//!     }
//! }
//!
//! // Its test needs no model.
//! use ebb_plugin_sdk::{store::Hit, testing::{Host, Model}};
//!
//! Host::new()
//!     .model(Model::embeddings("minilm", 32))
//!     .model(Model::chat("smollm2", |prompt| prompt[0].content.replace("Answer from this: ", "")))
//!     .document("sea.md", "The tide is low at noon.")
//!     .document("moon.md", "The moon is full tonight.")
//!     .install();
//! assert_eq!(Smallest.ingest()?.documents, 2);
//! let mut answer = Smallest.ask("When is low tide?", &[])?;
//! assert_eq!(answer.citations()?[0].document, "sea.md");
//! assert_eq!(answer.next()?.as_deref(), Some("The "));
//! # Ok::<(), Error>(())
//! ```
//!
//! It must not know Ebb's other crates, and no system: it is built for `wasm32-unknown-unknown`, natively for tests.
#![warn(missing_docs)]

mod bindings;
mod decimal;
pub mod documents;
mod error;
mod export;
mod host;
pub mod inference;
#[cfg(any(target_family = "wasm", test))]
mod known;
pub mod memory;
mod pipeline;
mod policy;
mod setting;
pub mod store;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
#[cfg(target_family = "wasm")]
mod wasm;

#[cfg(not(target_family = "wasm"))]
use testing::backend;
#[cfg(target_family = "wasm")]
use wasm as backend;

pub use error::Error;
pub use host::{Level, log, now_ms, progress};
pub use memory::{Arena, Pool, Sample};
pub use pipeline::{Answer, Citation, Ingested, RagPipeline};
pub use policy::{Decision, Idle, Pressure, RunOption, RunReport, ShrinkPolicy};
pub use setting::{Setting, setting, setting_or};

/// What the export macros expand to.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        bindings::{
            pipelines::{self, export_rag_pipeline},
            policies::{self, export_shrink_policy},
        },
        export::{Pipeline, Policy},
    };
}
