//! Write plugins for Ebb.
#![warn(missing_docs)]

mod bindings;
pub mod documents;
mod error;
mod export;
mod host;
pub mod inference;
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
