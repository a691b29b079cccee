//! What models are asked to do, and their answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    EmbedFigures, GenerateFigures, Generation, KeepAlive, Piece, Progress, Segment, Target, TensorFigures,
    TensorSpec, TokenLogprob, ToolCall, TranscribeFigures, Transcription,
};

/// Body of an embed request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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

/// Answer to an embed request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EmbedAnswer {
    /// One vector a text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// What it took.
    pub figures: EmbedFigures,
}

/// A line of a streamed answer. An error in mid-stream is a line too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorValue {
    /// Name, type and shape. In JSON these fields stand beside `data`.
    #[serde(flatten)]
    pub spec: TensorSpec,
    /// Little-endian, row-major, base64.
    pub data: String,
}

/// Body of a run on tensors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunAnswer {
    /// The outputs.
    pub outputs: Vec<TensorValue>,
    /// What it took.
    pub figures: TensorFigures,
}
