//! What a model is.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{DType, Target, options::OptionLine};

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Texts to vectors.
    Embeddings,
    /// Messages to text.
    Chat,
    /// Speech to text.
    Audio,
    /// A bare `.onnx` or `.ort` file: tensors in, tensors out.
    Tensors,
}

/// What a model folder or file holds, as far as can be told without loading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// What it is for.
    pub kind: ModelKind,
    /// The model file that would be loaded.
    pub file: PathBuf,
    /// What `variant` may choose from: the names of the folder's model files without their endings, the default first.
    pub variants: Vec<String>,
    /// Size of the model file and of its external data.
    pub weights_bytes: u64,
}

/// What ONNX Runtime offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The library that would be used.
    pub library: PathBuf,
    /// Its version.
    pub version: String,
    /// Execution providers that it is built with or that a plug-in brings, by Ebb's names.
    pub providers: Vec<String>,
    /// Devices that they see.
    pub devices: Vec<ProbedDevice>,
    /// Plug-in providers that are there and do not load, by name, with the reason.
    pub refused: BTreeMap<String, String>,
}

/// A device that an execution provider sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbedDevice {
    /// The provider, by Ebb's name.
    pub provider: String,
    /// `cpu`, `gpu` or `npu`.
    pub kind: String,
    /// Who made it.
    pub vendor: String,
}

/// How token vectors become one vector a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Mean over the real tokens.
    Mean,
    /// The first token's vector.
    Cls,
    /// The model pools by itself (`sentence_embedding` or a 2-d output).
    Model,
}

/// An input or output of a model file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Its element type; `None` where it is not a tensor of a type that Ebb passes.
    pub dtype: Option<DType>,
    /// Its shape; -1 where a dimension is free.
    pub shape: Vec<i64>,
}

/// What is particular to an embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EmbeddingInfo {
    /// Length of a vector.
    pub dimensions: u32,
    /// Longest text in tokens, special ones included.
    pub max_tokens: u32,
    /// How a text's vector is made.
    pub pooling: Pooling,
    /// Whether vectors have length 1.
    pub normalized: bool,
    /// Tokens, padding included, that one batch may hold.
    pub batch_tokens: u32,
    /// Shorter lengths that the model says its vectors may be cut to (`matryoshka_dimensions` of its `config.json`).
    #[serde(default)]
    pub matryoshka: Vec<u32>,
}

/// What is particular to a chat model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatInfo {
    /// Most tokens of a prompt and its answer together: what the model takes, or less where `context_tokens` says so.
    pub context_tokens: u32,
    /// Bytes of KV cache that one token takes.
    pub kv_bytes_per_token: u64,
    /// Whether one buffer is read and written in place, instead of copied with each token.
    pub kv_shared: bool,
    /// Most tokens of a prompt that are read in one step.
    pub prefill_tokens: u32,
    /// Most bytes that caches of ended conversations may hold.
    pub prefix_cache_bytes: u64,
    /// Whether the folder has a chat template; without one only a bare `prompt` can be continued.
    pub template: bool,
    /// Whether the template takes tools.
    pub tools: bool,
}

/// What is particular to a speech model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AudioInfo {
    /// What family it is of: `moonshine`, `whisper`.
    pub family: String,
    /// Samples a second that it takes; audio is resampled to it.
    pub sample_rate_hz: u32,
    /// Languages that it can be told, by code; empty where it knows one only.
    pub languages: Vec<String>,
    /// Whether a voice detector cuts long audio where nobody speaks.
    pub voice_detector: bool,
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelInfo {
    /// The model's alias.
    pub alias: String,
    /// What it is for.
    pub kind: ModelKind,
    /// The model file that was loaded.
    pub file: String,
    /// The execution provider that it runs on, by Ebb's name: `cpu`, `cuda`, `webgpu`.
    pub provider: String,
    /// Arenas that a shrink can reach.
    pub arenas: Vec<Target>,
    /// Size of the weights: of the model file and its external data.
    pub weights_bytes: u64,
    /// Inputs of the model file.
    pub inputs: Vec<TensorInfo>,
    /// Outputs of the model file.
    pub outputs: Vec<TensorInfo>,
    /// Set for an embedding model.
    pub embedding: Option<EmbeddingInfo>,
    /// Set for a chat model.
    #[serde(default)]
    pub chat: Option<ChatInfo>,
    /// Set for a speech model.
    #[serde(default)]
    pub audio: Option<AudioInfo>,
    /// Every option as requested, as forwarded, and as it took effect.
    pub options: Vec<OptionLine>,
    /// Version of the ONNX Runtime library.
    pub runtime_version: String,
    /// Path of the ONNX Runtime library.
    pub runtime_library: String,
    /// Time from the start of loading to ready.
    pub load_ms: u64,
}
