//! An audio file, block by block.

use std::fmt;

use bytes::Bytes;

use crate::{Error, decode::Decoder, resample::Resample};

/// Samples a second of every block.
pub const SAMPLE_RATE_HZ: u32 = 16_000;

/// Samples of a block: a second.
const BLOCK_SAMPLES: usize = SAMPLE_RATE_HZ as usize;

/// An audio file as blocks of mono samples at 16 kHz, a second each but for the last. Samples lie between -1 and 1 and are
/// numbers. Where a file is cut or damaged, blocks come until there.
pub struct Audio {
    decoder: Decoder,
    resample: Resample,
    /// Samples at the file's own rate, kept for their room.
    decoded: Vec<f32>,
    ready: Vec<f32>,
    ended: bool,
}

impl fmt::Debug for Audio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audio").field("rate_hz", &self.resample.rate_hz()).finish_non_exhaustive()
    }
}

impl Audio {
    /// Opens the bytes of a file. `format` is what the file's name ends with (`mp3`): a help where its bytes do not tell.
    ///
    /// # Errors
    /// Where it is no audio that is read, or there is no sound in it.
    pub fn open(bytes: Bytes, format: Option<&str>) -> Result<Self, Error> {
        let mut decoder = Decoder::open(bytes, format)?;
        let mut decoded = Vec::new();
        let Some(rate_hz) = decoder.next(&mut decoded) else {
            return Err(match decoder.damaged_packets {
                0 => Error::Empty,
                _ => Error::Damaged("no sound in it can be read".to_owned()),
            });
        };
        let mut resample = Resample::new(rate_hz)?;
        let mut ready = Vec::new();
        resample.push(&decoded, &mut ready);
        Ok(Self { decoder, resample, decoded, ready, ended: false })
    }

    /// How long the file says that it is; damaged ones lie.
    pub fn duration_ms(&self) -> Option<u64> {
        self.decoder.duration_ms
    }

    /// Pieces of the file that could not be read so far.
    pub fn damaged_packets(&self) -> u64 {
        self.decoder.damaged_packets
    }

    /// Decodes the next packet.
    fn advance(&mut self) {
        self.decoded.clear();
        let rate_hz = self.decoder.next(&mut self.decoded);
        if rate_hz != Some(self.resample.rate_hz()) {
            self.resample.finish(&mut self.ready);
            match rate_hz.map(Resample::new) {
                Some(Ok(resample)) => self.resample = resample,
                _ => {
                    self.ended = true;
                    return;
                }
            }
        }
        self.resample.push(&self.decoded, &mut self.ready);
    }
}

impl Iterator for Audio {
    type Item = Vec<f32>;

    fn next(&mut self) -> Option<Vec<f32>> {
        while self.ready.len() < BLOCK_SAMPLES && !self.ended {
            self.advance();
        }
        let rest = self.ready.split_off(self.ready.len().min(BLOCK_SAMPLES));
        let block = std::mem::replace(&mut self.ready, rest);
        (!block.is_empty()).then_some(block)
    }
}

#[cfg(test)]
mod tests;
