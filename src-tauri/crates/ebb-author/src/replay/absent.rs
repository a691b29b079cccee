//! The models of a replay: the recorded one can be looked at, and none can be used.

use std::sync::Mutex;

use bytes::Bytes;
use ebb_core::{Code, Failure, Generation, Sample, ShrinkReport, Target, options::OptionLine};
use ebb_plugins::{ModelSummary, Models, PluginFuture, TextStream, Vectors};

/// Samples that a policy can look back on.
const KEPT: usize = 512;

/// What the recorded model held so far.
#[derive(Debug, Default)]
pub(super) struct Recorded(Mutex<Vec<Sample>>);

impl Recorded {
    /// Adds what it holds now.
    pub(super) fn add(&self, sample: Sample) {
        let mut samples = self.samples();
        if samples.len() == KEPT {
            samples.remove(0);
        }
        samples.push(sample);
    }

    fn samples(&self) -> std::sync::MutexGuard<'_, Vec<Sample>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Models for Recorded {
    fn list(&self) -> Vec<ModelSummary> {
        Vec::new()
    }

    fn latest(&self, alias: &str) -> Result<Sample, Failure> {
        let newest = self.samples().last().filter(|sample| sample.model == alias).cloned();
        newest.ok_or_else(|| Failure::new(Code::NotFound, format!("no model '{alias}' in this recording")))
    }

    fn history(&self, alias: &str, count: u32) -> Result<Vec<Sample>, Failure> {
        self.latest(alias)?;
        let samples = self.samples();
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(samples.len());
        Ok(samples[samples.len() - count..].to_vec())
    }

    fn shrink<'a>(&'a self, _: &'a str, _: Option<Vec<Target>>) -> PluginFuture<'a, ShrinkReport> {
        absent()
    }

    fn shrink_after_next_run<'a>(&'a self, _: &'a str, _: Option<Vec<Target>>) -> PluginFuture<'a, ()> {
        absent()
    }

    fn set_runtime_option<'a>(&'a self, _: &'a str, _: &'a str, _: &'a str) -> PluginFuture<'a, ()> {
        absent()
    }

    fn runtime_options<'a>(&'a self, _: &'a str) -> PluginFuture<'a, Vec<OptionLine>> {
        absent()
    }

    fn embed<'a>(&'a self, _: &'a str, _: Vec<String>) -> PluginFuture<'a, Vectors> {
        absent()
    }

    fn count_tokens<'a>(&'a self, _: &'a str, _: Vec<String>) -> PluginFuture<'a, Vec<u32>> {
        absent()
    }

    fn generate<'a>(&'a self, _: &'a str, _: Generation) -> PluginFuture<'a, Box<dyn TextStream>> {
        absent()
    }

    fn transcribe<'a>(&'a self, _: &'a str, _: Bytes, _: Option<String>) -> PluginFuture<'a, String> {
        absent()
    }
}

fn absent<'a, T: Send + 'a>() -> PluginFuture<'a, T> {
    let failure = Failure::new(Code::Unsupported, "a replay has no models that could be used");
    Box::pin(std::future::ready(Err(failure)))
}
