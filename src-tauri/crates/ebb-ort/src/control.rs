//! The controls of a loaded model: what it holds, and giving that back, also while a job runs.

use std::{
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::{Duration, Instant},
};

use ebb_core::{
    ArenaSample, Code, Control, DroppedPool, DroppedTarget, Failure, Memory, Pool, ShrinkReport, Target,
    options::{self, OptionLine},
};

use ebb_chat::Language;

use crate::{Error, generate::Caches, held::Held, process, provider::Chosen, sys, tokens::TextTokenizer};

/// Controls of all the sessions that a model has: several for a model of several files.
#[derive(Debug)]
pub(crate) struct OrtControl {
    alias: String,
    provider: Chosen,
    weights_bytes: u64,
    targets: Vec<Target>,
    /// `None` once the model is closed.
    held: RwLock<Option<Arc<Held>>>,
    counter: OnceLock<Counter>,
}

/// What counts a model's tokens.
#[derive(Debug)]
pub(crate) enum Counter {
    Texts(Arc<TextTokenizer>),
    Chat(Arc<Language>),
}

impl OrtControl {
    /// Controls for these sessions. `file_bytes` is the size of the weights on disk: an arena holds only those that were
    /// packed or copied for the run, the others lie as they were read.
    pub(crate) fn new(alias: &str, provider: &Chosen, file_bytes: u64, held: Arc<Held>) -> Self {
        let mut targets: Vec<Target> = held.arenas.iter().map(crate::arena::Arena::target).collect();
        targets.sort();
        targets.dedup();
        let in_use = held.cpu_stats().map_or(0, |stats| stats.in_use_bytes);
        Self {
            alias: alias.to_owned(),
            provider: provider.clone(),
            weights_bytes: file_bytes.max(in_use),
            targets,
            held: RwLock::new(Some(held)),
            counter: OnceLock::new(),
        }
    }

    /// Counts tokens with this from now on.
    pub(crate) fn count_with(&self, counter: Counter) {
        // Told once, by whoever loads the model.
        let _first = self.counter.set(counter);
    }

    /// Arenas that a shrink can reach.
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Lets go of the arenas, so that they go with their sessions, whoever still has these controls.
    pub(crate) fn close(&self) {
        self.held.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn held(&self) -> Option<Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One sample for each device: the arenas of all sessions on it together.
    fn arenas(held: Option<&Held>) -> Result<Vec<ArenaSample>, Error> {
        let mut samples: Vec<ArenaSample> = Vec::new();
        for arena in held.into_iter().flat_map(|held| &held.arenas) {
            let one = arena.sample()?;
            match samples.iter_mut().find(|sum| sum.device == one.device) {
                Some(sum) => add(sum, &one),
                None => samples.push(one),
            }
        }
        Ok(samples)
    }

    /// Splits what was asked for into what a tick reaches now and what it does not, with the reason.
    fn sort(&self, held: Option<&Held>, asked: Option<&[Target]>) -> (Vec<Target>, Vec<DroppedTarget>) {
        let (mut now, mut dropped) = (Vec::new(), Vec::new());
        for &target in asked.unwrap_or(&self.targets) {
            let reason = match target {
                _ if !self.targets.contains(&target) => {
                    self.provider.no_arena(target, !self.targets.contains(&Target::cpu(0)))
                }
                Target::Cpu(_) => {
                    now.push(target);
                    continue;
                }
                Target::Gpu(_) => {
                    if let Some(held) = held {
                        held.shrink_on_next_run(target);
                    }
                    "takes effect at the end of the model's next run: a GPU arena is reached only by a run of its own \
                     session"
                        .to_owned()
                }
            };
            tracing::info!(model = self.alias, %target, reason, "a shrink target was dropped");
            dropped.push(DroppedTarget { target, reason });
        }
        (now, dropped)
    }

    fn shrink_now(&self, asked: Option<&[Target]>, caches_too: bool) -> Result<ShrinkReport, Error> {
        let held = self.held();
        let held = held.as_deref();
        let (targets, dropped) = self.sort(held, asked);
        let reserved = || -> Result<u64, Error> {
            let arenas = Self::arenas(held)?;
            let shrunk = arenas.iter().filter(|arena| targets.contains(&arena.device));
            Ok(shrunk.map(|arena| arena.reserved_bytes).sum())
        };
        let (before, reserved_before_bytes) = (process::memory()?, reserved()?);
        let started = Instant::now();
        // First what fills regions of the arena though nobody needs it now: a region is given back only when wholly free.
        let dropped_pool = if caches_too { Self::drop_caches(held, asked) } else { None };
        let pools_dropped: Vec<DroppedPool> = dropped_pool.into_iter().collect();
        if !targets.is_empty() {
            held.map_or(Ok(()), Held::shrink_cpu)?;
        }
        let took = started.elapsed();
        let reserved_after_bytes = reserved()?;
        let freed_bytes = reserved_before_bytes.saturating_sub(reserved_after_bytes);
        let trim =
            if freed_bytes > 0 || !pools_dropped.is_empty() { timed(sys::trim_heap) } else { Duration::ZERO };
        let after = process::memory()?;
        Ok(ShrinkReport {
            model: self.alias.clone(),
            freed_bytes,
            reserved_before_bytes,
            reserved_after_bytes,
            resident_before_bytes: before.resident_bytes,
            resident_after_bytes: after.resident_bytes,
            private_before_bytes: before.private_bytes,
            private_after_bytes: after.private_bytes,
            took_us: microseconds(took),
            trim_us: microseconds(trim),
            targets,
            dropped,
            pools_dropped,
        })
    }

    /// Drops idle caches, if what was asked for has to do with where they lie.
    fn drop_caches(held: Option<&Held>, asked: Option<&[Target]>) -> Option<DroppedPool> {
        let caches = held?.caches.get()?;
        let meant = asked.is_none_or(|asked| asked.contains(&caches.device()));
        meant.then(|| caches.drop_idle()).flatten()
    }
}

impl Control for OrtControl {
    fn memory(&self) -> Result<Memory, Failure> {
        let held = self.held();
        let arenas = Self::arenas(held.as_deref())?;
        let process = process::memory().map_err(Error::from)?;
        let caches = held.as_deref().and_then(|held| held.caches.get());
        let weights = Pool { name: "weights".to_owned(), bytes: self.weights_bytes, droppable: false };
        Ok(Memory {
            resident_bytes: process.resident_bytes,
            private_bytes: process.private_bytes,
            arenas,
            pools: [weights].into_iter().chain(caches.into_iter().flat_map(Caches::pools)).collect(),
        })
    }

    fn shrink(&self, targets: Option<&[Target]>) -> Result<ShrinkReport, Failure> {
        self.shrink_and_say(targets, true)
    }

    fn shrink_slack(&self, targets: Option<&[Target]>) -> Result<ShrinkReport, Failure> {
        self.shrink_and_say(targets, false)
    }

    fn judge_run_option(&self, key: &str, value: &str) -> Result<OptionLine, Failure> {
        options::judge_run_option(key, value, &self.targets)
    }

    fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, Failure> {
        let count = |text: &String| match self.counter.get() {
            Some(Counter::Texts(tokenizer)) => {
                tokenizer.count(text).map_err(|why| Error::request(why, "texts").into())
            }
            Some(Counter::Chat(language)) => language.count_tokens(text).map_err(Failure::from),
            None => Err(Failure::new(Code::Unsupported, format!("'{}' has no tokenizer", self.alias))
                .hint("an embedding or a chat model has one")
                .param("model")),
        };
        texts.iter().map(count).collect()
    }
}

impl OrtControl {
    fn shrink_and_say(&self, targets: Option<&[Target]>, caches_too: bool) -> Result<ShrinkReport, Failure> {
        let span = tracing::info_span!("shrink", model = self.alias);
        let _entered = span.enter();
        let report = self.shrink_now(targets, caches_too)?;
        tracing::debug!(
            before_bytes = report.reserved_before_bytes,
            after_bytes = report.reserved_after_bytes,
            took_us = report.took_us,
            trim_us = report.trim_us,
            "shrunk"
        );
        Ok(report)
    }
}

fn add(sum: &mut ArenaSample, one: &ArenaSample) {
    sum.in_use_bytes += one.in_use_bytes;
    sum.reserved_bytes += one.reserved_bytes;
    sum.peak_in_use_bytes += one.peak_in_use_bytes;
    sum.limit_bytes = sum.limit_bytes.zip(one.limit_bytes).map(|(sum, one)| sum + one);
    sum.regions += one.regions;
    sum.shrinkages += one.shrinkages;
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
