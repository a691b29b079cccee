//! Guests that misbehave (`tests/guests`): each is contained, the reason is told, and others go on.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod components;
mod pipeline;
mod policy;

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use bytes::Bytes;
use ebb_core::{
    Capability, Code, Failure, GenerateFigures, Generation, Memory, ModelKind, Sample, ShrinkReport, Target,
    operations::Grant, options::OptionLine,
};
use ebb_plugins::{
    Compiled, ModelSummary, Models, Plugin, PluginConfig, PluginFuture, Sandbox, SandboxConfig, TextStream,
    Vectors,
};
use tokio::sync::Notify;

/// Built once for all tests of this program.
struct Guests {
    /// Where what was compiled of them is kept.
    compiled: tempfile::TempDir,
    policy: Vec<u8>,
    pipeline: Vec<u8>,
}

static GUESTS: LazyLock<Guests> = LazyLock::new(|| {
    let built = |name| std::fs::read(ebb_tests::plugins::hostile(name)).unwrap();
    Guests { compiled: tempfile::tempdir().unwrap(), policy: built("policy"), pipeline: built("pipeline") }
});

/// A sandbox with models that need no worker.
struct Scene {
    home: tempfile::TempDir,
    models: Arc<FakeModels>,
    sandbox: Sandbox,
}

impl Scene {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let models = Arc::new(FakeModels::default());
        // Compiled once for all: the folder is shared.
        let config = SandboxConfig { compiled_folder: GUESTS.compiled.path().to_owned() };
        let sandbox = Sandbox::new(config, Arc::clone(&models) as Arc<dyn Models>).unwrap();
        Self { home, models, sandbox }
    }

    fn compiled(&self, component: &[u8]) -> Compiled {
        self.sandbox.compile(component, &mut |_| {}).unwrap()
    }

    /// The plugin, with all that it asks for granted on the models named.
    fn plugin(&self, component: &[u8], models: &[&str], paths: Vec<PathBuf>) -> Plugin {
        let manifest = ebb_plugins::Component::read(component).unwrap().manifest;
        let granted = |capability: Capability| Grant {
            capability,
            models: if capability.is_of_models() {
                models.iter().map(ToString::to_string).collect()
            } else {
                Vec::new()
            },
            paths: if capability == Capability::Documents { paths.clone() } else { Vec::new() },
        };
        let config = PluginConfig {
            grants: manifest.capabilities.iter().map(|asked| granted(asked.capability)).collect(),
            data_folder: self.home.path().join(&manifest.id),
            manifest,
            settings: std::collections::BTreeMap::new(),
        };
        Plugin::new(&self.sandbox, self.compiled(component), config).unwrap()
    }
}

/// Every model is there and loaded, but for `no-such`.
#[derive(Default)]
struct FakeModels {
    /// Told when a generation is dropped.
    generation_ended: Arc<Notify>,
}

fn sample(model: &str) -> Sample {
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
