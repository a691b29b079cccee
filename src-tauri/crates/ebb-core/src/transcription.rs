//! Speech to text: what is asked of a speech model, and what comes back.

use serde::{Deserialize, Serialize};

/// How to transcribe an audio file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Transcription {
    /// Language of the speech, by code (`en`); what the model finds or knows where not given.
    pub language: Option<String>,
    /// What the file's name ends with (`wav`, `mp3`): a help where its bytes do not tell.
    pub format: Option<String>,
    /// Give segments again and again while they grow, marked as partial.
    pub partial: bool,
}

/// A stretch of speech.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Segment {
    /// Its number, from 0. Partial results of a segment carry the number that it will have.
    pub index: u32,
    /// Where it begins in the audio.
    pub start_ms: u64,
    /// Where it ends.
    pub end_ms: u64,
    /// What is said.
    pub text: String,
    /// Whether it may still change.
    pub partial: bool,
}

/// Figures of a transcription.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TranscribeFigures {
    /// Length of the audio.
    pub audio_ms: u64,
    /// Of which there was speech.
    pub speech_ms: u64,
    /// Segments given.
    pub segments: u32,
    /// Tokens generated.
    pub tokens: u32,
    /// The language, by code, where the model tells or was told.
    pub language: Option<String>,
    /// From the start of the work to the first segment.
    pub first_segment_us: u64,
    /// From the start of the work to the end.
    pub took_us: u64,
    /// Most that the model's arenas had in use meanwhile, weights included.
    pub peak_arena_bytes: u64,
    /// See [`crate::Figures::cap_retries`].
    pub cap_retries: u32,
}
