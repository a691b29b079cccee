//! Whether someone speaks, frame by frame.

use std::{collections::BTreeMap, path::Path};

use ebb_core::DType;

use super::numbers::{bytes_of, values_of};
use crate::{
    Error,
    session::{Input, Loaded},
    sys,
};

/// Samples of a frame: 32 ms.
pub(super) const FRAME_SAMPLES: usize = 512;

/// Samples of the frame before that Silero wants to see again.
const CONTEXT_SAMPLES: usize = 64;

/// Silero's memory: `[2, 1, 128]`.
const STATE_VALUES: usize = 256;

/// How far above the quietest a frame must be to be speech, where there is no detector, in decibel.
const ABOVE_FLOOR_DB: f32 = 10.0;

/// Below this nobody speaks, in decibel of the loudest that can be.
const QUIET_DB: f32 = -55.0;

/// How fast the quietest is forgotten, in decibel a frame: 1.5 a second.
const FLOOR_RISE_DB: f32 = 0.05;

/// What one job has heard so far.
#[derive(Debug)]
pub(super) struct Ear {
    context: [f32; CONTEXT_SAMPLES],
    state: Vec<f32>,
    floor_db: f32,
}

impl Default for Ear {
    fn default() -> Self {
        Self { context: [0.0; CONTEXT_SAMPLES], state: vec![0.0; STATE_VALUES], floor_db: -45.0 }
    }
}

/// What tells speech from everything else: a model, or without one what is louder than its surroundings.
#[derive(Debug)]
pub(super) struct Voice {
    silero: Option<Loaded>,
}

impl Voice {
    /// # Errors
    /// Where the file is not a Silero voice detector that Ebb knows (version 5 or 6).
    pub(super) fn new(file: Option<&Path>, silero: Option<Loaded>) -> Result<Self, Error> {
        if let (Some(file), Some(silero)) = (file, &silero) {
            let mut names: Vec<&str> = silero.inputs().iter().map(|input| input.name.as_str()).collect();
            names.sort_unstable();
            if names != ["input", "sr", "state"] {
                let why = format!(
                    "a voice detector takes input, state and sr; this one takes {}",
                    names.join(", ")
                );
                return Err(
                    Error::invalid_model(file, why).hint("take silero_vad.onnx of version 5 or later")
                );
            }
        }
        Ok(Self { silero })
    }

    /// Whether there is a detector.
    pub(super) fn is_model(&self) -> bool {
        self.silero.is_some()
    }

    /// How likely someone speaks in the next frame of [`FRAME_SAMPLES`].
    ///
    /// # Errors
    /// Where the model fails.
    pub(super) fn likely(
        &mut self,
        ear: &mut Ear,
        frame: &[f32],
        run_options: &BTreeMap<String, String>,
    ) -> Result<f32, Error> {
        match &mut self.silero {
            Some(silero) => ask(silero, ear, frame, run_options),
            None => Ok(louder(ear, frame)),
        }
    }
}

fn ask(
    silero: &mut Loaded,
    ear: &mut Ear,
    frame: &[f32],
    run_options: &BTreeMap<String, String>,
) -> Result<f32, Error> {
    let heard = [&ear.context[..], frame].concat();
    let input =
        sys::tensor("input", DType::Float32, &[1, heard.len() as u64], &bytes_of(DType::Float32, &heard))?;
    let state = sys::tensor("state", DType::Float32, &[2, 1, 128], &bytes_of(DType::Float32, &ear.state))?;
    let rate = sys::tensor("sr", DType::Int64, &[], &i64::from(ebb_audio::SAMPLE_RATE_HZ).to_le_bytes())?;
    let inputs: [Input<'_, '_>; 3] = [("input", input.into()), ("state", state.into()), ("sr", rate.into())];
    let ran = silero.run(&inputs, &["output", "stateN"], run_options, |outputs| {
        let floats = |name: &str| match outputs.get(name) {
            Some(value) => Ok(values_of(DType::Float32, sys::contents(name, value)?.2)),
            None => Err(Error::Unsupported(format!("the voice detector left its output '{name}' out"))),
        };
        Ok((floats("output")?, floats("stateN")?))
    })?;
    let (likely, state) = ran.value;
    if let (Some(&likely), STATE_VALUES) = (likely.first(), state.len()) {
        ear.context.copy_from_slice(&heard[heard.len() - CONTEXT_SAMPLES..]);
        ear.state = state;
        return Ok(likely);
    }
    Err(Error::Unsupported("the voice detector's outputs have other shapes than they should".to_owned()))
}

/// 1 where a frame is well above the quietest of late, else 0.
fn louder(ear: &mut Ear, frame: &[f32]) -> f32 {
    let db = loudness_db(frame);
    let likely = db > (ear.floor_db + ABOVE_FLOOR_DB).max(QUIET_DB);
    ear.floor_db = if db < ear.floor_db {
        ear.floor_db + 0.3 * (db.max(-90.0) - ear.floor_db)
    } else {
        ear.floor_db + FLOOR_RISE_DB
    };
    f32::from(u8::from(likely))
}

/// How loud samples are on average, in decibel of the loudest that can be.
fn loudness_db(samples: &[f32]) -> f32 {
    let power = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32;
    10.0 * power.max(1e-10).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of noise of this amplitude.
    fn noise(seed: &mut u32, amplitude: f32) -> Vec<f32> {
        let mut next = || {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (*seed >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..FRAME_SAMPLES).map(|_| next() * amplitude).collect()
    }

    #[test]
    fn without_a_detector_what_stands_out_is_speech() {
        let (mut ear, mut seed) = (Ear::default(), 1);
        let mut heard = |ear: &mut Ear, amplitude: f32, frames: usize| -> f32 {
            let likely = (0..frames).map(|_| louder(ear, &noise(&mut seed, amplitude)));
            likely.sum::<f32>() / frames as f32
        };
        assert_eq!(heard(&mut ear, 0.0, 30), 0.0, "silence");
        assert_eq!(heard(&mut ear, 0.001, 60), 0.0, "a quiet room");
        assert_eq!(heard(&mut ear, 0.1, 30), 1.0, "a voice in it");
        assert_eq!(heard(&mut ear, 0.001, 30), 0.0, "the room again");
        heard(&mut ear, 0.05, 1_000);
        assert_eq!(heard(&mut ear, 0.05, 30), 0.0, "what never changes is a machine");
    }
}
