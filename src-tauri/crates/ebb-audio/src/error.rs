//! What can be wrong with an audio file, each with what to do next.

use ebb_core::{Code, Failure};

/// Why an audio file cannot be heard.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No sound at all: an empty file, or a header with nothing behind it.
    #[error("the audio file holds no sound")]
    Empty,
    /// A file of a kind that is not read.
    #[error("the file is {0}, which Ebb does not read")]
    Foreign(&'static str),
    /// Nothing that is known.
    #[error("the file is no audio that Ebb knows")]
    Unknown,
    /// The right kind of file, with sound coded in a way that is not read.
    #[error("the sound in the file is coded in a way that Ebb does not read")]
    Codec(#[source] symphonia::core::errors::Error),
    /// The file says that it has no channel, or more than there can be.
    #[error("the audio file says that it has {0} channels")]
    Channels(u64),
    /// The file says that it has a rate that no sound has.
    #[error("the audio file says that it has {0} samples a second")]
    Rate(u64),
    /// The file is damaged.
    #[error("the audio file is damaged: {0}")]
    Damaged(String),
}

/// What to do with a file that is not read.
const CONVERT: &str =
    "Ebb reads WAV, FLAC, MP3 and OGG Vorbis; convert it first: `ffmpeg -i FILE -ac 1 -ar 16000 out.wav`";

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, hint) = match &error {
            Error::Empty => (Code::InvalidRequest, "send a file with speech in it"),
            Error::Foreign(_) | Error::Unknown | Error::Codec(_) => (Code::Unsupported, CONVERT),
            Error::Channels(_) | Error::Rate(_) | Error::Damaged(_) => {
                (Code::InvalidRequest, "the file was cut or written wrongly: play it, or write it anew")
            }
        };
        Self::new(code, error.to_string()).hint(hint).param("file")
    }
}
