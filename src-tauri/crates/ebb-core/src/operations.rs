//! Requests and answers of the operations that every shell calls: the bodies of HTTP, the `--json` of the command line, the
//! types of the clients.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    EmbedFigures, GenerateFigures, Generation, KeepAlive, LoadOptions, ModelInfo, ModelKind, Piece, Progress,
    Sample, Segment, Target, TensorFigures, TensorSpec, TokenLogprob, ToolCall, TranscribeFigures,
    Transcription,
    options::{CatalogueEntry, OptionLine},
};

/// Largest body of a request that a host takes, unless it was set up otherwise.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// Largest audio file that a host takes: three hours of speech as 16-bit samples at 16 kHz, and somewhat more.
pub const MAX_AUDIO_BYTES: usize = 512 << 20;

/// Whether a model is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[serde(deny_unknown_fields)]
pub struct AddModel {
    /// Its folder or file.
    pub path: PathBuf,
    /// Its alias; the folder's name where none is given.
    #[serde(default)]
    pub alias: Option<String>,
}

/// A model of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// Its unique name.
    pub alias: String,
    /// Its folder or file.
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
pub struct ModelList {
    /// Every model of the catalogue, by alias.
    pub models: Vec<ModelEntry>,
}

/// What loading did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Body of a shrink, now or after the next run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShrinkRequest {
    /// Which arenas; none named: every arena.
    pub targets: Option<Vec<Target>>,
}

/// Answer to arming a shrink.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Armed {
    /// The model's alias.
    pub model: String,
    /// The run at whose end it will shrink, counted since load from 1: the next to end.
    pub run: u64,
}

/// Body of setting a run option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetRuntimeOption {
    /// The key, as ONNX Runtime names it.
    pub key: String,
    /// The value; empty removes it.
    pub value: String,
}

/// Run options that hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeOptions {
    /// The model's alias.
    pub model: String,
    /// One line each.
    pub options: Vec<OptionLine>,
}

/// A model's figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Now.
    pub now: Sample,
    /// Right after load.
    pub after_load: Sample,
    /// The last samples, oldest first, where they were asked for.
    pub history: Vec<Sample>,
    /// Requests waiting.
    pub queued: u32,
    /// When it will be unloaded if nobody uses it, from now; `None`: it stays.
    #[serde(default)]
    pub unloads_in_ms: Option<u64>,
    /// Batches that hit the cap and were tried again after a shrink, since load.
    pub cap_retries: u64,
    /// Shrinks since load.
    pub shrinks: u64,
    /// Bytes that shrinks gave back since load.
    pub freed_bytes: u64,
}

/// What a model will need. An estimate never blocks a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Body of an embed request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedRequest {
    /// The texts.
    pub texts: Vec<String>,
    /// Answer as a stream of [`EmbedPiece`] lines instead of one [`EmbedAnswer`].
    pub stream: bool,
    /// Shrink once the answer is out: the arenas named, all where the list is empty.
    pub shrink_after: Option<Vec<Target>>,
    /// Run options of this request alone.
    pub run_options: BTreeMap<String, String>,
    /// See [`RequestOptions::timeout_ms`].
    pub timeout_ms: Option<u64>,
    /// See [`RequestOptions::keep_alive`].
    pub keep_alive: Option<KeepAlive>,
}

/// What every request may ask for besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestOptions {
    /// Shrink once the answer is out: the arenas named, all where the list is empty.
    pub shrink_after: Option<Vec<Target>>,
    /// Run options of this request alone.
    pub run_options: BTreeMap<String, String>,
    /// Give up, with the code `timeout`, if the answer is not complete by then.
    pub timeout_ms: Option<u64>,
    /// From this request on: unload the model when nobody has used it for so long.
    pub keep_alive: Option<KeepAlive>,
}

/// Body of a request for text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerateRequest {
    /// What to generate.
    pub generation: Generation,
    /// Answer as a stream of [`GeneratePiece`] lines instead of one [`GenerateAnswer`].
    pub stream: bool,
    /// What it may ask for besides.
    pub options: RequestOptions,
}

/// Generated text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerateAnswer {
    /// The text.
    pub text: String,
    /// Calls that the model asks for.
    pub tool_calls: Vec<ToolCall>,
    /// One for each token, where they were asked for.
    pub logprobs: Vec<TokenLogprob>,
    /// What it took.
    pub figures: GenerateFigures,
}

/// A line of a streamed text. An error in mid-stream is a line too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratePiece {
    /// How much of the prompt has been read, in tokens.
    Progress(Progress),
    /// The next piece.
    Piece(Piece),
    /// A call, whole.
    ToolCall(ToolCall),
    /// The end.
    Figures(GenerateFigures),
    /// It failed.
    Error(crate::failure::ErrorFields),
}

/// What is asked of a speech model; the audio file travels beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TranscribeRequest {
    /// How to transcribe.
    pub transcription: Transcription,
    /// Answer as a stream of [`TranscribePiece`] lines instead of one [`TranscribeAnswer`].
    pub stream: bool,
    /// What it may ask for besides.
    pub options: RequestOptions,
}

/// What was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscribeAnswer {
    /// All of it.
    pub text: String,
    /// Stretch by stretch.
    pub segments: Vec<Segment>,
    /// What it took.
    pub figures: TranscribeFigures,
}

/// A line of a streamed transcription. An error in mid-stream is a line too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscribePiece {
    /// How much has been heard, in milliseconds of audio.
    Progress(Progress),
    /// A stretch of speech.
    Segment(Segment),
    /// The end.
    Figures(TranscribeFigures),
    /// It failed.
    Error(crate::failure::ErrorFields),
}

/// What the holder of a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyScope {
    /// Use models that were added: embed, generate, transcribe, run, list.
    Infer,
    /// Everything else: load with options, shrink, add and remove models, keys, end the host.
    Control,
}

/// Makes a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddKey {
    /// Its unique name.
    pub name: String,
    /// What its holder may do; `infer` alone where not given.
    #[serde(default)]
    pub scopes: Vec<KeyScope>,
}

/// A key that was made. The host keeps only its hash: it is never shown again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedKey {
    /// Its name.
    pub name: String,
    /// The key, as `Authorization: Bearer` takes it.
    pub key: String,
    /// What its holder may do.
    pub scopes: Vec<KeyScope>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyEntry {
    /// Its name.
    pub name: String,
    /// What its holder may do.
    pub scopes: Vec<KeyScope>,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
}

/// Every key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyList {
    /// By name.
    pub keys: Vec<KeyEntry>,
}

/// Answer to an embed request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbedAnswer {
    /// One vector a text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// What it took.
    pub figures: EmbedFigures,
}

/// A line of a streamed answer. An error in mid-stream is a line too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbedPiece {
    /// How far it is.
    Progress(Progress),
    /// Some vectors, in order.
    Vectors {
        /// Index of the first text.
        first: u32,
        /// Number of vectors.
        count: u32,
        /// Length of each.
        dimensions: u32,
        /// Little-endian f32, base64.
        data: String,
    },
    /// The end.
    Figures(EmbedFigures),
    /// It failed.
    Error(crate::failure::ErrorFields),
}

/// A tensor with its data, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorValue {
    /// Name, type and shape. In JSON these fields stand beside `data`.
    #[serde(flatten)]
    pub spec: TensorSpec,
    /// Little-endian, row-major, base64.
    pub data: String,
}

/// Body of a run on tensors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunRequest {
    /// The inputs.
    pub inputs: Vec<TensorValue>,
    /// Outputs that are wanted; none named: all.
    pub outputs: Vec<String>,
    /// See [`EmbedRequest::shrink_after`].
    pub shrink_after: Option<Vec<Target>>,
    /// See [`EmbedRequest::run_options`].
    pub run_options: BTreeMap<String, String>,
    /// See [`RequestOptions::timeout_ms`].
    pub timeout_ms: Option<u64>,
    /// See [`RequestOptions::keep_alive`].
    pub keep_alive: Option<KeepAlive>,
}

/// Answer to a run on tensors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAnswer {
    /// The outputs.
    pub outputs: Vec<TensorValue>,
    /// What it took.
    pub figures: TensorFigures,
}

/// A named set of load options, saved as a file that a person can edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct ProfileList {
    /// Built-in ones first, then by name.
    pub profiles: Vec<Profile>,
    /// One sentence for each file that cannot be used; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
}

/// Answer to looking options up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionList {
    /// Entries found.
    pub options: Vec<CatalogueEntry>,
}

/// The running host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Body of a shutdown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shutdown {
    /// How long requests in flight may still take; 10 s where not given.
    pub drain_ms: Option<u64>,
}

/// What is there and what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doctor {
    /// One line for each thing that was looked at.
    pub checks: Vec<Check>,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
