//! The one list of operations that every shell calls: [`Host`], one async method for each, [`ebb_core`]'s types in and out.
//! A route of the server, a subcommand of the CLI and a command of the desktop with the same name do the same thing.
//!
//! It is where everything is joined: the catalogue of models, load profiles, the state that survives a restart, plugins, and
//! the supervisor of workers. It must not know HTTP, nor any runtime: what only a worker can tell (what a folder holds, which
//! providers there are) it asks the worker program.
//!
//! ```no_run
//! # async fn example() -> Result<(), ebb_core::Failure> {
//! use ebb_api::{Host, Settings};
//! use ebb_core::{LoadOptions, Places, operations::ShrinkRequest};
//!
//! let host = Host::open(Places::from_env()?, Settings::default())?;
//! host.load("minilm", LoadOptions::default(), false).await?;
//! let report = host.shrink("minilm", ShrinkRequest::default()).await?;
//! tracing::info!(freed_bytes = report.freed_bytes, "shrunk");
//! # Ok(())
//! # }
//! ```

mod atomic;
mod available;
mod count_tokens;
mod doctor;
mod embed;
mod estimate;
mod generate;
mod host;
mod job;
mod keep_alive;
mod keys;
mod load;
mod lock;
mod memory;
mod models;
mod names;
mod plugins;
mod pressure;
mod profiles;
mod run;
mod state;
mod stored;
mod sys;
mod tally;
mod transcribe;
mod turn;

pub use embed::EmbedStream;
pub use generate::GenerateStream;
pub use host::{Host, MemoryWatch, Settings};
pub use plugins::{AskStream, IngestStream, PluginLogStream};
pub use tally::{LATENCY_BOUNDS_S, Tallied, Tally};
pub use transcribe::TranscribeStream;
