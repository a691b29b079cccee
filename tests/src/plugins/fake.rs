//! Models that need no worker, for plugins.

use std::sync::Arc;

use bytes::Bytes;
use ebb_core::{
    Code, Failure, GenerateFigures, Generation, Memory, ModelKind, Sample, ShrinkReport, Target,
    options::OptionLine,
};
use ebb_plugins::{ModelSummary, Models, PluginFuture, TextStream, Vectors};
use tokio::sync::Notify;

/// Every model is there and loaded, but for `no-such`.
#[derive(Debug, Default)]
pub struct FakeModels {
    /// Told when a generation is dropped.
    pub generation_ended: Arc<Notify>,
}

/// A sample of a model that holds next to nothing.
pub fn sample(model: &str) -> Sample {
    Sample::new(model, 5, 1, Memory { resident_bytes: 7, ..Memory::default() })
}

fn ready<'a, T: Send + 'a>(result: Result<T, Failure>) -> PluginFuture<'a, T> {
    Box::pin(std::future::ready(result))
}

impl Models for FakeModels {
    fn list(&self) -> Vec<ModelSummary> {
        let summary = |alias: &str| ModelSummary {
            alias: alias.to_owned(),
            kind: ModelKind::Embeddings,
            loaded: true,
            provider: None,
            context_tokens: None,
            dimensions: Some(2),
        };
        vec![summary("m"), summary("not-granted")]
    }

    fn latest(&self, alias: &str) -> Result<Sample, Failure> {
        if alias == "no-such" {
            return Err(Failure::new(Code::NotFound, "there is no model 'no-such'"));
        }
        Ok(sample(alias))
    }

    fn history(&self, alias: &str, count: u32) -> Result<Vec<Sample>, Failure> {
        Ok(vec![sample(alias); count.min(2) as usize])
    }

    fn shrink<'a>(&'a self, alias: &'a str, targets: Option<Vec<Target>>) -> PluginFuture<'a, ShrinkReport> {
        ready(Ok(ShrinkReport {
            model: alias.to_owned(),
            freed_bytes: 1,
            reserved_before_bytes: 2,
            reserved_after_bytes: 1,
            resident_before_bytes: 2,
            resident_after_bytes: 1,
            private_before_bytes: 2,
            private_after_bytes: 1,
            took_us: 1,
            trim_us: 0,
            targets: targets.unwrap_or_default(),
            dropped: Vec::new(),
            pools_dropped: Vec::new(),
        }))
    }

    fn shrink_after_next_run<'a>(&'a self, _: &'a str, _: Option<Vec<Target>>) -> PluginFuture<'a, ()> {
        ready(Ok(()))
    }

    fn set_runtime_option<'a>(&'a self, _: &'a str, _: &'a str, _: &'a str) -> PluginFuture<'a, ()> {
        ready(Ok(()))
    }

    fn runtime_options<'a>(&'a self, _: &'a str) -> PluginFuture<'a, Vec<OptionLine>> {
        ready(Ok(Vec::new()))
    }

    fn embed<'a>(&'a self, _: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vectors> {
        let count = texts.len() as u32;
        let vector: Vec<u8> = [1.0_f32, 0.0].iter().flat_map(|one| one.to_le_bytes()).collect();
        ready(Ok(Vectors { dimensions: 2, count, data: vector.repeat(texts.len()).into() }))
    }

    fn count_tokens<'a>(&'a self, _: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vec<u32>> {
        ready(Ok(texts.iter().map(|text| text.split_whitespace().count() as u32).collect()))
    }

    fn generate<'a>(&'a self, _: &'a str, _: Generation) -> PluginFuture<'a, Box<dyn TextStream>> {
        let words = vec!["three", "two", "one"];
        ready(Ok(Box::new(Words { words, ended: Arc::clone(&self.generation_ended) })))
    }

    fn transcribe<'a>(&'a self, _: &'a str, _: Bytes, _: Option<String>) -> PluginFuture<'a, String> {
        ready(Ok("heard".to_owned()))
    }
}

struct Words {
    words: Vec<&'static str>,
    ended: Arc<Notify>,
}

impl TextStream for Words {
    fn next<'a>(&'a mut self) -> PluginFuture<'a, Option<String>> {
        ready(Ok(self.words.pop().map(ToOwned::to_owned)))
    }

    fn figures(&self) -> Option<GenerateFigures> {
        None
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.ended.notify_one();
    }
}
