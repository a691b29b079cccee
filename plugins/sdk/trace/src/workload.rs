//! A long mixed workload, made up: what every shipped policy's promise is tested on.

use crate::{
    Arena, ENOUGH_FROM, Entry, Event, Head, RunReport, Sample, Shrink, ShrinkReport, Trace, VERSION,
};

const MIB: u64 = 1 << 20;
/// The model: weights, what a shrink leaves beside them, and what one token of one text takes.
const WEIGHTS_BYTES: u64 = 90 * MIB;
const LEFT_BYTES: u64 = 2 * MIB;
const TOKEN_BYTES: u64 = 12 << 10;
const LARGEST_BYTES: u64 = 700 * MIB;
const LOAD_MS: u64 = 180;
/// The machine, and what is available on it while nobody else needs much.
const TOTAL_BYTES: u64 = 4 << 30;
const CALM_BYTES: u64 = 2 << 30;

/// A workload of one embeddings model: steady requests, batches of ever-changing size, bursts, idle times, and other programs
/// that need the machine's memory now and then. The same numbers give the same workload. It is recorded as if the arena had
/// been shrunk after each request, so nothing that a replay does with it is estimated.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// Where the made-up chance begins.
    pub seed: u64,
    /// How long it is, at least.
    pub duration_ms: u64,
    /// Requests of a phase, about.
    pub phase_runs: u32,
}

impl Workload {
    /// A day, of 30,000 requests or so.
    pub const LONG: Self = Self { seed: 4, duration_ms: 24 * 3_600_000, phase_runs: 120 };

    /// Two hours and more, small enough to be kept in a file: `traces/mixed.jsonl` beside the shipped plugins.
    pub const SHORT: Self = Self { seed: 11, duration_ms: 2 * 3_600_000, phase_runs: 8 };

    /// Makes it.
    pub fn trace(self) -> Trace {
        let mut recorder = Recorder::new(self.seed);
        let runs = u64::from(self.phase_runs.max(1));
        recorder.available(CALM_BYTES);
        while recorder.at_ms < self.duration_ms {
            match recorder.random.below(6) {
                0 => recorder.steady(runs),
                1 | 2 => recorder.batches(runs),
                3 => recorder.burst(runs / 2 + 1),
                4 => recorder.pressure(runs / 4 + 1),
                _ => recorder.rest(),
            }
        }
        recorder.finish()
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }
}

struct Recorder {
    random: Random,
    at_ms: u64,
    runs: u64,
    shrinkages: u64,
    entries: Vec<Entry>,
}

impl Recorder {
    fn new(seed: u64) -> Self {
        Self { random: Random(seed), at_ms: 0, runs: 0, shrinkages: 0, entries: Vec::new() }
    }

    /// Somebody types: a text or a few, every second or so.
    fn steady(&mut self, runs: u64) {
        for _ in 0..self.random.between(runs / 2, runs * 2) {
            let (texts, tokens) = (self.random.between(1, 4), self.random.between(8, 128));
            self.run(texts, tokens, 0);
            self.at_ms += self.random.between(200, 3_000);
        }
    }

    /// Documents are embedded, in batches that differ in texts and in length.
    fn batches(&mut self, runs: u64) {
        for _ in 0..self.random.between(runs / 2, runs * 2) {
            let (texts, tokens) = (self.random.between(1, 128), self.random.between(16, 512));
            self.run(texts, tokens, 0);
            self.at_ms += self.random.between(100, 2_000);
        }
    }

    /// Many ask at once.
    fn burst(&mut self, runs: u64) {
        let runs = self.random.between(runs / 2, runs * 2);
        for left in (0..runs).rev() {
            let (texts, tokens) = (self.random.between(32, 128), self.random.between(64, 256));
            self.run(texts, tokens, u32::try_from(left).unwrap_or(u32::MAX));
            self.at_ms += self.random.below(20);
        }
    }

    /// Nobody asks, for a minute to an hour.
    fn rest(&mut self) {
        self.at_ms += match self.random.below(4) {
            0 => self.random.between(600_000, 3_600_000),
            _ => self.random.between(60_000, 600_000),
        };
        self.sample();
    }

    /// Another program needs the machine's memory, for minutes; now and then somebody asks meanwhile. What is left is short
    /// until the slack is given back, or, one time in three, until the model is gone.
    fn pressure(&mut self, runs: u64) {
        self.run(112, 256, 0);
        self.at_ms += self.random.between(200, 20_000);
        let enough = (TOTAL_BYTES as f64 * ENOUGH_FROM) as u64;
        let model = WEIGHTS_BYTES + LEFT_BYTES;
        let left = match self.random.below(3) {
            0 => enough - model / 2,
            _ => enough + self.random.between(8 * MIB, 32 * MIB),
        };
        self.available(left);
        for _ in 0..self.random.between(0, runs) {
            self.at_ms += self.random.between(4_000, 30_000);
            let (texts, tokens) = (self.random.between(1, 64), self.random.between(16, 256));
            self.run(texts, tokens, 0);
        }
        self.at_ms += self.random.between(10_000, 120_000);
        self.available(CALM_BYTES);
    }

    fn run(&mut self, texts: u64, tokens: u64, queued: u32) {
        let slack = (LEFT_BYTES + texts * tokens * TOKEN_BYTES).min(LARGEST_BYTES).next_multiple_of(MIB);
        let took_us = 1_500 + texts * tokens * 12 + self.random.below(500);
        self.at_ms += took_us.div_ceil(1_000);
        self.runs += 1;
        let after = self.now(WEIGHTS_BYTES + slack);
        let items = u32::try_from(texts).unwrap_or(u32::MAX);
        let report = RunReport { model: MODEL.into(), outcome: "ok".into(), took_us, items, queued, after };
        self.push(Event::Run(report));
        let freed_bytes = slack - LEFT_BYTES;
        if freed_bytes > 0 {
            self.shrinkages += 1;
            let report = ShrinkReport {
                freed_bytes,
                reserved_after_bytes: WEIGHTS_BYTES + LEFT_BYTES,
                took_us: 20,
                trim_us: (freed_bytes >> 20) * 350,
                targets: vec![DEVICE.into()],
            };
            self.push(Event::Shrink(Shrink { cause: "shrink-every".into(), report }));
        }
    }

    fn available(&mut self, available_bytes: u64) {
        self.push(Event::Pressure { available_bytes, total_bytes: TOTAL_BYTES });
    }

    fn sample(&mut self) {
        let sample = self.now(WEIGHTS_BYTES + LEFT_BYTES);
        self.push(Event::Sample(sample));
    }

    fn push(&mut self, event: Event) {
        self.entries.push(Entry { at_ms: self.at_ms, event });
    }

    fn now(&self, reserved_bytes: u64) -> Sample {
        let arena = Arena {
            device: DEVICE.into(),
            in_use_bytes: WEIGHTS_BYTES,
            reserved_bytes,
            peak_in_use_bytes: reserved_bytes,
            limit_bytes: None,
            regions: 2 + u64::from(reserved_bytes > WEIGHTS_BYTES + LEFT_BYTES),
            shrinkages: self.shrinkages,
        };
        Sample {
            model: MODEL.into(),
            at_ms: self.at_ms,
            resident_bytes: reserved_bytes + 40 * MIB,
            private_bytes: reserved_bytes + 10 * MIB,
            runs: self.runs,
            arenas: vec![arena],
            pools: Vec::new(),
        }
    }

    fn finish(mut self) -> Trace {
        self.at_ms += 120_000;
        self.sample();
        let after_load = Recorder::new(0).now(WEIGHTS_BYTES + LEFT_BYTES);
        let (kind, provider) = ("embeddings".into(), "cpu".into());
        let head = Head { version: VERSION, kind, provider, load_ms: Some(LOAD_MS), after_load };
        Trace { head, entries: self.entries }
    }
}

const MODEL: &str = "mixed";
const DEVICE: &str = "cpu:0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_workload_and_all_of_it_happens() {
        let trace = Workload::LONG.trace();
        assert_eq!(trace, Workload::LONG.trace());
        let runs: Vec<&RunReport> = trace
            .entries
            .iter()
            .filter_map(|entry| match &entry.event {
                Event::Run(run) => Some(run),
                _ => None,
            })
            .collect();
        assert!((5_000..100_000).contains(&runs.len()), "{} requests", runs.len());
        assert!(runs.iter().any(|run| run.queued > 0) && runs.iter().any(|run| run.items == 1));
        let gaps = trace.entries.windows(2).map(|pair| pair[1].at_ms - pair[0].at_ms);
        assert!(gaps.max() > Some(1_800_000), "the model never rests for long");
        let short = trace.entries.iter().filter(|entry| {
            matches!(entry.event, Event::Pressure { available_bytes, total_bytes } if available_bytes < total_bytes / 6)
        });
        assert!(short.count() > 5, "memory is hardly ever short");
        assert!(trace.entries.is_sorted_by_key(|entry| entry.at_ms));
    }
}
