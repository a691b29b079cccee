//! What happens to models, as it is told to every door.

use serde::{Deserialize, Serialize};

use crate::{Outcome, Sample, ShrinkReport, Target};

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
