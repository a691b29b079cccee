//! The real worker program under a supervisor: how it ends, how its end is told, and that nothing of it is left.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod faults;
mod program;

use std::{collections::BTreeSet, path::PathBuf, process::Command};

use bytes::Bytes;
use ebb_core::{Code, EventKind, LoadOptions, operations::ModelState};
use ebb_host::{ModelHandle, RunItem, Running};
use ebb_tests::{home::real_model, models};
use rustix::process::Signal;

use crate::supervised::{
    Scene, embed, embedded, eventually, kill, rows, run_rows, spec, texts, words, workers_of,
};

fn crashed(kind: EventKind) -> Option<(String, Option<u64>)> {
    match kind {
        EventKind::Crashed { reason, restart_in_ms } => Some((reason, restart_in_ms)),
        _ => None,
    }
}

/// A run that takes long in one single step: of the model `mlp` 2048 wide.
async fn long_run(model: &ModelHandle) -> Running {
    let (job, data) = rows(8_000, 2048);
    model.run(&job, &data).await.expect("it is taken")
}

/// C25, and a kill in the middle of runs: what is in flight fails with the reason, what comes then is refused with it, and
/// the model loads again.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_killed_in_the_middle_of_runs_fails_them_by_name_and_loads_again() {
    let mut scene = Scene::new();
    let model = scene.load("minilm", &real_model("minilm"), LoadOptions::default()).await.unwrap();
    let mut running = Vec::new();
    // More than the worker has places for: some wait in the host.
    for _ in 0..6 {
        let (model, many) = (model.clone(), words(400, 40));
        running.push(tokio::spawn(
            async move { embedded(model.run(&texts(&many), &Bytes::new()).await?).await },
        ));
    }
    let mut first = model.run(&texts(&words(400, 40)), &Bytes::new()).await.unwrap();
    while !matches!(first.next().await.unwrap(), RunItem::Progress(_)) {}
    kill(scene.worker(), Signal::KILL);

    let failure = embedded(first).await.unwrap_err();
    assert_eq!(failure.code, Code::WorkerCrashed);
    assert!(failure.message.contains("minilm") && failure.message.contains("SIGKILL"), "{failure}");
    assert!(failure.hint.as_deref().unwrap().contains("ebb model load minilm"), "{failure:?}");
    let mut lost = 0;
    for running in running {
        // One that was quick enough is complete.
        match running.await.unwrap() {
            Ok((_, figures)) => assert_eq!(figures.texts, 400),
            Err(failure) => {
                assert_eq!(failure.code, Code::WorkerCrashed, "{failure}");
                lost += 1;
            }
        }
    }
    assert!(lost > 0);
    let (reason, restart) = scene.event(crashed).await;
    assert!(reason.contains("SIGKILL") && restart.is_none(), "{reason}");
    assert_eq!((model.state(), scene.workers().len()), (ModelState::Failed, 0));
    assert_eq!(embed(&model, &["late"]).await.unwrap_err().code, Code::WorkerCrashed);
    assert_eq!(model.sample().await.unwrap_err().code, Code::WorkerCrashed);
    assert_eq!(model.shrink(None).await.unwrap_err().code, Code::WorkerCrashed);

    assert!(scene.supervisor.unload("minilm").await.unwrap().worker_gone);
    let model = scene.load("minilm", &real_model("minilm"), LoadOptions::default()).await.unwrap();
    assert_eq!(embed(&model, &["again"]).await.unwrap().1.texts, 1);
}

/// C25 while nothing is asked of the worker: its end alone changes the state. Every way to end has its name.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_workers_end_is_seen_and_named() {
    let mut scene = Scene::new();
    let path = models::embedder(&scene.path().join("model"));
    for (signal, name) in [(Signal::KILL, "SIGKILL"), (Signal::ABORT, "SIGABRT"), (Signal::TERM, "SIGTERM")] {
        let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
        kill(scene.worker(), signal);
        eventually("it is seen", || model.state() == ModelState::Failed).await;
        assert!(model.reason().unwrap().contains(name), "{:?}", model.reason());
        assert_eq!(scene.supervisor.models(), [("m".to_owned(), ModelState::Failed)]);
        assert!(scene.event(crashed).await.0.contains(name));
        scene.supervisor.unload("m").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_comes_back_where_that_is_wanted_and_requests_wait_for_it() {
    let mut scene = Scene::new();
    let path = models::embedder(&scene.path().join("model"));
    let options = LoadOptions { restart: Some(true), shrink_every: Some(1), ..LoadOptions::default() };
    let model = scene.load("m", &path, options).await.unwrap();
    let want = embed(&model, &["tide"]).await.unwrap().0;
    model.set_runtime_option("memory.enable_memory_arena_shrinkage", "cpu:0").await.unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let worker = scene.worker();
        assert!(seen.insert(worker.as_raw_nonzero()), "another process each time");
        kill(worker, Signal::KILL);
        eventually("it is seen", || model.state() != ModelState::Loaded).await;
        // Waits for the new worker, or is refused because the restart has not begun; it never hangs and is never lost.
        let got = loop {
            match embed(&model, &["tide"]).await {
                Ok((vectors, _)) => break vectors,
                Err(failure) => assert_eq!(failure.code, Code::WorkerCrashed, "{failure}"),
            }
        };
        assert_eq!(got, want);
        assert!(scene.event(crashed).await.1.is_some(), "it says when it comes back");
        assert_eq!((model.state(), model.reason()), (ModelState::Loaded, None));
        assert_eq!(model.stats().await.unwrap().now.runs, 1, "counted since this load");
    }
    let options = model.runtime_options().await.unwrap();
    assert_eq!(options.len(), 1, "what was set holds in the new worker: {options:?}");
    scene.supervisor.unload("m").await.unwrap();
    assert!(scene.workers().is_empty());
}

/// C14: unloading a worker that does not answer, or is deep in a run, ends it all the same, and proves it.
#[tokio::test(flavor = "multi_thread")]
async fn c14_a_worker_that_hangs_or_works_is_unloaded() {
    let scene = Scene::with(|config| config.close_grace = std::time::Duration::from_millis(300));
    let path = models::mlp(&scene.path().join("model"), 2048, 4);
    for hangs in [true, false] {
        let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
        let running = long_run(&model).await;
        if hangs {
            kill(scene.worker(), Signal::STOP);
        }
        let report = scene.supervisor.unload("m").await.unwrap();
        assert!(report.worker_gone && report.freed_bytes > 0, "{report:?}");
        assert!(scene.workers().is_empty());
        let failure = crate::supervised::tensor(running).await.unwrap_err();
        assert_eq!(failure.code, Code::NotLoaded, "{failure}");
    }
}

/// A caller who gives loading up leaves no worker behind, and the name is free again.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_is_given_up_leaves_nothing() {
    let scene = Scene::new();
    let path = models::mlp(&scene.path().join("model"), 2048, 4);
    for polls in 0..20 {
        let mut loading = Box::pin(scene.load("m", &path, LoadOptions::default()));
        for _ in 0..polls {
            let moment = std::time::Duration::from_millis(5);
            if tokio::time::timeout(moment, &mut loading).await.is_ok() {
                scene.supervisor.unload("m").await.unwrap();
                break;
            }
        }
        drop(loading);
        assert!(scene.supervisor.models().is_empty(), "after {polls}");
    }
    eventually("no worker is left", || scene.workers().is_empty()).await;
    let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
    assert_eq!(run_rows(&model, 1, 2048).await.unwrap().0.len(), 4 * 2048);
}

/// A worker that stands still while it loads: killed, it fails the load by name; given up, it is not left behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_does_not_come_through_its_load_ends() {
    let mut scene = Scene::scripted("kill -STOP $$; exec \"$WORKER\"");
    let path = models::embedder(&scene.path().join("model"));
    let loading = scene.supervisor.load(spec("m", &path, LoadOptions::default()), Vec::new());
    let killing = async {
        eventually("it is started", || !scene.workers().is_empty()).await;
        assert_eq!(scene.supervisor.models(), [("m".to_owned(), ModelState::Loading)]);
        kill(scene.worker(), Signal::KILL);
    };
    let (loaded, ()) = tokio::join!(loading, killing);
    let failure = loaded.unwrap_err();
    assert_eq!(failure.code, Code::WorkerCrashed);
    assert!(failure.message.contains("SIGKILL"), "{failure}");
    let reason = scene.event(|kind| match kind {
        EventKind::LoadFailed { reason } => Some(reason),
        _ => None,
    });
    assert_eq!(reason.await, failure.message);

    tokio::select! {
        loaded = scene.load("m", &path, LoadOptions::default()) => panic!("{loaded:?}"),
        () = eventually("it is started", || !scene.workers().is_empty()) => {}
    }
    eventually("it is killed", || scene.workers().is_empty()).await;
    assert!(scene.supervisor.models().is_empty());
}

/// A worker that comes back and finds its model gone stays down, with that for a reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_that_cannot_load_stays_down_and_says_why() {
    let mut scene = Scene::new();
    let path = models::embedder(&scene.path().join("model"));
    let options = LoadOptions { restart: Some(true), ..LoadOptions::default() };
    let model = scene.load("m", &path, options).await.unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    kill(scene.worker(), Signal::KILL);
    let reason = scene.event(|kind| match kind {
        EventKind::LoadFailed { reason } => Some(reason),
        _ => None,
    });
    let reason = reason.await;
    assert!(reason.contains(path.to_str().unwrap()), "{reason}");
    assert_eq!((model.state(), model.reason()), (ModelState::Failed, Some(reason)));
    assert_eq!(embed(&model, &["late"]).await.unwrap_err().code, Code::WorkerCrashed);
    assert!(scene.supervisor.unload("m").await.unwrap().worker_gone && scene.workers().is_empty());
}

const HOST: &str = "EBB_TEST_HOST_IN";

/// A host that is killed takes its workers with it: one that is idle, one in a long run. The host is this program again.
#[test]
fn a_killed_host_leaves_no_worker() {
    if let Some(folder) = std::env::var_os(HOST) {
        return host_that_will_be_killed(folder.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::a_killed_host_leaves_no_worker"])
        .env(HOST, folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        eventually("it has loaded", || folder.path().join("ready").exists()).await;
        let name = std::fs::read(folder.path().join("ready")).unwrap();
        let name = PathBuf::from(String::from_utf8(name).unwrap());
        assert_eq!(workers_of(&name).len(), 2);
        host.kill().unwrap();
        host.wait().unwrap();
        eventually("its workers end", || workers_of(&name).is_empty()).await;
        // What the killed host could not remove.
        std::fs::remove_dir_all(name.parent().unwrap()).unwrap();
    });
}

fn host_that_will_be_killed(folder: PathBuf) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let scene = Scene::new();
        let path = models::embedder(&scene.path().join("idle"));
        let _idle = scene.load("idle", &path, LoadOptions::default()).await.unwrap();
        let path = models::mlp(&scene.path().join("busy"), 2048, 4);
        let busy = scene.load("busy", &path, LoadOptions::default()).await.unwrap();
        let _running = long_run(&busy).await;
        let name = scene.path().join("worker");
        std::fs::write(folder.join("not yet"), name.to_str().unwrap()).unwrap();
        std::fs::rename(folder.join("not yet"), folder.join("ready")).unwrap();
        std::future::pending::<()>().await;
    });
}
