//! Speech to text: Moonshine and Whisper, with a voice detector that cuts long audio.
//!
//! Audio is decoded, judged and cut second by second; a stretch of speech is encoded, then decoded a few tokens at a time.
//! Each of these is a step, so that several jobs share a model and each can end between two. What a job holds besides its
//! file (the stretch that is going on, caches of keys and values) lies in main memory outside the arena, and goes with it.

mod choose;
mod cut;
mod decoder;
mod family;
mod graph;
mod numbers;
mod parts;
mod run;
mod voice;
mod words;

use std::{collections::BTreeMap, path::Path};

use bytes::Bytes;
use ebb_audio::Audio;
use ebb_core::{AudioInfo, Chunk, ChunkBody, DType, Failure, Figures, Segment, Step, Transcription};

use crate::{
    Error,
    session::{Input, Loaded},
    sys,
};
use cut::Stretch;
use decoder::{Decoder, Decoding, copied};
use family::{Family, Hears};
use numbers::bytes_of;
use run::Hearing;
use voice::Voice;
use words::Words;

pub(crate) use parts::Parts;
pub(crate) use run::TranscribeRun;

/// Tokens that are decoded in a step: short enough for others not to wait, long enough for the steps themselves to cost
/// nothing.
const STEP_TOKENS: usize = 4;

/// A stretch of speech that is shorter is not halved when it does not fit under the arena's cap: 4 s, of which the halves hold
/// few words already.
const LEAST_HALVED_SAMPLES: usize = 64_000;

/// A speech model.
#[derive(Debug)]
pub(crate) struct Transcriber {
    encoder: Loaded,
    decoder: Decoder,
    voice: Voice,
    words: Words,
    family: Family,
    info: AudioInfo,
}

impl Transcriber {
    /// Makes a speech model of its loaded files, which are in the order of [`Parts::files`].
    ///
    /// # Errors
    /// Where the tokens are missing or broken, or the files' inputs and outputs are not those of a speech model.
    pub(crate) fn open(
        folder: &Path,
        parts: &Parts,
        mut loaded: impl Iterator<Item = Loaded>,
    ) -> Result<Self, Error> {
        let (Some(decoder), Some(encoder)) = (loaded.next(), loaded.next()) else {
            return Err(Error::invalid_model(folder, "a speech model has an encoder and a decoder"));
        };
        let with_past = if parts.with_past.is_some() { loaded.next() } else { None };
        let words = Words::open(folder)?;
        let family = Family::read(folder, encoder.inputs(), &words)?;
        let voice = Voice::new(parts.detector.as_deref(), loaded.next())?;
        let info = AudioInfo {
            family: family.name.to_owned(),
            sample_rate_hz: ebb_audio::SAMPLE_RATE_HZ,
            languages: family.languages.keys().cloned().collect(),
            voice_detector: voice.is_model(),
        };
        Ok(Self { encoder, decoder: Decoder::new(parts, decoder, with_past)?, voice, words, family, info })
    }

    /// What is particular to the model.
    pub(crate) fn info(&self) -> &AudioInfo {
        &self.info
    }

    /// Prepares a job; `data` is an audio file.
    ///
    /// # Errors
    /// Where it is no audio, or the model does not know the language.
    pub(crate) fn begin(
        &mut self,
        asked: &Transcription,
        data: Bytes,
        run_options: &BTreeMap<String, String>,
    ) -> Result<TranscribeRun, Error> {
        let language = self.family.language(asked.language.as_deref())?;
        let audio = Audio::open(data, asked.format.as_deref()).map_err(Failure::from)?;
        let mut lengths = self.family.lengths;
        if !self.voice.is_model() {
            // What is only loud is a voice less often.
            lengths.least_voiced *= 2;
        }
        let held = self.encoder.held();
        Ok(TranscribeRun::new(&self.family, lengths, audio, language, asked.partial, run_options, held))
    }

    /// Does the next piece of a job: decodes some tokens, else encodes a stretch of speech, else listens to a second.
    ///
    /// # Errors
    /// Where the model fails.
    pub(crate) fn step(&mut self, run: &mut TranscribeRun, chunks: &mut Vec<Chunk>) -> Result<Step, Error> {
        if let Some(hearing) = run.hearing.take() {
            self.write(run, hearing, chunks)?;
        } else if let Some(stretch) = run.stretches.pop_front() {
            self.hear(run, stretch)?;
        } else if !run.ended {
            self.listen(run)?;
        } else {
            return Ok(Step::Done(Figures::Transcribe(run.finish(self.encoder.held()))));
        }
        run.peak.look(self.encoder.held());
        Ok(Step::More(run.progress()))
    }

    /// Listens to the next second of the audio for stretches of speech.
    fn listen(&mut self, run: &mut TranscribeRun) -> Result<(), Error> {
        match run.audio.next() {
            Some(block) => run.cutter.push(&block),
            None => {
                run.ended = true;
                run.cutter.pad();
            }
        }
        while let Some(frame) = run.cutter.frame() {
            let likely = self.voice.likely(&mut run.ear, &frame, &run.run_options)?;
            run.stretches.extend(run.cutter.judge(frame, likely));
        }
        if run.ended {
            run.stretches.extend(run.cutter.finish());
        }
        Ok(())
    }

    /// Encodes a stretch of speech. Under a tight cap half of it may fit where the whole does not.
    fn hear(&mut self, run: &mut TranscribeRun, stretch: Stretch) -> Result<(), Error> {
        let Some(input) = self.encoder.inputs().iter().find(|input| input.name.starts_with("input_")) else {
            return Err(Error::Unsupported("the encoder takes no sound".to_owned()));
        };
        let (name, dtype) = (input.name.clone(), input.dtype.unwrap_or(DType::Float32));
        let samples = stretch.samples.len();
        let (shape, values) = match &self.family.hears {
            Hears::Samples => (vec![1, samples as u64], None),
            Hears::Mel { mel, frames } => {
                let values = mel.log_mel(&stretch.samples, *frames);
                (vec![1, mel.bands() as u64, *frames as u64], Some(values))
            }
        };
        let values = bytes_of(dtype, values.as_deref().unwrap_or(&stretch.samples));
        let mut inputs: Vec<Input<'_, '_>> =
            vec![(&name, sys::tensor(&name, dtype, &shape, &values)?.into())];
        if self.encoder.inputs().iter().any(|input| input.name == "attention_mask") {
            let ones = 1_i64.to_le_bytes().repeat(samples);
            let mask = sys::tensor("attention_mask", DType::Int64, &[1, samples as u64], &ones)?;
            inputs.push(("attention_mask", mask.into()));
        }
        let output = "last_hidden_state";
        let ran = self.encoder.run(&inputs, &[output], &run.run_options, |outputs| copied(outputs, output));
        drop((inputs, values));
        match ran {
            Ok(ran) => {
                run.figures.cap_retries += ran.cap_retries;
                let limit = self.family.token_limit(samples);
                let prompt = self.family.prompt(run.language.as_ref());
                let decoding = Decoding::new(ran.value, samples, prompt)?;
                run.hearing = Some(Hearing::new(&stretch, decoding, limit));
                Ok(())
            }
            Err(Error::ArenaLimit { .. })
                if samples >= LEAST_HALVED_SAMPLES && matches!(self.family.hears, Hears::Samples) =>
            {
                run.figures.cap_retries += 1;
                let (first, second) = stretch.halves();
                run.stretches.push_front(second);
                run.stretches.push_front(first);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Decodes a few tokens of a stretch, and gives its text where that has grown or is complete.
    fn write(
        &mut self,
        run: &mut TranscribeRun,
        mut hearing: Hearing,
        chunks: &mut Vec<Chunk>,
    ) -> Result<(), Error> {
        for _ in 0..STEP_TOKENS {
            let ran = self.decoder.next(&mut hearing.decoding, &run.run_options)?;
            run.figures.cap_retries += ran.cap_retries;
            let logits = ran.value;
            if run.language.is_none() && !self.family.languages.is_empty() {
                // The first token is the language; with it the prompt is complete.
                run.language = self.detected(&logits);
                hearing.decoding.restart(self.family.prompt(run.language.as_ref()));
                continue;
            }
            let token = choose::likeliest(&self.family, logits, hearing.tokens.is_empty());
            hearing.take(token.filter(|token| !self.family.ends.contains(token)));
            if hearing.complete {
                break;
            }
        }
        let text = self.words.text(&hearing.tokens)?;
        let (complete, grown) = (hearing.complete, text != hearing.text);
        if !text.is_empty() && (complete || (run.partial && grown)) {
            chunks.push(chunk(run.segment(&hearing, &text)));
        }
        if complete {
            run.close(&hearing, !text.is_empty());
        } else {
            hearing.text = text;
            run.hearing = Some(hearing);
        }
        Ok(())
    }

    fn detected(&self, logits: &[f32]) -> Option<family::Language> {
        let languages = &self.family.languages;
        let found = choose::likeliest_of(logits, languages.values().copied())
            .and_then(|id| languages.iter().find(|(_, token)| **token == id));
        found.or_else(|| languages.iter().next()).map(|(code, id)| (code.clone(), *id))
    }
}

fn chunk(segment: Segment) -> Chunk {
    Chunk { body: ChunkBody::Segment(segment), data: Bytes::new() }
}

#[cfg(test)]
mod tests;
