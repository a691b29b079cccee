//! Files to samples at their own rate, through symphonia.

use std::{
    io::{Cursor, Read},
    panic::{AssertUnwindSafe, catch_unwind},
};

use bytes::Bytes;
use symphonia::core::{
    codecs::audio::{AudioDecoder, AudioDecoderOptions},
    errors::Error as Symphonia,
    formats::{FormatOptions, FormatReader, TrackType, probe::Hint},
    io::{MediaSource, MediaSourceStream, ReadOnlySource},
    meta::MetadataOptions,
};

use crate::{Error, foreign, wav::Wav};

/// Rates that are taken for sound, in samples a second. What lies outside asks for absurd filters.
const RATES_HZ: std::ops::RangeInclusive<u32> = 1_000..=768_000;

/// How files begin that are read.
const KNOWN: [&[u8]; 3] = [b"OggS", b"fLaC", b"ID3"];

/// An open audio file.
pub(crate) struct Decoder {
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    /// What the file says of its length.
    pub(crate) duration_ms: Option<u64>,
    /// Packets that were damaged.
    pub(crate) damaged_packets: u64,
    /// A frame's samples of all channels, one after the other; kept for its room.
    interleaved: Vec<f32>,
}

impl Decoder {
    /// Opens a file. `format` is what its name ends with, for files whose bytes do not tell.
    ///
    /// # Errors
    /// Where it is none that is read.
    pub(crate) fn open(bytes: Bytes, format: Option<&str>) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::Empty);
        }
        foreign::refuse(&bytes)?;
        let mut hint = Hint::new();
        if let Some(format) = format {
            hint.with_extension(&format.trim_start_matches('.').to_ascii_lowercase());
        }
        let probe = |source: Box<dyn MediaSource>| guarded(|| Self::probe(source, &hint))?;
        if let Some(Wav { head, body, duration_ms }) = Wav::read(&bytes)? {
            if body.is_empty() {
                return Err(Error::Empty);
            }
            let source = ReadOnlySource::new(Cursor::new(head).chain(Cursor::new(body)));
            return Ok(Self { duration_ms: Some(duration_ms), ..probe(Box::new(source))? });
        }
        // From its end, too, where its length stands; a file that was cut has none, and is read from its start alone.
        probe(Box::new(Cursor::new(bytes.clone())))
            .or_else(|_| probe(Box::new(ReadOnlySource::new(Cursor::new(bytes.clone())))))
            .map_err(|error| match error {
                Error::Unknown if KNOWN.iter().any(|mark| bytes.starts_with(mark)) => {
                    Error::Damaged("it is cut short".to_owned())
                }
                error => error,
            })
    }

    fn probe(source: Box<dyn MediaSource>, hint: &Hint) -> Result<Self, Error> {
        let stream = MediaSourceStream::new(source, Default::default());
        let format = symphonia::default::get_probe()
            .probe(hint, stream, FormatOptions::default(), MetadataOptions::default())
            .map_err(unreadable)?;
        let track = format.default_track(TrackType::Audio).ok_or(Error::Empty)?;
        let params = track.codec_params.as_ref().and_then(|params| params.audio()).ok_or(Error::Unknown)?;
        if let Some(rate_hz) = params.sample_rate.filter(|rate| !RATES_HZ.contains(rate)) {
            return Err(Error::Rate(u64::from(rate_hz)));
        }
        let told_ms = track
            .duration
            .zip(track.time_base)
            .and_then(|(duration, base)| u64::try_from(base.calc_duration(duration)?.as_millis()).ok());
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(params, &AudioDecoderOptions::default())
            .map_err(Error::Codec)?;
        let track = track.id;
        Ok(Self { format, decoder, track, duration_ms: told_ms, damaged_packets: 0, interleaved: Vec::new() })
    }

    /// Appends the next samples to `mono`, all channels mixed, and gives their rate; `None` at the end of the file, or where
    /// the rest of it cannot be read.
    pub(crate) fn next(&mut self, mono: &mut Vec<f32>) -> Option<u32> {
        guarded(|| self.next_packet(mono)).unwrap_or_else(|_| {
            self.damaged_packets += 1;
            None
        })
    }

    fn next_packet(&mut self, mono: &mut Vec<f32>) -> Option<u32> {
        loop {
            let packet = match self.format.next_packet() {
                Ok(packet) => packet?,
                // OGG files may be put one after the other.
                Err(Symphonia::ResetRequired) => {
                    self.restart()?;
                    continue;
                }
                Err(Symphonia::DecodeError(_)) => {
                    self.damaged_packets += 1;
                    return None;
                }
                Err(_) => return None,
            };
            if packet.track_id != self.track {
                continue;
            }
            let Ok(decoded) = self.decoder.decode(&packet) else {
                self.damaged_packets += 1;
                continue;
            };
            let (rate_hz, channels) = (decoded.spec().rate(), decoded.spec().channels().count());
            if decoded.frames() == 0 || channels == 0 || !RATES_HZ.contains(&rate_hz) {
                continue;
            }
            decoded.copy_to_vec_interleaved(&mut self.interleaved);
            mix(&self.interleaved, channels, mono);
            return Some(rate_hz);
        }
    }

    fn restart(&mut self) -> Option<()> {
        let track = self.format.default_track(TrackType::Audio)?;
        let params = track.codec_params.as_ref()?.audio()?;
        self.track = track.id;
        self.decoder = symphonia::default::get_codecs()
            .make_audio_decoder(params, &AudioDecoderOptions::default())
            .ok()?;
        Some(())
    }
}

/// The mean of the channels. What is no number is silence, and what is louder than can be is as loud as can be.
fn mix(interleaved: &[f32], channels: usize, mono: &mut Vec<f32>) {
    let share = 1.0 / channels as f32;
    let sane = |sample: &f32| if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 };
    mono.extend(interleaved.chunks_exact(channels).map(|frame| frame.iter().map(sane).sum::<f32>() * share));
}

/// Decoders are large programs that read what strangers send. Where one panics, that file is damaged, and the model that
/// was to hear it lives on.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Error::Damaged("its decoder gave up".to_owned()))
}

fn unreadable(error: Symphonia) -> Error {
    match error {
        Symphonia::Unsupported(_) => Error::Unknown,
        Symphonia::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Error::Unknown,
        error => Error::Damaged(error.to_string()),
    }
}
