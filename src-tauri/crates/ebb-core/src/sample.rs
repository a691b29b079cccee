//! What a loaded model holds at one moment.

use serde::{Deserialize, Serialize};

use crate::Target;

/// One arena as the runtime's allocator reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ArenaSample {
    /// Whose memory it is.
    pub device: Target,
    /// Handed out to live tensors now, weights included.
    pub in_use_bytes: u64,
    /// Taken from the system now: in use plus slack.
    pub reserved_bytes: u64,
    /// Highest in-use since load.
    pub peak_in_use_bytes: u64,
    /// Hard cap, where one is set.
    pub limit_bytes: Option<u64>,
    /// Regions that the arena holds now (`NumArenaExtensions` of ONNX Runtime, which counts down again when one is freed).
    pub regions: u64,
    /// Regions freed by shrinking since load.
    pub shrinkages: u64,
}

impl ArenaSample {
    /// Reserved but not in use: what a shrink may give back.
    pub fn slack_bytes(&self) -> u64 {
        self.reserved_bytes.saturating_sub(self.in_use_bytes)
    }
}

/// A cache that is not the arena's slack: KV, prefixes, weights, mapped files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pool {
    /// What it is, e.g. `weights` or `kv`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Whether a shrink may drop it.
    pub droppable: bool,
}

/// What a session measures of itself; a worker makes a [`Sample`] of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Resident memory of the whole process.
    pub resident_bytes: u64,
    /// Resident less shared: what would come back if the process ended.
    pub private_bytes: u64,
    /// Every arena of the model.
    pub arenas: Vec<ArenaSample>,
    /// Every other cache.
    pub pools: Vec<Pool>,
}

/// What a loaded model holds at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sample {
    /// The model's alias.
    pub model: String,
    /// Since the model was loaded.
    pub at_ms: u64,
    /// Resident memory of the model's worker process.
    pub resident_bytes: u64,
    /// Resident less shared.
    pub private_bytes: u64,
    /// Finished requests since load.
    pub runs: u64,
    /// Every arena of the model; empty where it has none.
    pub arenas: Vec<ArenaSample>,
    /// Every other cache.
    pub pools: Vec<Pool>,
}

impl Sample {
    /// Puts a name, a time and a count on what a session measured.
    pub fn new(model: &str, at_ms: u64, runs: u64, memory: Memory) -> Self {
        let Memory { resident_bytes, private_bytes, arenas, pools } = memory;
        Self { model: model.to_owned(), at_ms, resident_bytes, private_bytes, runs, arenas, pools }
    }

    /// Reserved bytes of all arenas together.
    pub fn reserved_bytes(&self) -> u64 {
        self.arenas.iter().map(|arena| arena.reserved_bytes).sum()
    }

    /// Slack of all arenas together.
    pub fn slack_bytes(&self) -> u64 {
        self.arenas.iter().map(ArenaSample::slack_bytes).sum()
    }
}
