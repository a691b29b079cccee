//! What a loaded model holds, and giving it back.

use serde::{Deserialize, Serialize};

use crate::{ErrorFields, Sample, ShrinkReport, Target, options::OptionLine};

/// Body of a shrink, now or after the next run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ShrinkRequest {
    /// Which arenas; none named: every arena.
    pub targets: Option<Vec<Target>>,
}

/// Answer to arming a shrink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Armed {
    /// The model's alias.
    pub model: String,
    /// The run at whose end it will shrink, counted since load from 1: the next to end.
    pub run: u64,
}

/// Body of setting a run option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetRuntimeOption {
    /// The key, as ONNX Runtime names it.
    pub key: String,
    /// The value; empty removes it.
    pub value: String,
}

/// Run options that hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuntimeOptions {
    /// The model's alias.
    pub model: String,
    /// One line each.
    pub options: Vec<OptionLine>,
}

/// A model's figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stats {
    /// Now.
    pub now: Sample,
    /// Right after load.
    pub after_load: Sample,
    /// The last samples, oldest first, where they were asked for.
    pub history: Vec<Sample>,
    /// Requests waiting.
    pub queued: u32,
    /// When it will be unloaded if nobody uses it, from now; `None`: it stays.
    #[serde(default)]
    pub unloads_in_ms: Option<u64>,
    /// The run at whose end it will shrink, counted since load from 1; `None`: no shrink is armed.
    #[serde(default)]
    pub shrink_after_run: Option<u64>,
    /// Batches that hit the cap and were tried again after a shrink, since load.
    pub cap_retries: u64,
    /// Shrinks since load.
    pub shrinks: u64,
    /// Bytes that shrinks gave back since load.
    pub freed_bytes: u64,
}

/// What shrinking every loaded model did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShrinkAllReport {
    /// One for each model that was shrunk, by alias.
    pub reports: Vec<ShrinkReport>,
    /// One for each model that could not be, by alias.
    pub failed: Vec<ShrinkFailure>,
    /// What all of them gave back together.
    pub freed_bytes: u64,
}

/// A model that could not be shrunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShrinkFailure {
    /// The model's alias.
    pub model: String,
    /// Why.
    pub error: ErrorFields,
}
