//! Models from elsewhere: downloaded, imported, and those that the demo uses.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ModelEntry;
use crate::{ErrorFields, ModelKind};

/// Downloads a model of the Hub, imports it where it must be, and adds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PullModel {
    /// Its name on the Hub: `hf:ORG/NAME`, or `hf:ORG/NAME:VARIANT` where there are several in it.
    pub model: String,
    /// Branch, tag or commit; the main branch where none is given.
    #[serde(default)]
    pub revision: Option<String>,
    /// Its alias; made of its name where none is given.
    #[serde(default)]
    pub alias: Option<String>,
    /// Replace the folder where it holds another version.
    #[serde(default)]
    pub force: bool,
}

/// Makes an ONNX model of foreign weights in Ebb's folder of models, and adds it. What is ONNX already is added where it lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportModel {
    /// A folder with `config.json`, `model.safetensors` and `tokenizer.json`, or a `.gguf` file. The host reads it: it must be
    /// absolute.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub path: PathBuf,
    /// Its alias; made of its name where none is given.
    #[serde(default)]
    pub alias: Option<String>,
    /// Import again where that was done before.
    #[serde(default)]
    pub force: bool,
}

/// A line of a streamed pull or import. The last one is a report or an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one report ends a pull; there are never many at once")]
pub enum PullPiece {
    /// How far it is.
    Progress(PullProgress),
    /// The end: the model, as it stands in the catalogue now.
    Report(ModelEntry),
    /// It failed. What was downloaded stays, and the next pull goes on from there.
    Error(ErrorFields),
}

/// How far a pull or an import is. The counts begin anew with each stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PullProgress {
    /// What is being done.
    pub stage: PullStage,
    /// The file that is worked on, by its path in the model's folder.
    pub file: Option<String>,
    /// Bytes that are done.
    pub done_bytes: u64,
    /// Bytes in all; 0 where that is not known yet.
    pub total_bytes: u64,
    /// Where it waits before it tries again: what failed.
    pub reason: Option<String>,
}

/// What a pull or an import does at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PullStage {
    /// Asking the Hub what there is.
    Listing,
    /// Reading what is here of an earlier try, or what is to be imported.
    Checking,
    /// Bytes come in.
    Downloading,
    /// Something failed; it is tried again.
    Waiting,
    /// Foreign weights are made into ONNX.
    Importing,
    /// What was made is read back and compared.
    Verifying,
    /// It is added to the catalogue.
    Adding,
}

/// Answer to listing the models that the demo uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DemoModelList {
    /// Small models, one of each kind.
    pub models: Vec<DemoModel>,
}

/// A small model to begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DemoModel {
    /// The alias that it should have.
    pub alias: String,
    /// What it is called by those who made it.
    pub name: String,
    /// What it is for.
    pub kind: ModelKind,
    /// What it does, in a sentence.
    pub description: String,
    /// Its size on disk where it is here, else of the download, about.
    pub bytes: u64,
    /// Its licence.
    pub licence: String,
    /// The alias under which it is in the catalogue already.
    pub added: Option<String>,
    /// Where it lies on this machine: adding that path takes no download.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub path: Option<PathBuf>,
    /// What to pull where it is not here; `None` where only `cargo xtask setup` brings it.
    pub pull: Option<String>,
}
