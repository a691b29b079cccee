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
mod check;
mod count_tokens;
mod demo_models;
mod doctor;
mod embed;
mod estimate;
mod fetch;
mod folders;
mod generate;
mod gpu;
mod history;
mod host;
mod job;
mod keep_alive;
mod keys;
mod load;
mod lock;
mod log;
mod memory;
mod models;
mod names;
mod plugins;
mod pressure;
mod probed;
mod process;
mod profiles;
mod recording;
mod run;
mod runtimes;
mod state;
mod stored;
mod sys;
mod system;
mod tally;
mod transcribe;
mod turn;

pub use embed::EmbedStream;
pub use fetch::{PullStream, downloaded_weights, model_folder};
pub use generate::GenerateStream;
pub use history::EventsFrom;
pub use host::{Host, MemoryWatch, Settings};
pub use log::{HostLogStream, keep_log};
pub use names::alias_of;
pub use plugins::{AskStream, IngestStream, PluginLogStream};
pub use recording::RecordingStream;
pub use tally::{LATENCY_BOUNDS_S, Tallied, Tally};
pub use transcribe::TranscribeStream;
