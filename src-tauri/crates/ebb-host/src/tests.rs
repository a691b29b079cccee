//! The whole host on workers that are threads with a fake session.

mod crashes;
mod policies;

use std::{
    os::unix::net::UnixStream as StdStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use ebb_core::{
    Code, Decision, Event, EventKind, Failure, Figures, Job, JobKind, LoadOptions, LoadSpec, Outcome, Policy,
    RunReport, Sample, ShrinkEvery, Target, fake::FakeSession, operations::ModelState, options::SHRINK_KEY,
};
use tokio::{net::UnixStream, sync::broadcast, time::timeout};

use crate::{Error, HostConfig, Launch, Link, ModelHandle, RunItem, Running, Supervisor};

/// Starts workers as threads; keeps the newest one's pipe, to cut it.
#[derive(Debug, Default)]
struct Threads {
    started: AtomicU32,
    newest: Mutex<Option<StdStream>>,
}

impl Threads {
    /// As if the worker process died.
    fn cut(&self) {
        let pipe = self.newest.lock().unwrap().take().unwrap();
        pipe.shutdown(std::net::Shutdown::Both).unwrap();
    }
}

impl Launch for Threads {
    fn launch(&self, _model: &str) -> Result<Link, Error> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let (host, worker) = StdStream::pair().unwrap();
        *self.newest.lock().unwrap() = Some(worker.try_clone().unwrap());
        let writer = worker.try_clone().unwrap();
        std::thread::spawn(move || {
            let load = |spec: &LoadSpec, _: &mut dyn FnMut(&str)| match spec.path.to_str() {
                Some("broken") => Err(Failure::new(Code::InvalidModel, "not a model")),
                Some("slow") => loop {
                    std::thread::park();
                },
                _ => Ok(FakeSession::new(&spec.alias)),
            };
            let _ended = ebb_worker::serve(load, &worker, writer);
            let _closed = worker.shutdown(std::net::Shutdown::Both);
        });
        host.set_nonblocking(true).unwrap();
        let (reader, writer) = UnixStream::from_std(host).unwrap().into_split();
        Ok(Link { reader: Box::new(reader), writer: Box::new(writer), process: None })
    }
}

struct Scene {
    threads: Arc<Threads>,
    supervisor: Supervisor,
    events: broadcast::Receiver<Event>,
}

impl Scene {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut HostConfig)) -> Self {
        let threads = Arc::new(Threads::default());
        let mut config = HostConfig::new("unused".into());
        config.launch = Arc::clone(&threads) as Arc<dyn Launch>;
        config.restart_first = Duration::from_millis(10);
        change(&mut config);
        let supervisor = Supervisor::new(config);
        Self { threads, events: supervisor.events(), supervisor }
    }

    async fn load(&self, options: LoadOptions, policies: Vec<Box<dyn Policy>>) -> ModelHandle {
        self.supervisor.load(spec("m", options), policies).await.unwrap();
        self.supervisor.model("m").unwrap()
    }

    /// The next event of this kind.
    async fn event<T>(&mut self, mut wanted: impl FnMut(EventKind) -> Option<T>) -> T {
        timeout(Duration::from_secs(20), async {
            loop {
                if let Some(found) = wanted(self.events.recv().await.unwrap().kind) {
                    return found;
                }
            }
        })
        .await
        .expect("the event comes")
    }
}

fn spec(alias: &str, options: LoadOptions) -> LoadSpec {
    LoadSpec {
        alias: alias.to_owned(),
        path: "fake".into(),
        options,
        runtime_library: None,
        runtime_folders: Vec::new(),
    }
}

async fn start(model: &ModelHandle, texts: &[&str]) -> Result<Running, Failure> {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    model.run(&Job::new(JobKind::Embed { texts }), &Bytes::new()).await
}

/// Runs to the end; the number of chunks.
async fn embed(model: &ModelHandle, texts: &[&str]) -> Result<usize, Failure> {
    let mut running = start(model, texts).await?;
    let mut chunks = 0;
    loop {
        match running.next().await.expect("an end") {
            RunItem::Chunk(_) => chunks += 1,
            RunItem::Progress(_) => {}
            RunItem::Done(figures) => {
                assert_eq!(figures.items() as usize, texts.len());
                assert!(running.next().await.is_none());
                return Ok(chunks);
            }
            RunItem::Failed(failure) => return Err(failure),
        }
    }
}

#[tokio::test]
async fn a_model_is_loaded_runs_and_is_unloaded() {
    let mut scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    assert_eq!(model.state(), ModelState::Loaded);
    assert_eq!(embed(&model, &["four", "sixsix", "a", "b", "c", "d"]).await.unwrap(), 6);
    let stats = model.stats().await.unwrap();
    assert_eq!((stats.now.runs, stats.now.slack_bytes(), stats.after_load.slack_bytes()), (1, 6, 0));
    let report = model.shrink(None).await.unwrap();
    assert_eq!(report.freed_bytes, 6);
    assert_eq!(
        scene
            .event(|kind| match kind {
                EventKind::Shrink { cause, report } => Some((cause, report.freed_bytes)),
                _ => None,
            })
            .await,
        ("request".to_owned(), 6)
    );
    let stats = model.stats().await.unwrap();
    assert_eq!((stats.shrinks, stats.freed_bytes), (1, 6));
    let report = scene.supervisor.unload("m").await.unwrap();
    assert!(report.worker_gone && report.freed_bytes > 0, "{report:?}");
    assert!(scene.supervisor.model("m").is_none() && scene.supervisor.models().is_empty());
    assert_eq!(embed(&model, &["x"]).await.unwrap_err().code, Code::NotLoaded);
    assert_eq!(scene.supervisor.unload("m").await.unwrap_err().code, Code::NotLoaded);
}

#[tokio::test]
async fn what_does_not_load_leaves_its_alias_free() {
    let mut scene = Scene::new();
    let broken = LoadSpec { path: "broken".into(), ..spec("m", LoadOptions::default()) };
    let refused = scene.supervisor.load(broken, Vec::new()).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidModel);
    let reason = scene.event(|kind| match kind {
        EventKind::LoadFailed { reason } => Some(reason),
        _ => None,
    });
    assert_eq!(reason.await, "not a model");
    scene.load(LoadOptions::default(), Vec::new()).await;
    let again = scene.supervisor.load(spec("m", LoadOptions::default()), Vec::new()).await.unwrap_err();
    assert_eq!(again.code, Code::Conflict);
    assert_eq!(scene.threads.started.load(Ordering::Relaxed), 2, "the third was not even started");
}

#[tokio::test]
async fn a_load_that_is_given_up_is_told_to_have_failed() {
    let mut scene = Scene::new();
    let slow = LoadSpec { path: "slow".into(), ..spec("m", LoadOptions::default()) };
    let loading = scene.supervisor.load(slow, Vec::new());
    assert!(timeout(Duration::from_millis(1), loading).await.is_err(), "it loads until it is given up");
    let reason = scene.event(|kind| match kind {
        EventKind::LoadFailed { reason } => Some(reason),
        _ => None,
    });
    assert_eq!(reason.await, "the load was given up");
    assert!(scene.supervisor.models().is_empty());
}

#[tokio::test]
async fn a_full_queue_is_busy_and_a_caller_who_leaves_makes_room() {
    let scene = Scene::with(|config| config.places = 1);
    let model = scene.load(LoadOptions { queue: Some(1), ..LoadOptions::default() }, Vec::new()).await;
    // Its chunks are not read, so it holds the one place.
    let mut holder = start(&model, &["x"; 50]).await.unwrap();
    let waiter = tokio::spawn({
        let model = model.clone();
        async move { embed(&model, &["a"]).await }
    });
    while model.stats().await.unwrap().queued == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(model.requests(), 2, "one runs, one waits");
    let busy = embed(&model, &["b"]).await.unwrap_err();
    assert_eq!(busy.code, Code::Busy);
    waiter.abort();
    while model.stats().await.unwrap().queued == 1 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(holder.next().await, Some(RunItem::Chunk(_))));
    drop(holder);
    assert_eq!(embed(&model, &["c"]).await.unwrap(), 1, "the cancelled job gave its place back");
}

#[tokio::test]
async fn shrink_every_shrinks_after_each_nth_request() {
    let mut scene = Scene::new();
    let model = scene.load(LoadOptions::default(), vec![Box::new(ShrinkEvery::new(2))]).await;
    for _ in 0..4 {
        embed(&model, &["fours"]).await.unwrap();
    }
    for _ in 0..2 {
        let cause = scene.event(|kind| match kind {
            EventKind::Shrink { cause, .. } => Some(cause),
            _ => None,
        });
        assert_eq!(cause.await, "shrink-every");
    }
    assert_eq!(model.stats().await.unwrap().shrinks, 2);
}

#[tokio::test]
async fn an_armed_shrink_and_the_run_option_work_without_a_reload() {
    let mut scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    embed(&model, &["a"]).await.unwrap();
    assert_eq!(model.shrink_after_next_run(Some(vec![Target::cpu(0), Target::gpu(0)])).await.unwrap(), 2);
    embed(&model, &["sixsix"]).await.unwrap();
    let shrink = |kind| match kind {
        EventKind::Shrink { cause, report } => Some((cause, report.freed_bytes, report.dropped.len())),
        _ => None,
    };
    assert_eq!(scene.event(shrink).await, ("after_run".to_owned(), 6, 1));
    model.set_runtime_option(SHRINK_KEY, "cpu:0").await.unwrap();
    assert_eq!(model.runtime_options().await.unwrap().len(), 1);
    embed(&model, &["sixsix"]).await.unwrap();
    assert_eq!(scene.event(shrink).await, ("runtime_option".to_owned(), 6, 0));
    assert_eq!(model.set_runtime_option(SHRINK_KEY, "disk").await.unwrap_err().code, Code::InvalidTarget);
    model.set_runtime_option(SHRINK_KEY, "").await.unwrap();
    assert!(model.runtime_options().await.unwrap().is_empty());
}

/// C25, and what was in flight.
#[tokio::test]
async fn a_worker_that_dies_fails_its_jobs_and_says_so() {
    let mut scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    let mut running = start(&model, &["x"; 50]).await.unwrap();
    running.next().await.unwrap();
    scene.threads.cut();
    let failure = loop {
        match running.next().await.unwrap() {
            RunItem::Failed(failure) => break failure,
            RunItem::Done(figures) => panic!("{figures:?}"),
            _ => {}
        }
    };
    assert_eq!(failure.code, Code::WorkerCrashed);
    let restart = scene.event(|kind| match kind {
        EventKind::Crashed { restart_in_ms, .. } => Some(restart_in_ms),
        _ => None,
    });
    assert_eq!(restart.await, None);
    assert_eq!(model.state(), ModelState::Failed);
    assert!(model.reason().is_some());
    assert_eq!(embed(&model, &["y"]).await.unwrap_err().code, Code::WorkerCrashed);
    scene.supervisor.unload("m").await.unwrap();
    scene.load(LoadOptions::default(), Vec::new()).await;
}

#[tokio::test]
async fn a_worker_is_started_again_where_that_is_wanted_with_its_run_options() {
    let mut scene = Scene::new();
    let model = scene.load(LoadOptions { restart: Some(true), ..LoadOptions::default() }, Vec::new()).await;
    model.set_runtime_option("gpu_graph_id", "3").await.unwrap();
    for wait_ms in [10, 20] {
        scene.threads.cut();
        let restart = scene.event(|kind| match kind {
            EventKind::Crashed { restart_in_ms, .. } => restart_in_ms,
            _ => None,
        });
        assert_eq!(restart.await, wait_ms, "the wait doubles");
        scene.event(|kind| matches!(kind, EventKind::Loaded { .. }).then_some(())).await;
        assert_eq!(embed(&model, &["x"]).await.unwrap(), 1);
    }
    assert_eq!(model.runtime_options().await.unwrap()[0].key, "gpu_graph_id");
    scene.supervisor.unload("m").await.unwrap();
    assert_eq!(scene.threads.started.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn closing_waits_for_jobs_as_long_as_it_is_told() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    let running = start(&model, &["x"; 50]).await.unwrap();
    let closing = tokio::spawn({
        let supervisor = scene.supervisor.clone();
        async move { supervisor.close(Duration::from_secs(20)).await }
    });
    tokio::task::yield_now().await;
    assert!(!closing.is_finished());
    drop(running);
    closing.await.unwrap();
    assert!(scene.supervisor.models().is_empty());
    // A job that never ends is not waited for for ever.
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    let mut endless = start(&model, &["x"; 50]).await.unwrap();
    scene.supervisor.close(Duration::from_millis(20)).await;
    let end = loop {
        match endless.next().await {
            Some(RunItem::Failed(failure)) => break failure,
            Some(_) => {}
            None => panic!("no end"),
        }
    };
    assert_eq!(end.code, Code::NotLoaded);
}

#[tokio::test]
async fn tensors_go_and_come_as_raw_bytes() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    let spec = |name: &str, len: u64| ebb_core::TensorSpec {
        name: name.to_owned(),
        dtype: ebb_core::DType::UInt8,
        shape: vec![len],
    };
    let inputs = vec![spec("a", 3), spec("large", 1 << 20)];
    let data: Bytes = [vec![1, 2, 3], vec![7; 1 << 20]].concat().into();
    let mut running =
        model.run(&Job::new(JobKind::Tensors { inputs, outputs: Vec::new() }), &data).await.unwrap();
    let mut lengths = Vec::new();
    loop {
        match running.next().await.unwrap() {
            RunItem::Chunk(chunk) => lengths.push((chunk.data.len(), chunk.data[0])),
            RunItem::Done(figures) => break assert!(matches!(figures, Figures::Tensors(_))),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(lengths, [(3, 1), (1 << 20, 7)]);
}

/// Reads to the end.
async fn rest_of(mut running: Running) -> Result<Figures, Failure> {
    loop {
        match running.next().await.expect("an end") {
            RunItem::Done(figures) => return Ok(figures),
            RunItem::Failed(failure) => return Err(failure),
            RunItem::Chunk(_) | RunItem::Progress(_) => {}
        }
    }
}

/// The fake runs on the CPU.
#[tokio::test]
async fn a_device_that_nothing_uses_is_said() {
    let scene = Scene::new();
    for (alias, device, warnings) in [("none", None, 0), ("first", Some(0), 0), ("second", Some(1), 1)] {
        let options = LoadOptions { device, ..LoadOptions::default() };
        let report = scene.supervisor.load(spec(alias, options), Vec::new()).await.unwrap();
        assert_eq!(report.warnings.len(), warnings, "{report:?}");
        assert!(
            report.warnings.iter().all(|said| said.starts_with("device 1: without effect")),
            "{report:?}"
        );
    }
}

#[tokio::test]
async fn a_request_waits_for_a_restart() {
    let mut scene = Scene::with(|config| config.restart_first = Duration::from_millis(200));
    let model = scene.load(LoadOptions { restart: Some(true), ..LoadOptions::default() }, Vec::new()).await;
    scene.threads.cut();
    scene.event(|kind| matches!(kind, EventKind::Crashed { .. }).then_some(())).await;
    assert_eq!(model.sample().await.unwrap_err().code, Code::WorkerCrashed, "a control does not wait");
    assert_eq!(embed(&model, &["x"]).await.unwrap(), 1);
    assert_eq!(scene.threads.started.load(Ordering::Relaxed), 2);
}

/// Programs that are no worker: each a clear error, none left behind.
#[tokio::test]
async fn what_is_no_worker_is_refused_with_a_reason() {
    for (program, code, said) in [
        ("/nowhere/ebb-worker", Code::Internal, "/nowhere/ebb-worker does not start"),
        ("false", Code::WorkerCrashed, "exit code 1"),
        ("yes", Code::Internal, "does not speak Ebb's protocol"),
        // Says back what it is told.
        ("cat", Code::Internal, "does not hold a message"),
    ] {
        let supervisor = Supervisor::new(HostConfig::new(program.into()));
        let refused = supervisor.load(spec("m", LoadOptions::default()), Vec::new()).await.unwrap_err();
        assert_eq!(refused.code, code, "{program}: {refused:?}");
        assert!(refused.message.contains(said) && refused.hint.is_some(), "{program}: {refused:?}");
        assert!(supervisor.models().is_empty());
    }
}
