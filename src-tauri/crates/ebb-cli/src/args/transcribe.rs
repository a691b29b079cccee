//! `ebb transcribe`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::RequestArgs;

#[derive(Debug, Args)]
pub(crate) struct TranscribeArgs {
    /// Alias of the model, or its folder
    pub(crate) model: String,
    /// The recording, as WAV, FLAC, MP3 or OGG; '-' is stdin
    pub(crate) file: PathBuf,
    /// Language of the speech, by code: en, de, ...
    #[arg(long, value_name = "CODE")]
    pub(crate) language: Option<String>,
    /// How to write what was said; as lines of text where not given
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<TranscriptFormat>,
    /// Show what may still change, too: below the text in a terminal; with --json each stretch is a line of JSON
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
}

/// How a transcript is written: the formats of OpenAI's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranscriptFormat {
    /// A line for each stretch of speech
    Text,
    /// JSON with the text alone
    Json,
    /// JSON with the times of each stretch
    VerboseJson,
    /// SubRip subtitles
    Srt,
    /// WebVTT subtitles
    Vtt,
}
