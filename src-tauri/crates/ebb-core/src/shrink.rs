//! What giving memory back did.

use serde::{Deserialize, Serialize};

use crate::Target;

/// A shrink target that had no effect, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DroppedTarget {
    /// The target as asked for.
    pub target: Target,
    /// Why it was dropped, for people: `no arena here: …`.
    pub reason: String,
}

/// A cache that the shrink dropped besides the arena's slack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DroppedPool {
    /// Its name, as in [`crate::Pool`].
    pub name: String,
    /// What it held.
    pub bytes: u64,
}

/// What a shrink did, measured before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShrinkReport {
    /// The model's alias.
    pub model: String,
    /// Reserved bytes that the arenas gave back.
    pub freed_bytes: u64,
    /// Reserved bytes of the shrunk arenas, before.
    pub reserved_before_bytes: u64,
    /// Reserved bytes of the shrunk arenas, after.
    pub reserved_after_bytes: u64,
    /// Resident memory of the worker process, before.
    pub resident_before_bytes: u64,
    /// Resident memory of the worker process, after (and after trimming its heap).
    pub resident_after_bytes: u64,
    /// Private memory (resident less shared), before.
    pub private_before_bytes: u64,
    /// Private memory, after.
    pub private_after_bytes: u64,
    /// Time that shrinking the arenas took, without trimming.
    pub took_us: u64,
    /// Time that trimming the process heap took; 0 where nothing came back and so nothing was trimmed.
    pub trim_us: u64,
    /// Targets that were shrunk.
    pub targets: Vec<Target>,
    /// Targets that were asked for and had no effect.
    pub dropped: Vec<DroppedTarget>,
    /// Caches that were dropped.
    pub pools_dropped: Vec<DroppedPool>,
}
