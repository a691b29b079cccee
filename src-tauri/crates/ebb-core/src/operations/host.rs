//! The host itself, and what it keeps beside models.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{LoadOptions, options::CatalogueEntry};

/// A named set of load options, saved as a file that a person can edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether it ships with Ebb; such a one cannot be changed or removed.
    #[serde(default)]
    pub built_in: bool,
    /// The options.
    pub options: LoadOptions,
    /// Why each value was chosen, by option name.
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
}

/// Every profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileList {
    /// Built-in ones first, then by name.
    pub profiles: Vec<Profile>,
    /// One sentence for each file that cannot be used; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
}

/// Answer to looking options up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OptionList {
    /// Entries found.
    pub options: Vec<CatalogueEntry>,
}

/// The running host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostStatus {
    /// Always true in an answer; false in `ebb server status --json` where no host runs.
    pub running: bool,
    /// Its address.
    pub url: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its version of Ebb.
    pub version: String,
    /// Since it started.
    pub uptime_ms: u64,
    /// Resident memory of the host process itself.
    pub resident_bytes: u64,
    /// Aliases of loaded models.
    pub models: Vec<String>,
    /// Aliases of models that were loaded when the last host ended, and that this one will load in a moment.
    #[serde(default)]
    pub coming_back: Vec<String>,
}

/// Body of a shutdown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Shutdown {
    /// How long requests in flight may still take; 10 s where not given.
    pub drain_ms: Option<u64>,
}

/// What is there and what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Doctor {
    /// One line for each thing that was looked at.
    pub checks: Vec<Check>,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Works, with less than could be.
    Warning,
    /// Does not work.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Check {
    /// What it is: `library`, `provider.cuda`, `worker`, `memory`, `home`.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What was found.
    pub found: String,
    /// How to get what is missing.
    pub hint: Option<String>,
}
