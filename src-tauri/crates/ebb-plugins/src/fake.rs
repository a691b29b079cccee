//! Models without a host, for tests of everything around them. Deterministic: a vector holds two numbers, a token is a word,
//! a generation says the last message again, a word a piece, a transcription tells how many samples it heard.

use std::{
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
};

use bytes::Bytes;
use ebb_core::{
    Code, Failure, GenerateFigures, Generation, Memory, ModelKind, Sample, ShrinkReport, Target,
    options::{OptionLine, Scope},
};

use crate::{ModelSummary, Models, PluginFuture, TextStream, Vectors};

/// Models that are all loaded: `m` for embeddings, `chat`, and `ears` for speech.
#[derive(Debug, Default)]
pub struct FakeModels {
    hangs: AtomicBool,
    /// Calls that wait for an answer.
    waiting: Arc<AtomicU64>,
    /// Generations that were neither ended nor dropped.
    generating: Arc<AtomicU64>,
    shrunk: Mutex<Vec<Option<Vec<Target>>>>,
    options: Mutex<Vec<(String, String)>>,
}

impl FakeModels {
    /// From now on, calls that need a model are never answered; or they are again.
    pub fn hang(&self, hangs: bool) {
        self.hangs.store(hangs, SeqCst);
    }

    /// Calls that wait for an answer.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(SeqCst)
    }

    /// Generations that were neither ended nor dropped.
    pub fn generating(&self) -> u64 {
        self.generating.load(SeqCst)
    }

    /// What was shrunk so far, at once or after the next run; `None` is every arena.
    pub fn shrunk(&self) -> Vec<Option<Vec<Target>>> {
        held(&self.shrunk).clone()
    }

    fn answer<'a, T: Send + 'a>(&self, answer: impl FnOnce() -> T + Send + 'a) -> PluginFuture<'a, T> {
        let (waiting, hangs) = (Counted::one(&self.waiting), self.hangs.load(SeqCst));
        Box::pin(async move {
            let _until_dropped = waiting;
            if hangs {
                pending::<()>().await;
            }
            Ok(answer())
        })
    }
}

impl Models for FakeModels {
    fn list(&self) -> Vec<ModelSummary> {
        let summary = |(alias, kind): (&str, ModelKind)| ModelSummary {
            alias: alias.to_owned(),
            kind,
            loaded: true,
            provider: Some("cpu".to_owned()),
            context_tokens: Some(512),
            dimensions: (kind == ModelKind::Embeddings).then_some(2),
        };
        [("m", ModelKind::Embeddings), ("chat", ModelKind::Chat), ("ears", ModelKind::Audio)]
            .map(summary)
            .to_vec()
    }

    fn latest(&self, alias: &str) -> Result<Sample, Failure> {
        if self.list().iter().all(|model| model.alias != alias) {
            return Err(Failure::new(Code::NotFound, format!("there is no model '{alias}'")));
        }
        Ok(Sample::new(alias, 5, 1, Memory { resident_bytes: 7, ..Memory::default() }))
    }

    fn history(&self, alias: &str, count: u32) -> Result<Vec<Sample>, Failure> {
        Ok(vec![self.latest(alias)?; count.min(2) as usize])
    }

    fn shrink<'a>(&'a self, alias: &'a str, targets: Option<Vec<Target>>) -> PluginFuture<'a, ShrinkReport> {
        held(&self.shrunk).push(targets.clone());
        self.answer(move || ShrinkReport {
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
        })
    }

    fn shrink_after_next_run<'a>(
        &'a self,
        _alias: &'a str,
        targets: Option<Vec<Target>>,
    ) -> PluginFuture<'a, ()> {
        held(&self.shrunk).push(targets);
        self.answer(|| ())
    }

    fn set_runtime_option<'a>(
        &'a self,
        _alias: &'a str,
        key: &'a str,
        value: &'a str,
    ) -> PluginFuture<'a, ()> {
        let mut options = held(&self.options);
        options.retain(|(held, _)| held != key);
        if !value.is_empty() {
            options.push((key.to_owned(), value.to_owned()));
        }
        self.answer(|| ())
    }

    fn runtime_options<'a>(&'a self, _alias: &'a str) -> PluginFuture<'a, Vec<OptionLine>> {
        let line = |(key, value): &(String, String)| OptionLine {
            scope: Scope::Run,
            key: key.clone(),
            requested: value.clone(),
            forwarded: None,
            effective: None,
            note: None,
            warning: false,
        };
        let lines = held(&self.options).iter().map(line).collect();
        self.answer(|| lines)
    }

    fn embed<'a>(&'a self, _alias: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vectors> {
        self.answer(move || {
            let vector: Vec<u8> = [0.6_f32, 0.8].iter().flat_map(|number| number.to_le_bytes()).collect();
            let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            Vectors { dimensions: 2, count, data: vector.repeat(texts.len()).into() }
        })
    }

    fn count_tokens<'a>(&'a self, _alias: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vec<u32>> {
        let words = |text: &String| u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
        self.answer(move || texts.iter().map(words).collect())
    }

    fn generate<'a>(
        &'a self,
        _alias: &'a str,
        generation: Generation,
    ) -> PluginFuture<'a, Box<dyn TextStream>> {
        let last = generation.messages.last().map(|message| message.content.clone()).unwrap_or_default();
        let mut words: Vec<String> = last.split_whitespace().map(|word| format!("{word} ")).collect();
        words.reverse();
        let said = Said { words, told: 0, running: Some(Counted::one(&self.generating)) };
        self.answer(move || Box::new(said) as Box<dyn TextStream>)
    }

    fn transcribe<'a>(
        &'a self,
        _alias: &'a str,
        samples: Bytes,
        _language: Option<String>,
    ) -> PluginFuture<'a, String> {
        self.answer(move || format!("{} samples", samples.len() / size_of::<f32>()))
    }
}

/// A generation; the words to come are in reverse.
struct Said {
    words: Vec<String>,
    told: u32,
    running: Option<Counted>,
}

impl TextStream for Said {
    fn next<'a>(&'a mut self) -> PluginFuture<'a, Option<String>> {
        let word = self.words.pop();
        match &word {
            Some(_) => self.told += 1,
            None => self.running = None,
        }
        Box::pin(async { Ok(word) })
    }

    fn figures(&self) -> Option<GenerateFigures> {
        let figures = GenerateFigures { completion_tokens: self.told, ..GenerateFigures::default() };
        self.running.is_none().then_some(figures)
    }
}

/// One more, until it is dropped.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn one(count: &Arc<AtomicU64>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) use scene::{Scene, grant, manifest};

#[cfg(test)]
mod scene {
    use std::collections::BTreeMap;

    use ebb_core::{Capability, Json, PluginManifest, PluginWorld, operations::Grant};

    use super::*;
    use crate::{PluginConfig, guest::Guest, plugin::Shared};

    /// A pipeline without code: what its guests are told is looked at one call at a time.
    pub(crate) struct Scene {
        pub(crate) folder: tempfile::TempDir,
        pub(crate) models: Arc<FakeModels>,
        pub(crate) plugin: Arc<Shared>,
    }

    impl Scene {
        pub(crate) fn new(grants: Vec<Grant>) -> Self {
            let (folder, models) = (tempfile::tempdir().unwrap(), Arc::new(FakeModels::default()));
            let config = PluginConfig {
                manifest: manifest(),
                data_folder: folder.path().to_owned(),
                grants,
                settings: BTreeMap::new(),
            };
            let plugin = Arc::new(Shared::new(Arc::clone(&models) as Arc<dyn Models>, config));
            Self { folder, models, plugin }
        }

        /// A guest in a call.
        pub(crate) fn guest(&self) -> Guest {
            Guest::new(Arc::clone(&self.plugin))
        }
    }

    pub(crate) fn manifest() -> PluginManifest {
        let schema = serde_json::json!({
            "properties": {"chunk": {"type": "integer", "default": 200, "minimum": 10}}
        });
        PluginManifest {
            id: "p".to_owned(),
            name: "P".to_owned(),
            version: "1.0.0".to_owned(),
            description: "A plugin.".to_owned(),
            author: "A".to_owned(),
            licence: "MIT".to_owned(),
            homepage: None,
            world: PluginWorld::RagPipeline,
            contract: crate::CONTRACT.to_owned(),
            capabilities: Vec::new(),
            limits: ebb_core::PluginLimits::default(),
            settings: Some(Json(schema)),
            promise: None,
        }
    }

    pub(crate) fn grant(capability: Capability, models: &[&str]) -> Grant {
        let models = models.iter().map(ToString::to_string).collect();
        Grant { capability, models, paths: Vec::new() }
    }
}
