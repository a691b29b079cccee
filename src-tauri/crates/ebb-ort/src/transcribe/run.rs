//! A transcription in flight.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Instant,
};

use ebb_audio::{Audio, SAMPLE_RATE_HZ};
use ebb_core::{Progress, Segment, TranscribeFigures};

use super::{
    choose,
    cut::{Cutter, Lengths, Stretch},
    decoder::Decoding,
    family::{Family, Language},
    voice::Ear,
};
use crate::{generate::Peak, held::Held};

/// A stretch of speech that is being decoded.
#[derive(Debug)]
pub(super) struct Hearing {
    start: u64,
    end: u64,
    pub(super) decoding: Decoding,
    /// Tokens of its text.
    pub(super) tokens: Vec<u32>,
    /// Most tokens that it may have.
    limit: usize,
    pub(super) complete: bool,
    /// Its text as it was last looked at.
    pub(super) text: String,
}

impl Hearing {
    pub(super) fn new(stretch: &Stretch, decoding: Decoding, limit: usize) -> Self {
        let Stretch { start, end, .. } = *stretch;
        Self { start, end, decoding, tokens: Vec::new(), limit, complete: false, text: String::new() }
    }

    /// Takes the next token of its text; `None` at its end.
    pub(super) fn take(&mut self, token: Option<u32>) {
        let Some(token) = token else {
            self.complete = true;
            return;
        };
        self.tokens.push(token);
        self.decoding.push(token);
        if let Some(kept) = choose::circle(&self.tokens) {
            self.tokens.truncate(kept);
            self.complete = true;
        }
        self.complete |= self.tokens.len() >= self.limit;
    }
}

/// A transcription in flight.
#[derive(Debug)]
pub(crate) struct TranscribeRun {
    pub(super) audio: Audio,
    /// Whether all of the audio has been listened to.
    pub(super) ended: bool,
    pub(super) ear: Ear,
    pub(super) cutter: Cutter,
    /// Stretches of speech that have not been encoded yet.
    pub(super) stretches: VecDeque<Stretch>,
    pub(super) hearing: Option<Hearing>,
    pub(super) language: Option<Language>,
    pub(super) partial: bool,
    pub(super) run_options: BTreeMap<String, String>,
    pub(super) figures: TranscribeFigures,
    pub(super) peak: Peak,
    started: Instant,
}

impl TranscribeRun {
    pub(super) fn new(
        family: &Family,
        lengths: Lengths,
        audio: Audio,
        language: Option<Language>,
        partial: bool,
        run_options: &BTreeMap<String, String>,
        held: &Held,
    ) -> Self {
        let only = if family.languages.is_empty() { family.default_language.clone() } else { None };
        Self {
            audio,
            ended: false,
            ear: Ear::default(),
            cutter: Cutter::new(lengths),
            stretches: VecDeque::new(),
            hearing: None,
            language,
            partial,
            run_options: run_options.clone(),
            figures: TranscribeFigures { language: only, ..TranscribeFigures::default() },
            peak: Peak::new(held),
            started: Instant::now(),
        }
    }

    /// Up to where all that was said has been given.
    pub(super) fn progress(&self) -> Progress {
        let hearing = self.hearing.as_ref().map(|hearing| hearing.start);
        let waiting = hearing.or_else(|| self.stretches.front().map(|stretch| stretch.start));
        let done = ms(waiting.unwrap_or_else(|| self.cutter.settled()));
        let total = match self.audio.duration_ms() {
            Some(total) if !self.ended => total,
            _ => ms(self.cutter.taken()),
        };
        Progress { done, total: total.max(done) }
    }

    /// The segment that a stretch is, or will be.
    pub(super) fn segment(&mut self, hearing: &Hearing, text: &str) -> Segment {
        if self.figures.first_segment_us == 0 {
            self.figures.first_segment_us = self.since_start_us().max(1);
        }
        Segment {
            index: self.figures.segments,
            start_ms: ms(hearing.start),
            end_ms: ms(hearing.end),
            text: text.to_owned(),
            partial: !hearing.complete,
        }
    }

    /// Counts a stretch that is complete.
    pub(super) fn close(&mut self, hearing: &Hearing, has_text: bool) {
        self.figures.tokens = self.figures.tokens.saturating_add(hearing.tokens.len() as u32);
        self.figures.segments += u32::from(has_text);
        self.figures.speech_ms += ms(hearing.end - hearing.start);
    }

    /// What it all came to.
    pub(super) fn finish(&mut self, held: &Held) -> TranscribeFigures {
        if self.audio.damaged_packets() > 0 {
            tracing::warn!(
                packets = self.audio.damaged_packets(),
                "parts of the audio file could not be read"
            );
        }
        self.figures.audio_ms = ms(self.cutter.taken());
        self.figures.peak_arena_bytes = self.peak.look(held);
        self.figures.took_us = self.since_start_us();
        if let Some((code, _)) = &self.language {
            self.figures.language = Some(code.clone());
        }
        std::mem::take(&mut self.figures)
    }

    fn since_start_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// Milliseconds of samples.
fn ms(samples: u64) -> u64 {
    samples * 1_000 / u64::from(SAMPLE_RATE_HZ)
}
