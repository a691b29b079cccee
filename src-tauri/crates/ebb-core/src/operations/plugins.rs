//! Plugins: installing, granting, attaching, asking.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Capability, Json, PluginLimits, PluginManifest};

/// Where a plugin comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PluginOrigin {
    /// Ships with Ebb.
    Bundled,
    /// A copy of a file that the user installed.
    Installed,
    /// A folder under development: read from there, and again whenever its component changes.
    Development,
}

/// Installs a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct InstallPlugin {
    /// A component (`.wasm`), or a folder with `plugin.toml` and its built component.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// Replace a plugin of the same id. Its grants stay only as far as the new one asks for them too.
    #[serde(default)]
    pub replace: bool,
}

/// Something granted to a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Which capability.
    pub capability: Capability,
    /// On which models, by alias; `*` is every model, also those added later. Empty for `store` and `documents`.
    #[serde(default)]
    pub models: Vec<String>,
    /// Which files and folders; for `documents` alone.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub paths: Vec<PathBuf>,
}

/// Body of granting and of revoking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// What is granted besides what already is; or, revoking, what is taken back: named models and paths alone, or the whole
    /// capability where none is named.
    pub grants: Vec<Grant>,
}

/// A capability: what was asked, what was granted, what was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CapabilityState {
    /// Which.
    pub capability: Capability,
    /// The author's reason, where the plugin asks for it.
    pub asked: Option<String>,
    /// What it means, in the host's words.
    pub meaning: String,
    /// What was granted.
    pub granted: Option<Grant>,
    /// Calls that needed it, since the host started.
    pub calls: u64,
    /// Of those, calls that were refused.
    pub refused: u64,
    /// The last of them, in milliseconds since 1970.
    pub last_used_at_ms: Option<u64>,
}

/// A policy on a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attachment {
    /// The plugin.
    pub plugin: String,
    /// The model's alias.
    pub model: String,
    /// Its place among the model's policies, from 0: the first that decides something other than keep wins.
    pub position: u32,
    /// Whether it decides: the model is loaded and the plugin has not failed too often.
    pub active: bool,
    /// Why it was detached by the host; it stays so until the user attaches it again.
    pub detached_because: Option<String>,
    /// Calls since it was attached.
    pub calls: u64,
    /// Of those, decisions other than keep.
    pub decisions: u64,
    /// Of those, failures.
    pub failures: u64,
    /// Median time of a call.
    pub call_us: Option<u64>,
}

/// Attaches a policy to a model, or moves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AttachPlugin {
    /// The model's alias.
    pub model: String,
    /// Its place among the model's policies; the last where not given.
    #[serde(default)]
    pub position: Option<u32>,
    /// Grant what the plugin asks for, on this model alone.
    #[serde(default)]
    pub grant: bool,
}

/// Detaches a policy from a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DetachPlugin {
    /// The model's alias.
    pub model: String,
}

/// A plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginEntry {
    /// What it says of itself.
    pub manifest: PluginManifest,
    /// Where it comes from.
    pub origin: PluginOrigin,
    /// Its component.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// Size of its component.
    pub size_bytes: u64,
    /// Hash of its component, in hex.
    pub sha256: String,
    /// Every capability that it asks for, was granted, or tried to use.
    pub capabilities: Vec<CapabilityState>,
    /// The models that it is attached to.
    pub attachments: Vec<Attachment>,
    /// Its settings as they hold, by name.
    pub settings: BTreeMap<String, Json>,
    /// Its limits as they hold.
    pub limits: PluginLimits,
    /// What its store holds.
    pub store_bytes: u64,
    /// Linear memory of its instances.
    pub memory_bytes: u64,
    /// Processor time of its calls since the host started.
    pub cpu_us: u64,
    /// How far its compilation is, in percent, while it goes on: calls and models that it is to decide for wait for it; `None`:
    /// it is not being compiled.
    #[serde(default)]
    pub compiling_percent: Option<u32>,
    /// Why it cannot be used, where it cannot.
    pub broken: Option<String>,
}

/// Every plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginList {
    /// By id.
    pub plugins: Vec<PluginEntry>,
}

/// Body of setting a plugin's settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PluginSettings {
    /// New values, by name; `null` goes back to the default. Others stay.
    pub settings: BTreeMap<String, Json>,
}

/// How a line of a plugin's log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For its author.
    Trace,
    /// For its author.
    Debug,
    /// What it did.
    Info,
    /// What a person should look at.
    Warn,
    /// What failed.
    Error,
}

/// A line of a plugin's log: the plugin's own, or the host's about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginLogLine {
    /// Number of the line since the plugin was installed; a gap means that lines were dropped.
    pub seq: u64,
    /// In milliseconds since 1970.
    pub time_ms: u64,
    /// How it matters.
    pub level: LogLevel,
    /// The call that it belongs to.
    pub request: u64,
    /// The model, where the call was about one.
    pub model: Option<String>,
    /// Whether the host says it, not the plugin.
    pub from_host: bool,
    /// The line.
    pub message: String,
}

/// The end of a plugin's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginLog {
    /// Oldest first.
    pub lines: Vec<PluginLogLine>,
}

/// What an ingest did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IngestReport {
    /// Documents that were read anew because they are new or changed.
    pub documents: u32,
    /// Chunks that were made of them.
    pub chunks: u32,
    /// Documents that had not changed.
    pub unchanged: u32,
    /// Documents that are no longer granted and were removed from the index.
    pub removed: u32,
    /// Documents that could not be read.
    pub skipped: Vec<Skipped>,
    /// Further figures of the plugin's own, by name.
    pub more: BTreeMap<String, u64>,
    /// From the start to the end.
    pub took_ms: u64,
}

/// A document that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Skipped {
    /// Its name.
    pub document: String,
    /// Why.
    pub reason: String,
}

/// A line of a streamed ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum IngestPiece {
    /// How far it is.
    Progress(PluginProgress),
    /// The end.
    Report(IngestReport),
    /// It failed.
    Error(crate::failure::ErrorFields),
}

/// How far a plugin's call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginProgress {
    /// 0 to 1.
    pub fraction: f32,
    /// What is being done.
    pub message: String,
}

/// An earlier question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}

/// Asks a pipeline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// What was asked and answered before, oldest first.
    pub history: Vec<Asked>,
    /// Answer as a stream of [`AskPiece`] lines instead of one [`AskAnswer`].
    pub stream: bool,
}

/// A passage that an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Citation {
    /// Its number in the answer, from 1: `[1]`.
    pub number: u32,
    /// The document's name.
    pub document: String,
    /// The passage.
    pub text: String,
    /// Where it begins within the document's text, in bytes.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// How well it fits; higher is better.
    pub score: f32,
}

/// A grounded answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskAnswer {
    /// The answer.
    pub answer: String,
    /// What it rests on.
    pub citations: Vec<Citation>,
    /// From the question to the end of the answer.
    pub took_ms: u64,
}

/// A line of a streamed answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskPiece {
    /// How far it is, before the answer begins.
    Progress(PluginProgress),
    /// What the answer will rest on.
    Citations(Vec<Citation>),
    /// A piece of the answer.
    Text(String),
    /// The end.
    Done {
        /// From the question to the end of the answer.
        took_ms: u64,
    },
    /// It failed.
    Error(crate::failure::ErrorFields),
}

/// What a pipeline's index holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PluginIndex {
    /// The plugin.
    pub plugin: String,
    /// One line a collection.
    pub collections: Vec<CollectionState>,
    /// Bytes on disk.
    pub store_bytes: u64,
    /// Bytes that the index takes in the host's memory now.
    pub index_memory_bytes: u64,
    /// The files and folders that were granted.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub paths: Vec<PathBuf>,
    /// The call that goes on, if one does.
    pub running: Option<RunningCall>,
}

/// A collection of a plugin's store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectionState {
    /// Its name.
    pub name: String,
    /// Length of its vectors.
    pub dimensions: u32,
    /// Its documents.
    pub documents: u64,
    /// Its chunks.
    pub chunks: u64,
}

/// A call that goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunningCall {
    /// `ingest` or `ask`.
    pub call: String,
    /// How far it is.
    pub progress: PluginProgress,
}

/// Body of counting tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CountTokens {
    /// The texts.
    pub texts: Vec<String>,
}

/// Tokens of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenCounts {
    /// The model's alias.
    pub model: String,
    /// One count a text, in order, special tokens not counted.
    pub tokens: Vec<u32>,
}
