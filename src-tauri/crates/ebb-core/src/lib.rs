//! Ebb's vocabulary and seams. Every other crate speaks in these words, and so do the JSON of the HTTP interface, the
//! command line and the clients: a name is given once, here.
//!
//! This crate must not know ONNX Runtime, processes, sockets or files: it does no I/O.
//!
//! - What a model holds: [`Sample`], [`ArenaSample`], [`Pool`]. What giving back did: [`ShrinkReport`].
//! - How a model is loaded: [`LoadOptions`], and [`options`]: as typed → as meant → as it is.
//! - What a model does: [`Job`] in, [`Chunk`]s and [`Figures`] out, through the traits [`Session`] and [`Control`].
//! - Who decides when memory goes back: the trait [`Policy`]. What a plugin is: [`PluginManifest`], [`Capability`].
//! - What every shell can do: [`operations`]. Where things lie: [`Places`].
//! - How anything fails: [`Failure`], the one error form of every door.
//!
//! ```
//! use ebb_core::Target;
//! assert_eq!(Target::parse_list(" CPU:0 ; cuda:1 ").unwrap(), [Target::cpu(0), Target::gpu(1)]);
//! assert!(Target::parse_list("disk:0").is_err());
//! ```

mod event;
mod failure;
pub mod fake;
mod generation;
mod job;
mod json;
mod keep_alive;
mod load;
mod model;
pub mod operations;
pub mod options;
mod places;
mod plugin;
mod policy;
mod profile;
mod sample;
#[cfg(feature = "openapi")]
mod schema;
mod session;
mod shrink;
mod size;
mod target;
mod transcription;

pub use event::{Event, EventKind, Hook, Saw};
pub use failure::{Code, ErrorBody, ErrorFields, Failure};
pub use generation::{
    FinishReason, GenerateFigures, Generation, Message, Piece, ResponseFormat, TokenLogprob, Tool, ToolCall,
    ToolChoice, TopLogprob,
};
pub use job::{
    Chunk, ChunkBody, DType, EmbedFigures, Figures, Job, JobKind, Progress, TensorFigures, TensorSpec,
    Truncation,
};
pub use json::Json;
pub use keep_alive::KeepAlive;
pub use load::{LoadOptions, LoadSpec};
pub use model::{
    AudioInfo, ChatInfo, EmbeddingInfo, Inspection, ModelInfo, ModelKind, Pooling, Probe, ProbedDevice,
    TensorInfo,
};
pub use places::{Endpoint, Places};
pub use plugin::{
    Capability, CapabilityRequest, PluginLimits, PluginManifest, PluginWorld, Promise, PromiseFigure,
};
pub use policy::{Decision, Outcome, Policy, RunReport, ShrinkEvery};
pub use profile::{DEFAULT_PROFILE, built_in_profiles};
pub use sample::{ArenaSample, Memory, Pool, Sample};
pub use session::{Control, Session, Step};
pub use shrink::{DroppedPool, DroppedTarget, ShrinkReport};
pub use size::{format_bytes, parse_bytes};
pub use target::Target;
pub use transcription::{Segment, TranscribeFigures, Transcription};
