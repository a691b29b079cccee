//! Plugins in a real host: real components in the sandbox, mostly with workers whose session is a fake.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

#[cfg(unix)]
mod cut_off;
mod development;
mod grants;
mod installed;
mod pipelines;
mod policies;
mod pressure;
mod questions;
#[cfg(target_os = "linux")]
mod slack;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use ebb_api::{Host, MemoryWatch, Settings};
use ebb_core::{
    Code, Event, EventKind, Failure, Json, LoadOptions, Places, PluginManifest,
    operations::{AddModel, AttachPlugin, EmbedRequest, PluginEntry, PluginSettings},
};
use ebb_plugins::{Component, manifest};
use ebb_tests::{
    home::{program, runtime_library},
    plugins::shipped,
};
use tempfile::TempDir;
use tokio::{sync::broadcast, time::timeout};

/// What is bound to happen is waited for this long: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A host in a folder of its own.
struct Scene {
    host: Host,
    events: broadcast::Receiver<Event>,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self::open(tempfile::tempdir().unwrap(), fakes())
    }

    /// One that sees the memory of the system as it is told.
    fn watching(watch: MemoryWatch) -> Self {
        Self::open(tempfile::tempdir().unwrap(), Settings { memory_watch: Some(watch), ..fakes() })
    }

    /// One with real workers: this program.
    fn real(folder: TempDir, worker: PathBuf) -> Self {
        let settings = Settings {
            worker_program: Some(worker),
            runtime_library: Some(runtime_library()),
            ..Settings::default()
        };
        Self::open(folder, settings)
    }

    fn open(folder: TempDir, settings: Settings) -> Self {
        Self::try_open(&folder, settings).map(|host| Self { events: host.events(), host, folder }).unwrap()
    }

    fn try_open(folder: &TempDir, settings: Settings) -> Result<Host, Failure> {
        let places = Places { home: folder.path().join("home"), cache: compiled_folder() };
        Host::open(places, Settings { bundled_plugins: Some(shipped()), ..settings })
    }

    /// Ends the host and opens it again, where its models come back.
    async fn restart(self) -> Self {
        let Self { host, folder, .. } = self;
        host.close(Duration::from_secs(10)).await.unwrap();
        drop(host);
        // What looks after models may hold the host for a moment longer.
        let host = loop {
            match Self::try_open(&folder, fakes()) {
                Err(failure) if failure.code == Code::Conflict => {
                    tokio::time::sleep(Duration::from_millis(5)).await
                }
                opened => break opened.unwrap(),
            }
        };
        let scene = Self { events: host.events(), host, folder };
        while !scene.host.status().await.unwrap().coming_back.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        scene
    }

    /// Adds a model with a fake session; what it is for follows from its name.
    async fn add(&self, alias: &str) {
        let path = self.folder.path().join(alias);
        std::fs::create_dir_all(&path).unwrap();
        self.host.add_model(AddModel { path, alias: Some(alias.to_owned()) }).await.unwrap();
    }

    /// Adds a model and loads it.
    async fn load(&self, alias: &str) {
        self.add(alias).await;
        // Nobody else decides.
        let options = LoadOptions { shrink_every: Some(0), ..LoadOptions::default() };
        self.host.load(alias, options, false).await.unwrap();
    }

    /// A request that leaves so many bytes of slack.
    async fn embed(&self, alias: &str, bytes: usize) {
        let request = EmbedRequest { texts: vec!["x".repeat(bytes)], ..EmbedRequest::default() };
        self.host.embed(alias, request).await.unwrap();
    }

    /// Attaches a policy and grants it what it asks for.
    async fn attach(&self, plugin: &str, model: &str) -> PluginEntry {
        let attach = AttachPlugin { model: model.to_owned(), position: None, grant: true };
        self.host.attach_plugin(plugin, attach).await.unwrap()
    }

    /// Has `slack` shrink after each request that leaves any slack.
    async fn eager_slack(&self) {
        self.set("slack", &[("slack_mib", 0.into()), ("ratio", 1.into()), ("runs_between", 1.into())]).await;
    }

    async fn set(&self, plugin: &str, settings: &[(&str, serde_json::Value)]) {
        let settings =
            settings.iter().map(|(name, value)| ((*name).to_owned(), Json(value.clone()))).collect();
        self.host.set_plugin_settings(plugin, PluginSettings { settings }).await.unwrap();
    }

    async fn entry(&self, plugin: &str) -> PluginEntry {
        self.host.plugin(plugin).await.unwrap()
    }

    /// The next event that is wanted.
    async fn event<T>(&mut self, mut wanted: impl FnMut(Event) -> Option<T>) -> T {
        let found = async {
            loop {
                if let Some(found) = wanted(self.events.recv().await.unwrap()) {
                    return found;
                }
            }
        };
        timeout(PATIENCE, found).await.expect("the event comes")
    }

    /// The next decision: whose, and what.
    async fn decision(&mut self) -> (String, String) {
        self.event(|event| match event.kind {
            EventKind::Policy { policy, decision, .. } => Some((policy, decision)),
            _ => None,
        })
        .await
    }

    /// The next shrink: who caused it.
    async fn shrink(&mut self) -> String {
        self.event(|event| match event.kind {
            EventKind::Shrink { cause, .. } => Some(cause),
            _ => None,
        })
        .await
    }

    /// Waits until something holds.
    async fn until(&self, mut holds: impl AsyncFnMut(&Host) -> bool) {
        let waiting = async {
            while !holds(&self.host).await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("it comes to hold");
    }
}

fn fakes() -> Settings {
    Settings { worker_program: Some(program("fake-worker")), ..Settings::default() }
}

/// One for all tests: each component is compiled once.
fn compiled_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins")
}

/// A shipped plugin that calls itself something else.
fn variant(of: &str, change: impl FnOnce(&mut PluginManifest)) -> Vec<u8> {
    let bytes = std::fs::read(shipped().join(of).with_extension("wasm")).unwrap();
    let mut changed = Component::read(&bytes).unwrap().manifest;
    change(&mut changed);
    manifest::embed(&bytes, &changed).unwrap()
}

/// The same, as a file.
fn variant_file(folder: &Path, of: &str, change: impl FnOnce(&mut PluginManifest)) -> PathBuf {
    let path = folder.join("variant.wasm");
    std::fs::write(&path, variant(of, change)).unwrap();
    path
}
