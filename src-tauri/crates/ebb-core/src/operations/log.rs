//! The host's own log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LogLevel;
use crate::Json;

/// The end of the host's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostLog {
    /// Oldest first.
    pub lines: Vec<HostLogLine>,
}

/// A line of the host's log. Texts of requests and answers are in none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostLogLine {
    /// Number of the line in its host; a gap means that lines were missed.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// How serious it is.
    pub level: LogLevel,
    /// Which part of Ebb writes: `ebb_api::load`.
    pub target: String,
    /// What happened.
    pub message: String,
    /// The model that it is about, where it is about one.
    pub model: Option<String>,
    /// Figures and names beside the message, those of the request that it happened in included.
    pub fields: BTreeMap<String, Json>,
}
