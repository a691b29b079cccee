//! Recordings of what a model held, and what a policy would have made of one.

use serde::{Deserialize, Serialize};

use crate::{Hook, ModelKind, PromiseFigure, RunReport, Sample, ShrinkReport};

/// A line of a recording. The first is a `trace`; no texts are in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordingLine {
    /// Since the recording began; the first line has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
    /// What happened.
    #[serde(flatten)]
    pub event: RecordingEvent,
}

/// What a line of a recording tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecordingEvent {
    /// What is recorded.
    Trace(RecordingHead),
    /// A request ended.
    Run(RunReport),
    /// A look at the model between requests.
    Sample(Sample),
    /// Memory was given back.
    Shrink {
        /// Who asked: `request`, `after_run`, `runtime_option`, or a policy's name.
        cause: String,
        /// What it did.
        report: ShrinkReport,
    },
    /// How much memory the system has left: once at the beginning, and whenever that changes much or a shortage begins or ends.
    Pressure {
        /// What programs can still have.
        available_bytes: u64,
        /// What the machine has.
        total_bytes: u64,
    },
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordingHead {
    /// Of the format: 1.
    pub version: u32,
    /// What the model is for.
    pub kind: ModelKind,
    /// Where it runs, by Ebb's name for the execution provider.
    pub provider: String,
    /// Time that loading it took.
    pub load_ms: u64,
    /// What it held after load.
    pub after_load: Sample,
}

/// What a policy would have made of a recording. The model is simulated: what it needed is known of each request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayReport {
    /// The plugin.
    pub plugin: String,
    /// What the recorded model is for.
    pub kind: String,
    /// Where it ran.
    pub provider: String,
    /// What the model held without the policy.
    pub without: ReplayFigures,
    /// What it would have held with it.
    pub with: ReplayFigures,
    /// Requests.
    pub runs: u64,
    /// Of those, requests whose need of memory is an estimate.
    pub estimated_runs: u64,
    /// How often the policy was asked.
    pub asked: u64,
    /// Of those, decisions other than keep.
    pub decided: u64,
    /// Of those, failures.
    pub failed: u64,
    /// The first decisions other than keep, at most 2,000.
    pub decisions: Vec<ReplayDecision>,
    /// The first failures, at most 100.
    pub failures: Vec<ReplayFailure>,
    /// Median time of a call, in the sandbox.
    pub call_us: Option<u64>,
    /// Why a host would have detached it, where it failed too often.
    pub given_up: Option<String>,
    /// What it promises, held against the recording.
    pub promise: Option<ReplayPromise>,
    /// What the model would have held over time, at most 2,000 points; of several moments in one, the highest.
    pub points: Vec<ReplayPoint>,
}

/// What a model held over a replay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayFigures {
    /// How long the replay was.
    pub duration_ms: u64,
    /// Reserved bytes right after load.
    pub after_load_bytes: u64,
    /// Most reserved bytes.
    pub peak_bytes: u64,
    /// Reserved bytes, weighted by time.
    pub mean_bytes: u64,
    /// Reserved bytes at the end.
    pub end_bytes: u64,
    /// What shrinks gave back, together.
    pub freed_bytes: u64,
    /// Shrinks.
    pub shrinks: u64,
    /// Times that the policy unloaded the model, to reload it or not.
    pub unloads: u64,
    /// Times that the model had to be loaded again.
    pub reloads: u64,
    /// Time spent in shrinks, an estimate.
    pub shrink_ms: u64,
    /// Time spent loading again, an estimate where the recording does not tell how long a load takes.
    pub reload_ms: u64,
    /// Part of the time in which reserved was more than twice what was in use.
    pub over_twice_in_use: f64,
    /// Longest time that slack of more than 16 MiB stayed while the model was idle.
    pub idle_slack_ms: u64,
    /// Longest time from a shortage of memory to its end.
    pub relief_ms: u64,
    /// Time in which memory was short, together.
    pub short_ms: u64,
}

/// A decision other than keep, with the figures that it was made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayDecision {
    /// When.
    pub at_ms: u64,
    /// Why it was asked.
    pub hook: Hook,
    /// What it decided, in words: `shrink cpu:0`.
    pub decision: String,
    /// In use then.
    pub in_use_bytes: u64,
    /// Reserved then.
    pub reserved_bytes: u64,
    /// Reserved right after it was done.
    pub reserved_after_bytes: u64,
}

/// A call of the policy that failed; it counted as keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayFailure {
    /// When.
    pub at_ms: u64,
    /// Why.
    pub reason: String,
}

/// A promise, held against a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayPromise {
    /// In words.
    pub words: String,
    /// The figure that it is about.
    pub figure: PromiseFigure,
    /// The bound.
    pub at_most: f64,
    /// What the replay came to; `None` where the recording leaves it without a meaning.
    pub value: Option<f64>,
    /// Whether it is within the bound. What cannot be broken is kept.
    pub kept: bool,
}

/// What a model would have held at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayPoint {
    /// When, since the recording began.
    pub at_ms: u64,
    /// Reserved with the policy.
    pub with_bytes: u64,
    /// Reserved without it.
    pub without_bytes: u64,
}
