//! The operations that a window is made of: checks of options, recordings, replays, events with their history, every model
//! shrunk at once, imports. Real hosts, mostly with workers whose session is a fake.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod imports;
mod recordings;
#[cfg(unix)]
mod told;
#[cfg(unix)]
mod typed;

use std::{path::Path, time::Duration};

use ebb_api::{Host, MemoryWatch, Settings};
use ebb_core::{
    Code, LoadOptions, Places,
    operations::{AddModel, EmbedRequest, ShrinkRequest},
};
use ebb_tests::{home::program, plugins::shipped};
use tempfile::TempDir;
use tokio::time::timeout;

/// What is bound to happen is waited for this long: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A host with fake workers, in a folder of its own.
struct Scene {
    host: Host,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self::open(Settings::default())
    }

    /// One that sees the memory of the system as it is told.
    fn watching(look: impl Fn() -> (u64, u64) + Send + Sync + 'static) -> Self {
        Self::open(Settings { memory_watch: Some(MemoryWatch::new(look)), ..Settings::default() })
    }

    fn open(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins");
        let places = Places { home: folder.path().join("home"), cache };
        let settings = Settings {
            worker_program: settings.worker_program.or_else(|| Some(program("fake-worker"))),
            bundled_plugins: Some(shipped()),
            ..settings
        };
        Self { host: Host::open(places, settings).unwrap(), folder }
    }

    /// Adds a model and loads it.
    async fn load(&self, alias: &str, options: LoadOptions) {
        let path = self.folder.path().join(alias);
        std::fs::create_dir_all(&path).unwrap();
        self.host.add_model(AddModel { path, alias: Some(alias.to_owned()) }).await.unwrap();
        self.host.load(alias, options, false).await.unwrap();
    }

    /// Has it embed a text that makes its arena grow by so many bytes.
    async fn embed(&self, alias: &str, bytes: usize) {
        let request = EmbedRequest { texts: vec!["x".repeat(bytes)], ..EmbedRequest::default() };
        self.host.embed(alias, request).await.unwrap();
    }
}

/// Waits for what is bound to happen.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.unwrap()
}

#[tokio::test]
async fn every_model_is_shrunk_at_once() {
    let scene = Scene::new();
    assert_eq!(scene.host.shrink_all(ShrinkRequest::default()).await.unwrap(), Default::default());
    for (alias, bytes) in [("a", 100), ("b", 50)] {
        scene.load(alias, LoadOptions::default()).await;
        scene.embed(alias, bytes).await;
    }
    let report = scene.host.shrink_all(ShrinkRequest::default()).await.unwrap();
    let freed: Vec<(&str, u64)> =
        report.reports.iter().map(|report| (report.model.as_str(), report.freed_bytes)).collect();
    assert_eq!((freed, report.freed_bytes), (vec![("a", 100), ("b", 50)], 150));
    assert_eq!(report.failed, []);
}

#[tokio::test]
async fn events_are_told_from_their_history_on_without_gap_or_repeat() {
    let scene = Scene::new();
    scene.load("a", LoadOptions::default()).await;
    for bytes in 1..=20 {
        scene.embed("a", bytes).await;
    }
    let mut from = scene.host.events_from(5, Some("a"));
    assert_eq!(from.history.len(), 5);
    let mut seqs: Vec<u64> = from.history.iter().map(|event| event.seq).collect();
    for bytes in 21..=23 {
        scene.embed("a", bytes).await;
    }
    scene.host.unload("a").await.unwrap();
    loop {
        let event = soon(from.coming.recv()).await.unwrap();
        if event.seq > from.told {
            seqs.push(event.seq);
        }
        if matches!(event.kind, ebb_core::EventKind::Unloaded { .. }) {
            break;
        }
    }
    let whole: Vec<u64> = (seqs[0]..).take(seqs.len()).collect();
    assert_eq!(seqs, whole);
    assert!(scene.host.events_from(0, None).history.is_empty());
}

#[tokio::test]
async fn what_differs_from_the_loaded_options_is_told() {
    let scene = Scene::new();
    let options: LoadOptions =
        serde_json::from_str(r#"{"threads": 2, "arena_options": {"max_mem": "1GiB"}}"#).unwrap();
    scene.load("a", options.clone()).await;
    let same = scene.host.check_options("a", options.clone()).await.unwrap();
    assert!(!same.needs_reload, "{:?}", same.changed);
    let other = LoadOptions { threads: Some(1), arena_options: Default::default(), ..options };
    let check = scene.host.check_options("a", other.clone()).await.unwrap();
    assert_eq!(
        (check.needs_reload, check.changed),
        (true, vec!["arena_options.max_mem".to_owned(), "threads".to_owned()])
    );
    let refused = scene.host.load("a", other, false).await.unwrap_err();
    assert_eq!(refused.code, Code::Conflict, "what a check calls a reload, a load does");
}

#[tokio::test]
async fn the_system_tells_who_holds_what() {
    let scene = Scene::watching(|| (40 << 20, 100 << 20));
    scene.load("a", LoadOptions::default()).await;
    scene.embed("a", 700).await;
    let system = scene.host.system(false).await.unwrap();
    let [model] = &system.models[..] else { panic!("{:?}", system.models) };
    assert_eq!((model.alias.as_str(), model.provider.as_str()), ("a", "cpu"));
    assert_eq!(model.reserved_bytes - model.in_use_bytes, 700);
    assert_eq!(model.arenas[0].reserved_bytes, model.reserved_bytes);
    assert_eq!((system.host.pid, system.folders.len()), (std::process::id(), 0));
    assert!(system.host.resident_bytes > 0);
    let folders = scene.host.system(true).await.unwrap().folders;
    assert!(folders.iter().any(|folder| folder.name == "models"), "{folders:?}");
}
