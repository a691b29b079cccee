//! Supervises workers: one worker process and one actor a model, policies, samples, events.
//!
//! It must not know ONNX Runtime, HTTP, or where Ebb keeps its files.
//!
//! - [`Supervisor`] loads and unloads; [`ModelHandle`] is a loaded model: it runs jobs and has the memory controls.
//! - A job goes straight to the worker once one of its places is free; the actor looks after all else: what is reported after
//!   each run, policies, samples, a worker that ends by itself.
//!
//! ```no_run
//! # async fn example() -> Result<(), ebb_core::Failure> {
//! use ebb_core::{LoadOptions, LoadSpec};
//! use ebb_host::{HostConfig, Supervisor};
//!
//! let supervisor = Supervisor::new(HostConfig::new("ebb-worker".into()));
//! let spec = LoadSpec {
//!     alias: "minilm".to_owned(),
//!     path: "models/minilm".into(),
//!     options: LoadOptions::default(),
//!     runtime_library: None,
//!     runtime_folders: Vec::new(),
//! };
//! supervisor.load(spec, Vec::new()).await?;
//! let model = supervisor.model("minilm").expect("it was just loaded");
//! println!("{} bytes came back", model.shrink(None).await?.freed_bytes);
//! # Ok(())
//! # }
//! ```

mod actor;
mod config;
mod error;
mod events;
mod exit;
mod launch;
mod logs;
mod model;
mod outbox;
mod recorder;
mod running;
mod supervisor;
#[cfg(unix)]
#[cfg(test)]
mod tests;
mod tools;
mod worker;

pub use config::HostConfig;
pub use error::Error;
pub use launch::{Launch, Link, Process, ProcessLaunch};
pub use model::ModelHandle;
pub use running::{RunItem, Running};
pub use supervisor::Supervisor;
