//! The arena's own options, on a loaded model: C04 to C09.

use ebb_core::{Code, EventKind, LoadOptions, Target};
use ebb_tests::{home::real_model, models};

use crate::supervised::{MIB, Scene, arena, embed, map, rows, run_rows, session, tensor, words};

const SHRINK_KEY: &str = "memory.enable_memory_arena_shrinkage";

/// C04 with C05: off is off, whichever way it was said; every way to shrink is served, and says that there is nothing.
#[tokio::test(flavor = "multi_thread")]
async fn c04_c05_an_arena_that_is_off_has_no_figures_and_a_shrink_fails_nothing() {
    let mut scene = Scene::new();
    let path = models::mlp(&scene.path().join("model"), 64, 2);
    for (name, options) in [
        ("session 0", session(&[("enable_cpu_mem_arena", "0")])),
        ("session false", session(&[("session.enable_cpu_mem_arena", "false")])),
        ("arena 0", arena(&[("enable_cpu_mem_arena", "0")])),
        ("arena FALSE", arena(&[("enable_cpu_mem_arena", "FALSE")])),
        ("with a cap", arena(&[("enable_cpu_mem_arena", "0"), ("max_mem", "64MiB")])),
        (
            "with a shrink",
            LoadOptions {
                runtime_options: map(&[(SHRINK_KEY, "cpu:0")]),
                shrink_every: Some(1),
                ..arena(&[("enable_cpu_mem_arena", "0")])
            },
        ),
    ] {
        let model =
            scene.load("m", &path, options).await.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        assert!(model.info().arenas.is_empty(), "{name}");
        let want = run_rows(&model, 100, 64).await.unwrap().0;
        let report = model.shrink(Some(vec![Target::cpu(0)])).await.unwrap();
        assert_eq!((report.freed_bytes, report.targets.len()), (0, 0), "{name}");
        assert!(report.dropped[0].reason.contains("no arena"), "{name}: {report:?}");
        assert!(model.shrink(None).await.unwrap().targets.is_empty(), "{name}");
        model.shrink_after_next_run(Some(vec![Target::cpu(0)])).await.unwrap();
        model.set_runtime_option(SHRINK_KEY, "cpu:0").await.unwrap();
        let line = model.runtime_options().await.unwrap().remove(0);
        assert!(line.note.as_deref().is_some_and(|note| note.contains("no arena")), "{name}: {line:?}");
        let (mut job, data) = rows(100, 64);
        job.shrink_after = Some(vec![Target::cpu(0)]);
        job.run_options = map(&[(SHRINK_KEY, "cpu:0")]);
        let got = tensor(model.run(&job, &data).await.unwrap()).await.unwrap().0;
        assert!(got == want, "{name}");
        scene.event(|kind| matches!(kind, EventKind::Run { run: 2, .. }).then_some(())).await;
        assert_eq!(run_rows(&model, 100, 64).await.unwrap().0, want, "{name}");
        assert!(model.sample().await.unwrap().arenas.is_empty(), "{name}");
        scene.supervisor.unload("m").await.unwrap();
    }
    for options in [
        session(&[("enable_cpu_mem_arena", "banana")]),
        arena(&[("enable_cpu_mem_arena", "2")]),
        arena(&[("enable_cpu_mem_arena", "")]),
    ] {
        let failure = scene.load("m", &path, options).await.unwrap_err();
        assert_eq!(
            (failure.code, failure.param.as_deref()),
            (Code::InvalidValue, Some("enable_cpu_mem_arena"))
        );
        assert!(failure.message.contains("true or false"), "{failure}");
    }
    assert!(scene.supervisor.models().is_empty() && scene.workers().is_empty());
}

/// Shown as effective, and seen in what the arena keeps: only kNextPowerOfTwo takes more than was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn c06_the_strategy_takes_effect_however_it_is_spelled() {
    const KEY: &str = "arena_extend_strategy";
    let scene = Scene::new();
    let path = models::mlp(&scene.path().join("model"), 512, 2);
    for (value, want) in [
        ("kSameAsRequested", "kSameAsRequested"),
        ("1", "kSameAsRequested"),
        ("kNextPowerOfTwo", "kNextPowerOfTwo"),
        ("0", "kNextPowerOfTwo"),
    ] {
        for options in [session(&[(KEY, value)]), arena(&[(KEY, value)])] {
            let model = scene.load("m", &path, options).await.unwrap();
            let line = model.info().options.into_iter().find(|line| line.key == KEY).unwrap();
            assert_eq!((line.requested.as_str(), line.effective.as_deref()), (value, Some(want)));
            run_rows(&model, 3_000, 512).await.unwrap();
            let arena = model.sample().await.unwrap().arenas.remove(0);
            let exact = arena.reserved_bytes == arena.peak_in_use_bytes;
            assert_eq!(exact, want == "kSameAsRequested", "{value}: {arena:?}");
            scene.supervisor.unload("m").await.unwrap();
        }
    }
    let failure = scene.load("m", &path, arena(&[(KEY, "kFastest")])).await.unwrap_err();
    assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some(KEY)));
    assert!(failure.message.contains("kNextPowerOfTwo"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c07_a_cap_below_the_weights_is_refused_with_the_figure_needed() {
    let scene = Scene::new();
    let mlp = models::mlp(&scene.path().join("model"), 512, 4);
    for (path, cap, options) in [
        (&mlp, 2 * MIB, arena(&[("max_mem", "2MiB")])),
        (&mlp, 2 * MIB, session(&[("max_mem", "2097152")])),
        (&mlp, 4 * MIB, arena(&[("max_mem", "4MiB"), ("arena_extend_strategy", "0")])),
        (&real_model("minilm"), 32 * MIB, arena(&[("max_mem", "32MiB")])),
    ] {
        let failure = scene.load("m", path, options).await.unwrap_err();
        assert_eq!(failure.code, Code::CapBelowWeights, "{failure}");
        assert_eq!(failure.details["limit_bytes"], cap, "{failure:?}");
        let needed = failure.details["needed_bytes"];
        assert!(needed > cap && failure.hint.is_some(), "{failure:?}");
        assert!(scene.supervisor.models().is_empty() && scene.workers().is_empty());
        let model = scene.load("m", path, arena(&[("max_mem", &needed.to_string())])).await.unwrap();
        assert_eq!(model.sample().await.unwrap().arenas[0].limit_bytes, Some(needed));
        scene.supervisor.unload("m").await.unwrap();
    }
    // Said as working memory, nobody needs to know the weights.
    let model = scene.load("m", &real_model("minilm"), arena(&[("working_mem", "32MiB")])).await.unwrap();
    embed(&model, &words(4, 30)).await.unwrap();
    let stats = model.stats().await.unwrap();
    let limit = stats.now.arenas[0].limit_bytes.unwrap();
    assert_eq!(limit, stats.after_load.reserved_bytes() + 32 * MIB);
    assert!(stats.now.reserved_bytes() <= limit, "{stats:?}");
}

/// Idle regions eat the cap: given back, tried once more, counted, shown; and the answers are what they are without a cap.
#[tokio::test(flavor = "multi_thread")]
async fn c08_growing_batches_under_a_cap_are_served_and_the_retries_shown() {
    const ROWS: [u64; 5] = [500, 1000, 2000, 3000, 4000];
    let mut scene = Scene::new();
    let path = models::mlp(&scene.path().join("model"), 512, 4);
    let free = scene.load("free", &path, LoadOptions::default()).await.unwrap();
    let mut wanted = Vec::new();
    for count in ROWS {
        wanted.push(run_rows(&free, count, 512).await.unwrap().0);
    }
    free.shrink(None).await.unwrap();
    run_rows(&free, 4000, 512).await.unwrap();
    let cap = free.sample().await.unwrap().reserved_bytes() + MIB;
    scene.supervisor.unload("free").await.unwrap();

    let model = scene.load("capped", &path, arena(&[("max_mem", &cap.to_string())])).await.unwrap();
    let mut retries = 0;
    for (count, want) in ROWS.into_iter().zip(&wanted) {
        let (got, hit) = run_rows(&model, count, 512).await.unwrap();
        assert!(got == *want, "{count}");
        retries += u64::from(hit);
    }
    assert!(retries > 0, "the cap was never hit");
    let mut told = 0;
    while told < retries {
        told += scene
            .event(|kind| match kind {
                EventKind::Run { cap_retries, .. } if cap_retries > 0 => Some(u64::from(cap_retries)),
                _ => None,
            })
            .await;
    }
    let stats = model.stats().await.unwrap();
    assert_eq!((stats.cap_retries, told), (retries, retries));
    assert!(stats.now.reserved_bytes() <= cap, "{stats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c09_a_request_larger_than_the_cap_fails_with_figures_and_the_next_is_served() {
    let mut scene = Scene::new();
    let path = models::mlp(&scene.path().join("model"), 512, 4);
    let model = scene.load("m", &path, arena(&[("max_mem", "8MiB")])).await.unwrap();
    let want = run_rows(&model, 16, 512).await.unwrap();
    for _ in 0..3 {
        let failure = run_rows(&model, 16_000, 512).await.unwrap_err();
        assert_eq!(failure.code, Code::ArenaLimit, "{failure}");
        let figure = |name: &str| failure.details[name];
        assert_eq!(figure("limit_bytes"), 8 * MIB);
        assert!(figure("requested_bytes") >= 16_000 * 2048 && figure("available_bytes") < 8 * MIB);
        assert!(failure.hint.is_some(), "{failure:?}");
        assert_eq!(run_rows(&model, 16, 512).await.unwrap(), want);
    }
    scene
        .event(|kind| matches!(kind, EventKind::NearCap { .. } | EventKind::Run { run: 7, .. }).then_some(()))
        .await;
    let stats = model.stats().await.unwrap();
    assert_eq!(stats.now.runs, 7);
    assert!(stats.now.reserved_bytes() <= 8 * MIB);
}
