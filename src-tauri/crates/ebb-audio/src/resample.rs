//! Any rate to 16 kHz, through rubato.

use rubato::{Fft, FixedSync, Indexing, Resampler, audioadapter_buffers::direct::InterleavedSlice};

use crate::{Error, SAMPLE_RATE_HZ};

/// Samples that go through at once, about: the longer, the steeper the filter before the new limit.
const CHUNK_FRAMES: usize = 4_096;

/// A stream on its way to 16 kHz. What comes out is as long as what went in, from its first sample to its last.
pub(crate) struct Resample {
    rate_hz: u32,
    /// `None` where the rate is right already.
    fft: Option<Fft<f32>>,
    waiting: Vec<f32>,
    out: Vec<f32>,
    taken_frames: u64,
    given_frames: u64,
    /// What the filter puts before the first sample, still to be left out.
    delay_frames: usize,
}

impl Resample {
    /// From a rate.
    ///
    /// # Errors
    /// [`Error::Rate`] where there is no way.
    pub(crate) fn new(rate_hz: u32) -> Result<Self, Error> {
        let fft = (rate_hz != SAMPLE_RATE_HZ)
            .then(|| Fft::new(rate_hz as usize, SAMPLE_RATE_HZ as usize, chunk(rate_hz), 1, FixedSync::Both))
            .transpose()
            .map_err(|_| Error::Rate(u64::from(rate_hz)))?;
        let delay_frames = fft.as_ref().map_or(0, Fft::output_delay);
        let out = vec![0.0; fft.as_ref().map_or(0, Fft::output_frames_max)];
        Ok(Self { rate_hz, fft, waiting: Vec::new(), out, taken_frames: 0, given_frames: 0, delay_frames })
    }

    /// The rate that goes in.
    pub(crate) fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    /// Takes samples and appends what is ready to `ready`.
    pub(crate) fn push(&mut self, samples: &[f32], ready: &mut Vec<f32>) {
        self.taken_frames += samples.len() as u64;
        let Some(need) = self.fft.as_ref().map(Fft::input_frames_next) else {
            ready.extend_from_slice(samples);
            return;
        };
        self.waiting.extend_from_slice(samples);
        let mut at = 0;
        while self.waiting.len() - at >= need {
            self.process(at, need, ready);
            at += need;
        }
        self.waiting.drain(..at);
    }

    /// Appends all that is left.
    pub(crate) fn finish(&mut self, ready: &mut Vec<f32>) {
        if self.fft.is_none() {
            return;
        }
        let due = (self.taken_frames * u64::from(SAMPLE_RATE_HZ)).div_ceil(u64::from(self.rate_hz));
        while self.given_frames < due {
            let (before, left) = (ready.len(), self.waiting.len());
            self.process(0, left, ready);
            self.waiting.clear();
            let over = self.given_frames.saturating_sub(due) as usize;
            ready.truncate((ready.len() - over).max(before));
        }
    }

    /// One chunk: `frames` of what waits, and silence after them.
    fn process(&mut self, at: usize, frames: usize, ready: &mut Vec<f32>) {
        let Some(fft) = &mut self.fft else { return };
        let size = fft.output_frames_next();
        let input = InterleavedSlice::new(&self.waiting[at..at + frames], 1, frames);
        let output = InterleavedSlice::new_mut(&mut self.out, 1, size);
        let (Ok(input), Ok(mut output)) = (input, output) else { return };
        let indexing = Indexing::new().partial_len(frames);
        let written = fft
            .process_into_buffer(&input, &mut output, Some(&indexing))
            .map_or(size, |(_, written)| written);
        let skip = self.delay_frames.min(written);
        self.delay_frames -= skip;
        self.given_frames += (written - skip) as u64;
        // A filter overshoots where the sound was cut off at its loudest.
        ready.extend(self.out[skip..written].iter().map(|sample| sample.clamp(-1.0, 1.0)));
    }
}

/// Frames that go through at once: an even number of the least that can, so that the filter's delay, half of what comes
/// out, is a whole number.
fn chunk(rate_hz: u32) -> usize {
    let (mut divisor, mut rest) = (rate_hz, SAMPLE_RATE_HZ);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let least = (rate_hz / divisor) as usize;
    CHUNK_FRAMES.div_ceil(2 * least) * 2 * least
}
