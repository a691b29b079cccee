//! What happens to models, as it is told to every door.

use serde::{Deserialize, Serialize};

use crate::{LoadOptions, ModelKind, Outcome, Sample, ShrinkReport, Target};

/// Something that happened to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Event {
    /// Number of the event in its host; a gap means that events were missed.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// The model's alias.
    pub model: String,
    /// What happened; its name is in the field `event`.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// It was added to the catalogue.
    Added {
        /// What it is for.
        kind: ModelKind,
    },
    /// It was removed from the catalogue; its files stay where they are.
    Removed,
    /// It is remembered with other load options than before: those that it is loaded with now, and that the next load on
    /// demand takes.
    LoadOptions {
        /// All of them.
        options: Box<LoadOptions>,
    },
    /// Loading began.
    Loading,
    /// Ready to serve.
    Loaded {
        /// Time from the start of loading.
        load_ms: u64,
        /// What it holds after load.
        sample: Sample,
    },
    /// Loading failed.
    LoadFailed {
        /// Why.
        reason: String,
    },
    /// A request ended.
    Run {
        /// Its number since load, from 1.
        run: u64,
        /// How it ended.
        outcome: Outcome,
        /// From the start of the work to the answer.
        took_us: u64,
        /// Items of the request.
        items: u32,
        /// How often the cap was hit and the run tried again.
        cap_retries: u32,
        /// Requests that waited behind it.
        queued: u32,
        /// What the model held once the answer was out, before anything was given back.
        after: Sample,
    },
    /// Memory was given back.
    Shrink {
        /// Who asked: `request`, `after_run`, `runtime_option`, or a policy's name.
        cause: String,
        /// What it did.
        report: ShrinkReport,
    },
    /// An arena took more from the system since the sample before.
    Grown {
        /// Whose arena.
        device: Target,
        /// Reserved bytes before.
        before_bytes: u64,
        /// Reserved bytes now.
        after_bytes: u64,
    },
    /// An arena is within a tenth of its cap.
    NearCap {
        /// Whose arena.
        device: Target,
        /// Reserved now.
        reserved_bytes: u64,
        /// The cap.
        limit_bytes: u64,
    },
    /// A run option was set or removed.
    RuntimeOption {
        /// The key.
        key: String,
        /// The value; `None`: removed.
        value: Option<String>,
    },
    /// A policy decided something other than keep, or failed.
    Policy {
        /// Its name.
        policy: String,
        /// What it decided, or why it failed.
        decision: String,
        /// The figures that it decided on.
        saw: Saw,
        /// Time that the decision took.
        took_us: u64,
    },
    /// A policy began to decide for the model.
    Attached {
        /// Its name.
        policy: String,
    },
    /// A policy decides no longer.
    Detached {
        /// Its name.
        policy: String,
        /// Why, where it was not the user who detached it.
        reason: Option<String>,
    },
    /// The worker ended by itself.
    Crashed {
        /// How: exit code, signal, out of memory.
        reason: String,
        /// Wait before it is started again; `None`: it stays down.
        restart_in_ms: Option<u64>,
    },
    /// The model is gone from memory.
    Unloaded {
        /// Resident bytes of the worker before it ended.
        resident_before_bytes: u64,
        /// Whether the worker process was seen to be gone.
        worker_gone: bool,
    },
}

/// When a policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Hook {
    /// After a request.
    Run,
    /// While the model is idle.
    Idle,
    /// While the system is short of memory.
    Pressure,
}

/// The figures that a policy decided on, all arenas of the model together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Saw {
    /// When it was asked.
    pub hook: Hook,
    /// Handed out to live tensors.
    pub in_use_bytes: u64,
    /// Taken from the system.
    pub reserved_bytes: u64,
    /// Resident memory of the worker.
    pub resident_bytes: u64,
    /// Requests since load.
    pub runs: u64,
    /// How long the model had been idle, where that was the reason to ask.
    pub idle_ms: Option<u64>,
    /// Memory that the system had left, where that was the reason to ask.
    pub available_bytes: Option<u64>,
}

impl Saw {
    /// The figures of a sample.
    pub fn new(hook: Hook, sample: &Sample) -> Self {
        let sum = |figure: fn(&crate::ArenaSample) -> u64| sample.arenas.iter().map(figure).sum();
        Self {
            hook,
            in_use_bytes: sum(|arena| arena.in_use_bytes),
            reserved_bytes: sum(|arena| arena.reserved_bytes),
            resident_bytes: sample.resident_bytes,
            runs: sample.runs,
            idle_ms: None,
            available_bytes: None,
        }
    }
}
