//! The front end of Whisper: the logarithm of a mel spectrogram. The crate that offers one brings picture and GPU crates with
//! it, so it is written here, on `realfft`, which `rubato` uses as well.

use std::{f64::consts::PI, fmt, sync::Arc};

use realfft::{RealFftPlanner, RealToComplex};

/// Samples of a window: 25 ms.
const WINDOW_SAMPLES: usize = 400;

/// Samples from one window to the next: 10 ms.
pub const HOP_SAMPLES: usize = 160;

/// Frequencies of a window.
const BINS: usize = WINDOW_SAMPLES / 2 + 1;

/// Below this power nothing is heard.
const FLOOR: f32 = 1e-10;

/// The weights of a band of mel, from its first frequency that counts.
struct Band {
    first: usize,
    weights: Vec<f32>,
}

/// A mel filter bank and what it takes.
pub struct Mel {
    bands: Vec<Band>,
    window: Vec<f32>,
    fft: Arc<dyn RealToComplex<f32>>,
}

impl fmt::Debug for Mel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mel").field("bands", &self.bands.len()).finish_non_exhaustive()
    }
}

impl Mel {
    /// A bank of so many bands: 80 for most Whisper models, 128 for the large ones from the third version on.
    pub fn new(bands: usize) -> Self {
        let turn = |at: usize| 2.0 * PI * at as f64 / WINDOW_SAMPLES as f64;
        Self {
            bands: bank(bands),
            window: (0..WINDOW_SAMPLES).map(|at| (0.5 - 0.5 * turn(at).cos()) as f32).collect(),
            fft: RealFftPlanner::new().plan_fft_forward(WINDOW_SAMPLES),
        }
    }

    /// Bands of the bank.
    pub fn bands(&self) -> usize {
        self.bands.len()
    }

    /// The spectrogram of samples at 16 kHz, which silence fills up to `frames` times [`HOP_SAMPLES`]; what is longer is
    /// left out. One row of `frames` values for each band, band after band.
    pub fn log_mel(&self, samples: &[f32], frames: usize) -> Vec<f32> {
        let whole = frames * HOP_SAMPLES;
        let samples = &samples[..samples.len().min(whole)];
        let mut mel = vec![FLOOR.log10(); self.bands.len() * frames];
        let mut frame = vec![0.0; WINDOW_SAMPLES];
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        // Windows are centred on their place. Later ones hold nothing but silence.
        let heard = (samples.len() + WINDOW_SAMPLES / 2).div_ceil(HOP_SAMPLES).min(frames);
        for at in 0..heard {
            for (offset, (value, weight)) in frame.iter_mut().zip(&self.window).enumerate() {
                let place = mirrored(at * HOP_SAMPLES + offset, whole);
                *value = samples.get(place).copied().unwrap_or(0.0) * weight;
            }
            if self.fft.process_with_scratch(&mut frame, &mut spectrum, &mut scratch).is_err() {
                continue;
            }
            for (row, band) in mel.chunks_exact_mut(frames).zip(&self.bands) {
                let bins = spectrum[band.first..].iter().zip(&band.weights);
                let power: f32 = bins.map(|(bin, weight)| bin.norm_sqr() * weight).sum();
                row[at] = power.max(FLOOR).log10();
            }
        }
        let loudest = mel.iter().copied().fold(f32::MIN, f32::max);
        for value in &mut mel {
            *value = (value.max(loudest - 8.0) + 4.0) / 4.0;
        }
        mel
    }
}

/// The sample at a place of a signal of `whole` samples with half a window mirrored before and after it.
fn mirrored(place: usize, whole: usize) -> usize {
    let half = WINDOW_SAMPLES / 2;
    if place < half {
        half - place
    } else if place - half >= whole {
        (2 * whole).saturating_sub(place - half + 2)
    } else {
        place - half
    }
}

/// Triangles that lie evenly in mel (linear to 1000 Hz, logarithmic above), each with the same area.
fn bank(bands: usize) -> Vec<Band> {
    const STEP_HZ: f64 = 200.0 / 3.0;
    let log_step = 6.4_f64.ln() / 27.0;
    let nyquist_hz = f64::from(crate::SAMPLE_RATE_HZ) / 2.0;
    let top = 15.0 + (nyquist_hz / 1_000.0).ln() / log_step;
    let corner_hz = |index: usize| {
        let mel = top * index as f64 / (bands + 1) as f64;
        if mel < 15.0 { mel * STEP_HZ } else { 1_000.0 * (log_step * (mel - 15.0)).exp() }
    };
    let bin_hz = nyquist_hz / (BINS - 1) as f64;
    let band = |index: usize| {
        let (low, middle, high) = (corner_hz(index), corner_hz(index + 1), corner_hz(index + 2));
        let weight = |bin: usize| {
            let hz = bin as f64 * bin_hz;
            let slope = ((hz - low) / (middle - low)).min((high - hz) / (high - middle));
            (slope.max(0.0) * 2.0 / (high - low)) as f32
        };
        let first = ((low / bin_hz) as usize).min(BINS - 1);
        let last = ((high / bin_hz).ceil() as usize).min(BINS - 1);
        Band { first, weights: (first..=last).map(weight).collect() }
    };
    (0..bands).map(band).collect()
}

#[cfg(test)]
mod tests;
