//! What a policy is asked, and what it answers.

use serde::Serialize;

use crate::{RunReport, Sample};

/// What a policy is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The model.
    pub model: &'a str,
    /// When, since the recording began.
    pub at_ms: u64,
    /// How often the model was loaded again. A policy's state does not outlive its model: where this changes, a new policy
    /// is to answer.
    pub load: u64,
    /// Why.
    pub hook: Hook<'a>,
}

/// Why a policy is asked.
#[derive(Debug, Clone, Copy)]
pub enum Hook<'a> {
    /// A request ended.
    Run(&'a RunReport),
    /// The model is idle.
    Idle {
        /// Since the end of the last request.
        idle_ms: u64,
        /// What the model holds.
        now: &'a Sample,
    },
    /// The system is short of memory.
    Pressure {
        /// What is left.
        available_bytes: u64,
        /// What the machine has.
        total_bytes: u64,
        /// What the model holds.
        now: &'a Sample,
    },
}

impl Hook<'_> {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Idle { .. } => "idle",
            Self::Pressure { .. } => "pressure",
        }
    }
}

/// What a policy wants done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing.
    Keep,
    /// Shrink these arenas, or all; after the next request if some wait.
    Shrink(Vec<String>),
    /// Shrink these arenas, or all, at the end of the next request.
    ShrinkAfterNextRun(Vec<String>),
    /// Set a run option, or remove it. The simulator knows what the one that shrinks does.
    SetRuntimeOption {
        /// Which.
        key: String,
        /// Its value; `None` removes it.
        value: Option<String>,
    },
    /// Unload and load again.
    Reload,
    /// Unload until the next request.
    Unload,
    /// Something that the simulator does not know; it counts as keep.
    Other(String),
}
