//! Audio files to what speech models hear: blocks of mono samples at 16 kHz, and their mel spectrogram; and what was heard
//! to subtitles.
//!
//! It must not know models, ONNX Runtime, files or sockets: bytes go in. Only a second of samples is held at a time, so
//! that hours of audio take no more memory than the file itself.
//!
//! - [`Audio`] reads WAV, FLAC, MP3 and OGG Vorbis, whatever their rate and channels.
//! - [`Mel`] is the front end of Whisper.
//! - [`srt`] and [`vtt`] write subtitles.
//!
//! ```
//! # fn main() -> Result<(), ebb_audio::Error> {
//! let mut wav = b"RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00".to_vec();
//! wav.extend_from_slice(b"\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x80\x3e\x00\x00");
//! wav.resize(wav.len() + 16_000, 0);
//! let samples: usize = ebb_audio::Audio::open(wav.into(), Some("wav"))?.map(|block| block.len()).sum();
//! assert_eq!(samples, 8_000, "half a second");
//! # Ok(())
//! # }
//! ```

mod audio;
mod decode;
mod error;
mod foreign;
mod mel;
mod resample;
mod subtitles;
mod wav;

pub use audio::{Audio, SAMPLE_RATE_HZ};
pub use error::Error;
pub use mel::{HOP_SAMPLES, Mel};
pub use subtitles::{srt, vtt};
