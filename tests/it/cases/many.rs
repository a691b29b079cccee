//! Many of something: C13, C14, C15, C17, C19. Those that weigh this process itself run alone in one.

use bytes::Bytes;
use ebb_core::{Code, EventKind, LoadOptions, Outcome};
use ebb_host::RunItem;
use ebb_tests::{
    home::real_model,
    models::{self, Embedder},
};
use rustix::process::getpid;

use crate::supervised::{
    MIB, Scene, alone, assert_same, embed, eventually, resident, resident_peak, run_rows, texts, words,
};

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("the system lists them").count()
}

/// Neither memory nor a process, a descriptor or a file is left; what became of files, [`alone`] looks.
#[test]
fn c13_loading_and_unloading_fifty_times_leaves_nothing() {
    if !alone("cases::many::c13_loading_and_unloading_fifty_times_leaves_nothing") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let scene = Scene::new();
        let path = models::embedder(&scene.path().join("model"));
        let mut at_ten = (0, 0);
        for cycle in 1..=50 {
            let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
            embed(&model, &["once"]).await.unwrap();
            if cycle % 10 == 5 {
                // Also one whose worker died, and one that was refused.
                crate::supervised::kill(scene.worker(), rustix::process::Signal::KILL);
                scene.load("none", &scene.path().join("none"), LoadOptions::default()).await.unwrap_err();
            }
            assert!(scene.supervisor.unload("m").await.unwrap().worker_gone);
            assert!(scene.workers().is_empty(), "after {cycle}");
            if cycle == 10 {
                at_ten = (resident(getpid()).await, open_files());
            }
        }
        let (bytes, files) = at_ten;
        eventually("descriptors are closed", || open_files() <= files).await;
        let end = resident(getpid()).await;
        assert!(end < bytes + 4 * MIB, "{bytes} → {end}");
    });
}

/// The report of an unload says what the system says: so much was held, and nothing is.
#[tokio::test(flavor = "multi_thread")]
async fn c14_an_unload_gives_all_back_and_proves_it() {
    let scene = Scene::new();
    let path = models::activations(&scene.path().join("model"));
    let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
    run_rows(&model, 4096, 64).await.unwrap();
    let held = resident(scene.worker()).await;
    let report = scene.supervisor.unload("m").await.unwrap();
    assert!(report.worker_gone && scene.workers().is_empty());
    assert!(held > 300 * MIB && report.freed_bytes.abs_diff(held) < held / 10, "{held}, {report:?}");
    assert!(scene.supervisor.models().is_empty() && scene.supervisor.model("m").is_none());
    assert_eq!(run_rows(&model, 1, 64).await.unwrap_err().code, Code::NotLoaded);
    assert_eq!(scene.supervisor.unload("m").await.unwrap_err().code, Code::NotLoaded);
}

/// The most that the system ever saw, for 64 texts as for 8; and the same vectors.
#[tokio::test(flavor = "multi_thread")]
async fn c15_more_texts_at_once_take_no_more_memory() {
    let scene = Scene::new();
    let many = words(64, 150);
    let mut seen = Vec::new();
    for count in [8, 64] {
        let options = LoadOptions { threads: Some(2), ..LoadOptions::default() };
        let model = scene.load("m", &real_model("minilm"), options).await.unwrap();
        let (vectors, figures) = embed(&model, &many[..count]).await.unwrap();
        assert!(figures.batches as usize >= count / 8, "{figures:?}");
        seen.push((resident_peak(scene.worker()), vectors));
        scene.supervisor.unload("m").await.unwrap();
    }
    let (few, all) = (&seen[0], &seen[1]);
    // Batches of other lengths leave other regions behind; eight times the texts would be some hundred MiB more.
    assert!(all.0 < few.0 + few.0 / 4, "{} → {}", few.0, all.0);
    assert_same(&few.1, &all.1[..few.1.len()]);
}

/// 43,000 texts, whose vectors take 42 MiB: neither the worker nor the host holds them, however slow the reader.
#[test]
fn c17_many_texts_stream_through_flat_memory() {
    if !alone("cases::many::c17_many_texts_stream_through_flat_memory") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut scene = Scene::new();
        let path = Embedder { dimensions: 256, ..Embedder::default() }.write(&scene.path().join("model"));
        let model = scene.load("m", &path, LoadOptions::default()).await.unwrap();
        let many = words(43_000, 4);
        let mut running = model.run(&texts(&many), &Bytes::new()).await.unwrap();
        let (mut bytes, mut chunks, mut progress) = (0, 0, 0);
        let mut first = None;
        let figures = loop {
            match running.next().await.unwrap() {
                RunItem::Chunk(chunk) => {
                    bytes += chunk.data.len();
                    chunks += 1;
                    if chunks == 10 {
                        first = Some((resident(getpid()).await, resident(scene.worker()).await));
                        // A reader who dawdles: what comes meanwhile waits in the worker, as work not done.
                        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
                    }
                }
                RunItem::Progress(so_far) => {
                    assert!(so_far.total == 43_000 && so_far.done >= progress);
                    progress = so_far.done;
                }
                RunItem::Done(figures) => break figures,
                RunItem::Failed(failure) => panic!("{failure}"),
            }
        };
        assert_eq!((bytes, figures.items()), (43_000 * 256 * 4, 43_000));
        assert!(progress > 0 && chunks > 40, "{progress}, {chunks} chunks");
        let (host, worker) = first.unwrap();
        let (host_peak, worker_end) = (resident_peak(getpid()), resident(scene.worker()).await);
        assert!(host_peak < host + 16 * MIB, "host: {host} → {host_peak}");
        assert!(worker_end < worker + 12 * MIB, "worker: {worker} → {worker_end}");

        // A caller who leaves in the middle takes the job along; the next is served.
        let mut running = model.run(&texts(&many), &Bytes::new()).await.unwrap();
        while !matches!(running.next().await.unwrap(), RunItem::Chunk(_)) {}
        drop(running);
        scene
            .event(|kind| match kind {
                EventKind::Run { outcome, .. } => (outcome == Outcome::Cancelled).then_some(()),
                _ => None,
            })
            .await;
        embed(&model, &["served"]).await.unwrap();
    });
}

/// The real model on a good many, against the same texts in small requests.
#[tokio::test(flavor = "multi_thread")]
async fn c17_a_long_request_equals_many_short_ones() {
    let scene = Scene::new();
    let options = LoadOptions { threads: Some(2), ..LoadOptions::default() };
    let model = scene.load("m", &real_model("minilm"), options).await.unwrap();
    let many: Vec<String> = (0..600).map(|index| format!("{index} {}", words(1, 1 + index % 9)[0])).collect();
    let (all, figures) = embed(&model, &many).await.unwrap();
    assert_eq!(figures.texts, 600);
    let width = all.len() / 600;
    for start in [0, 250, 590] {
        let (some, _) = embed(&model, &many[start..start + 10]).await.unwrap();
        assert_same(&some, &all[start * width..(start + 10) * width]);
    }
}

/// One worker, and a clear answer to who came second; a load and an unload at once end one way or the other.
#[tokio::test(flavor = "multi_thread")]
async fn c19_one_name_has_one_worker_whatever_is_asked_at_once() {
    let scene = Scene::new();
    let path = models::embedder(&scene.path().join("model"));
    for _ in 0..5 {
        let load = || scene.load("m", &path, LoadOptions::default());
        let (first, second, third) = tokio::join!(load(), load(), load());
        let loads = [first, second, third];
        assert_eq!(loads.iter().filter(|load| load.is_ok()).count(), 1);
        for failure in loads.iter().filter_map(|load| load.as_ref().err()) {
            assert_eq!(failure.code, Code::Conflict, "{failure}");
        }
        assert_eq!(scene.workers().len(), 1);
        let unload = || scene.supervisor.unload("m");
        let (one, other, _) = tokio::join!(unload(), unload(), load());
        assert!(one.is_ok() || other.is_ok());
        if scene.supervisor.model("m").is_some() {
            unload().await.unwrap();
        }
        assert!(scene.workers().is_empty() && scene.supervisor.models().is_empty());
    }
    // Two names for one model are two workers.
    let names = ["a", "b", "c"].map(|alias| scene.load(alias, &path, LoadOptions::default()));
    let [a, b, c] = names;
    let (a, b, c) = tokio::join!(a, b, c);
    for model in [a.unwrap(), b.unwrap(), c.unwrap()] {
        embed(&model, &["each"]).await.unwrap();
    }
    assert_eq!(scene.workers().len(), 3);
    scene.supervisor.close(std::time::Duration::from_secs(5)).await;
    assert!(scene.workers().is_empty());
}
