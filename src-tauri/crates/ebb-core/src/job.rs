//! What a model is asked to do, and what comes back. Bulk data (tensors, vectors, audio) travels beside these records as
//! raw little-endian bytes, so that it is neither encoded nor copied on its way between processes.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{
    GenerateFigures, Generation, Piece, Segment, Target, ToolCall, TranscribeFigures, Transcription,
};

/// One request: one embed call, one generation, one transcription, one run on tensors. The unit that queues, cancels, and counts as one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What to do.
    pub kind: JobKind,
    /// Run options of this job alone, over those of the model.
    pub run_options: BTreeMap<String, String>,
    /// Shrink these arenas once the answer has gone out; empty: every arena; `None`: do not.
    pub shrink_after: Option<Vec<Target>>,
}

impl Job {
    /// A job with the model's own run options.
    pub fn new(kind: JobKind) -> Self {
        Self { kind, run_options: BTreeMap::new(), shrink_after: None }
    }
}

/// The kinds of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JobKind {
    /// One vector a text, in order. Chunks: [`ChunkBody::Vectors`].
    Embed {
        /// The texts.
        texts: Vec<String>,
    },
    /// A bare model on tensors. The data of the inputs follows in the order of `inputs`. Chunks: [`ChunkBody::Tensor`].
    Tensors {
        /// Names, types and shapes of the inputs.
        inputs: Vec<TensorSpec>,
        /// Outputs that are wanted; empty: all.
        outputs: Vec<String>,
    },
    /// Text of a chat model. Chunks: [`ChunkBody::Piece`]s, then [`ChunkBody::ToolCall`]s.
    Generate(Box<Generation>),
    /// What is said in an audio file, whose bytes follow as they are. Chunks: [`ChunkBody::Segment`].
    Transcribe(Transcription),
}

/// Element type of a tensor, by the names that NumPy uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DType {
    Float16,
    BFloat16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Bool,
}

impl DType {
    /// Size of one element.
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::Int8 | Self::UInt8 | Self::Bool => 1,
            Self::Float16 | Self::BFloat16 | Self::Int16 | Self::UInt16 => 2,
            Self::Float32 | Self::Int32 | Self::UInt32 => 4,
            Self::Float64 | Self::Int64 | Self::UInt64 => 8,
        }
    }
}

/// A tensor without its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorSpec {
    /// Name of the model's input or output.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Shape, outermost first; empty for a scalar.
    pub shape: Vec<u64>,
}

impl TensorSpec {
    /// Bytes of its data, or `None` where the shape overflows.
    pub fn len_bytes(&self) -> Option<usize> {
        let elements = self.shape.iter().try_fold(1_u64, |all, &dim| all.checked_mul(dim))?;
        usize::try_from(elements).ok()?.checked_mul(self.dtype.size_bytes())
    }
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// What it is.
    pub body: ChunkBody,
    /// Its data, little-endian, row-major.
    pub data: Bytes,
}

/// What a [`Chunk`] holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ChunkBody {
    /// `count` vectors of `dimensions` f32 each, for the texts from `first` on. Chunks come in order.
    Vectors {
        /// Index of the first text.
        first: u32,
        /// Number of vectors.
        count: u32,
        /// Length of each.
        dimensions: u32,
    },
    /// One output tensor.
    Tensor(TensorSpec),
    /// The next piece of a generated text.
    Piece(Piece),
    /// A call that the model asks for, whole.
    ToolCall(ToolCall),
    /// A stretch of speech.
    Segment(Segment),
}

/// How far a job has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// Items done: texts embedded, tokens of the prompt read, milliseconds of audio heard.
    pub done: u64,
    /// Items in all.
    pub total: u64,
}

/// What a job amounted to, told at its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Figures {
    /// Of an embed job.
    Embed(EmbedFigures),
    /// Of a run on tensors.
    Tensors(TensorFigures),
    /// Of a generation.
    Generate(GenerateFigures),
    /// Of a transcription.
    Transcribe(TranscribeFigures),
}

impl Figures {
    /// Items of the request, as a policy counts them: texts embedded, tokens generated, segments heard, runs on tensors.
    pub fn items(&self) -> u32 {
        match self {
            Self::Embed(figures) => figures.texts,
            Self::Tensors(_) => 1,
            Self::Generate(figures) => figures.completion_tokens,
            Self::Transcribe(figures) => figures.segments,
        }
    }

    /// How often the arena's cap was hit, the arena shrunk, and the run tried again.
    pub fn cap_retries(&self) -> u32 {
        match self {
            Self::Embed(figures) => figures.cap_retries,
            Self::Tensors(figures) => figures.cap_retries,
            Self::Generate(figures) => figures.cap_retries,
            Self::Transcribe(figures) => figures.cap_retries,
        }
    }
}

/// Figures of an embed job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EmbedFigures {
    /// Texts embedded.
    pub texts: u32,
    /// Length of each vector.
    pub dimensions: u32,
    /// Tokens run, special ones included, padding not.
    pub tokens: u64,
    /// Padding tokens run besides.
    pub padding_tokens: u64,
    /// Batches that the texts were split into.
    pub batches: u32,
    /// Texts that were longer than the model takes.
    pub truncated: Vec<Truncation>,
    /// See [`Figures::cap_retries`].
    pub cap_retries: u32,
}

/// A text that was cut to the model's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Truncation {
    /// Index of the text in the request.
    pub index: u32,
    /// Tokens that it has, special ones included.
    pub tokens: u32,
    /// Whether `tokens` is exact; a very long text is read only as far as the model needs, and has at least so many.
    pub exact: bool,
    /// Tokens that were used.
    pub used: u32,
}

/// Figures of a run on tensors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TensorFigures {
    /// Output tensors given.
    pub outputs: u32,
    /// See [`Figures::cap_retries`].
    pub cap_retries: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_follows_shape_and_type() {
        let spec =
            |shape: &[u64]| TensorSpec { name: "x".into(), dtype: DType::Float32, shape: shape.to_vec() };
        assert_eq!(spec(&[2, 3]).len_bytes(), Some(24));
        assert_eq!(spec(&[]).len_bytes(), Some(4));
        assert_eq!(spec(&[0, 7]).len_bytes(), Some(0));
        assert_eq!(spec(&[u64::MAX, 2]).len_bytes(), None);
    }
}
