//! Models: adding, listing, loading, unloading.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{LoadOptions, ModelInfo, ModelKind, Sample};

/// Whether a model is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// Not in memory.
    Unloaded,
    /// On its way.
    Loading,
    /// Ready.
    Loaded,
    /// Its worker ended by itself and will be started again.
    Restarting,
    /// Its worker ended by itself and stays down, or loading it failed.
    Failed,
}

/// Adds a model to the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AddModel {
    /// Its folder or file.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// Its alias; the folder's name where none is given.
    #[serde(default)]
    pub alias: Option<String>,
}

/// A model of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelEntry {
    /// Its unique name.
    pub alias: String,
    /// Its folder or file.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// What it is for.
    pub kind: ModelKind,
    /// Size of its weights on disk.
    pub weights_bytes: u64,
    /// Whether it is in memory.
    pub state: ModelState,
    /// Why it is not, where it failed.
    pub reason: Option<String>,
    /// What was loaded, where it is.
    pub info: Option<ModelInfo>,
    /// The options that it is, or was last, loaded with.
    pub options: LoadOptions,
}

/// Answer to listing models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelList {
    /// Every model of the catalogue, by alias.
    pub models: Vec<ModelEntry>,
}

/// What loading did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadReport {
    /// What was loaded, options and their effect included.
    pub info: ModelInfo,
    /// What it holds after load.
    pub sample: Sample,
    /// Whether it was in memory already, with the same options.
    pub already_loaded: bool,
    /// What a person should know: an estimate above what is free, options without effect.
    pub warnings: Vec<String>,
}

/// What unloading did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnloadReport {
    /// The model's alias.
    pub model: String,
    /// Resident bytes of the worker before it ended: all of it comes back.
    pub freed_bytes: u64,
    /// Whether the worker process was seen to be gone.
    pub worker_gone: bool,
    /// Time until it was.
    pub took_ms: u64,
    /// What a person should know: that a restart will load it again.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What a model will need. An estimate never blocks a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Estimate {
    /// The model's alias.
    pub model: String,
    /// Weights in memory.
    pub weights_bytes: u64,
    /// Working memory of one full batch.
    pub working_bytes: u64,
    /// Both, and what an empty worker needs.
    pub total_bytes: u64,
    /// Free in the system now.
    pub available_bytes: u64,
    /// Memory of the machine.
    pub machine_bytes: u64,
    /// Whether it fits into what is free now.
    pub fits: bool,
    /// How the figures were made.
    pub basis: String,
}
