//! What lines of a trace hold. The structs read the JSON of Ebb's own types, and take in place of their own samples and
//! reports whatever is written alike, so that a recorder need not convert.

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// A recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What was loaded.
    pub head: Head,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadLine<S = Sample> {
    /// What was loaded.
    pub trace: Head<S>,
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head<S = Sample> {
    /// [`VERSION`].
    pub version: u32,
    /// What the model is for: `embeddings`, `chat`, `audio`.
    pub kind: String,
    /// Where it ran: `cpu`, `cuda`.
    pub provider: String,
    /// Time that loading took, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_ms: Option<u64>,
    /// What it held right after load.
    pub after_load: S,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry<R = RunReport, S = Sample, H = ShrinkReport> {
    /// When it happened, since the load; never before the line above.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event<R, S, H>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event<R = RunReport, S = Sample, H = ShrinkReport> {
    /// A request ended.
    Run(R),
    /// A look at the model in between. The last one also says when the recording ended.
    Sample(S),
    /// Memory was given back.
    Shrink(Shrink<H>),
    /// How much memory the system has left. It holds, changed by what the model takes and gives, until the next such line.
    Pressure {
        /// What is left.
        available_bytes: u64,
        /// What the machine has.
        total_bytes: u64,
    },
}

/// Memory was given back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shrink<H = ShrinkReport> {
    /// Who asked for it.
    #[serde(default)]
    pub cause: String,
    /// What it did.
    pub report: H,
}

/// What a shrink did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShrinkReport {
    /// Reserved bytes that the arenas gave back.
    #[serde(default)]
    pub freed_bytes: u64,
    /// Reserved bytes of the shrunk arenas, after.
    pub reserved_after_bytes: u64,
    /// Time that it took, without trimming the heap.
    #[serde(default)]
    pub took_us: u64,
    /// Time that trimming the heap took.
    #[serde(default)]
    pub trim_us: u64,
    /// The arenas that were shrunk.
    #[serde(default)]
    pub targets: Vec<String>,
}

/// What a policy sees after a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// The model.
    pub model: String,
    /// `ok`, `failed`, `cancelled`.
    pub outcome: String,
    /// From the start of the work to the answer.
    pub took_us: u64,
    /// Items of the request: texts embedded, tokens generated, seconds of audio.
    pub items: u32,
    /// Requests that waited behind it.
    #[serde(default)]
    pub queued: u32,
    /// What the model held once the answer was out, before anything was given back.
    pub after: Sample,
}

/// What a model held at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The model.
    pub model: String,
    /// Since the model was loaded.
    pub at_ms: u64,
    /// Of the model's worker process.
    pub resident_bytes: u64,
    /// Resident without what is shared with other processes.
    pub private_bytes: u64,
    /// Finished requests since load.
    pub runs: u64,
    /// Every arena.
    pub arenas: Vec<Arena>,
    /// Every other cache.
    #[serde(default)]
    pub pools: Vec<Pool>,
}

impl Sample {
    /// Handed out to live tensors, all arenas together.
    pub fn in_use_bytes(&self) -> u64 {
        self.arenas.iter().fold(0, |sum, arena| sum.saturating_add(arena.in_use_bytes))
    }

    /// Taken from the system, all arenas together.
    pub fn reserved_bytes(&self) -> u64 {
        self.arenas.iter().fold(0, |sum, arena| sum.saturating_add(arena.reserved_bytes))
    }

    /// Reserved but not in use, all arenas together.
    pub fn slack_bytes(&self) -> u64 {
        self.arenas.iter().fold(0, |sum, arena| sum.saturating_add(arena.slack_bytes()))
    }
}

/// An arena as the runtime's allocator reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Arena {
    /// Whose memory it is: `cpu:0`, `gpu:0`.
    pub device: String,
    /// Handed out to live tensors, weights included.
    pub in_use_bytes: u64,
    /// Taken from the system.
    pub reserved_bytes: u64,
    /// Highest in-use since load.
    #[serde(default)]
    pub peak_in_use_bytes: u64,
    /// Hard cap, where one is set.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
    /// Regions that it consists of.
    #[serde(default)]
    pub regions: u64,
    /// Regions freed by shrinking since load.
    #[serde(default)]
    pub shrinkages: u64,
}

impl Arena {
    /// Reserved but not in use: what a shrink may give back.
    pub fn slack_bytes(&self) -> u64 {
        self.reserved_bytes.saturating_sub(self.in_use_bytes)
    }
}

/// A cache that is not the arena's slack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// What it is.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Whether a shrink may drop it.
    #[serde(default)]
    pub droppable: bool,
}
