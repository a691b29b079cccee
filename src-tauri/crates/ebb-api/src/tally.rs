//! What requests came to since the host started, by model and kind: for a monitor that looks now and then.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ebb_core::{Figures, JobKind};

use crate::Host;

/// Upper ends of the buckets that times are sorted into, in seconds; what takes longer than the last goes into one more.
pub const LATENCY_BOUNDS_S: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0];

/// Requests of one kind to one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Those that were answered.
    pub answered: u64,
    /// Those that failed. What the caller gave up counts as neither.
    pub failed: u64,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were generated.
    pub output_tokens: u64,
    /// Answered requests by the bucket of [`LATENCY_BOUNDS_S`] that their time falls into, from request to end.
    pub latency_counts: [u64; LATENCY_BOUNDS_S.len() + 1],
    /// Time of all answered requests together.
    pub latency_us: u64,
}

impl Tally {
    fn answered(&mut self, figures: &Figures, took: Duration) {
        let (input, output) = match figures {
            Figures::Embed(figures) => (figures.tokens, 0),
            Figures::Generate(figures) => {
                (u64::from(figures.prompt_tokens), u64::from(figures.completion_tokens))
            }
            Figures::Transcribe(figures) => (0, u64::from(figures.tokens)),
            Figures::Tensors(_) => (0, 0),
        };
        self.answered += 1;
        self.input_tokens += input;
        self.output_tokens += output;
        let took_s = took.as_secs_f64();
        let bucket = LATENCY_BOUNDS_S.iter().take_while(|&&bound| bound < took_s).count();
        self.latency_counts[bucket] += 1;
        self.latency_us += u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    }
}

/// Which model and which kind of work: `embed`, `generate`, `transcribe`, `run`.
pub type Tallied = (String, &'static str);

/// Every tally.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Mutex<BTreeMap<Tallied, Tally>>);

impl Tallies {
    pub(crate) fn answered(&self, of: &Tallied, figures: &Figures, took: Duration) {
        self.all().entry(of.clone()).or_default().answered(figures, took);
    }

    pub(crate) fn failed(&self, of: &Tallied) {
        self.all().entry(of.clone()).or_default().failed += 1;
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Tallied, Tally>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a kind of work, which is that of its operation.
pub(crate) fn work(kind: &JobKind) -> &'static str {
    match kind {
        JobKind::Embed { .. } => "embed",
        JobKind::Tensors { .. } => "run",
        JobKind::Generate(_) => "generate",
        JobKind::Transcribe(_) => "transcribe",
    }
}

impl Host {
    /// What requests came to since the host started.
    pub fn tallies(&self) -> BTreeMap<Tallied, Tally> {
        self.inner.tallies.all().clone()
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::GenerateFigures;

    use super::*;

    #[test]
    fn times_fall_into_the_bucket_that_ends_at_or_above_them() {
        let figures = Figures::Generate(GenerateFigures {
            prompt_tokens: 3,
            completion_tokens: 2,
            ..GenerateFigures::default()
        });
        let mut tally = Tally::default();
        for ms in [1, 2, 600_001] {
            tally.answered(&figures, Duration::from_millis(ms));
        }
        assert_eq!((tally.answered, tally.input_tokens, tally.output_tokens), (3, 9, 6));
        let mut want = [0; LATENCY_BOUNDS_S.len() + 1];
        (want[0], want[1], want[LATENCY_BOUNDS_S.len()]) = (1, 1, 1);
        assert_eq!((tally.latency_counts, tally.latency_us), (want, 600_004_000));
    }
}
