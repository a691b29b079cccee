//! What was typed, on a loaded model: C03, C10, C18.

use ebb_core::{Code, LoadOptions, options::OptionLine};
use ebb_host::ModelHandle;
use ebb_tests::models;

use crate::supervised::{Scene, embed, embedded, map, session, spec, texts};

const SHRINK_KEY: &str = "memory.enable_memory_arena_shrinkage";

async fn scene() -> (Scene, ModelHandle) {
    let scene = Scene::new();
    let path = models::embedder(&scene.path().join("model"));
    let options = LoadOptions { provider: Some("cpu".to_owned()), ..LoadOptions::default() };
    let model = scene.load("m", &path, options).await.unwrap();
    (scene, model)
}

/// On a machine without a GPU the run is served; what has no arena is dropped and said.
#[tokio::test(flavor = "multi_thread")]
async fn c03_targets_without_an_arena_are_dropped_and_the_request_is_served() {
    let (scene, model) = scene().await;
    for (value, dropped) in [
        ("cpu:0;gpu:0", Some("gpu:0")),
        ("gpu:0;cpu:0", Some("gpu:0")),
        (" CPU:0 ", None),
        ("cuda:0", Some("gpu:0")),
        ("cpu:7", Some("cpu:7")),
        ("GPU:0, cpu:0", Some("gpu:0")),
    ] {
        model.set_runtime_option(SHRINK_KEY, value).await.unwrap();
        let [line] = &model.runtime_options().await.unwrap()[..] else { panic!("one option") };
        let note = line.note.clone().unwrap_or_default();
        assert_eq!(dropped.is_some_and(|dropped| note.contains(dropped)), dropped.is_some(), "{line:?}");
        embed(&model, &["served"]).await.unwrap_or_else(|failure| panic!("{value}: {failure}"));
        // For one request alone, over the model's own.
        let mut job = texts(&["served"]);
        job.run_options = map(&[(SHRINK_KEY, value)]);
        embedded(model.run(&job, &Default::default()).await.unwrap()).await.unwrap();
        // From the first request on.
        let options = LoadOptions { runtime_options: map(&[(SHRINK_KEY, value)]), ..LoadOptions::default() };
        let path = scene.path().join("model");
        let second = scene.load("second", &path, options).await.unwrap();
        embed(&second, &["served"]).await.unwrap();
        assert_eq!(second.runtime_options().await.unwrap()[0].note, line.note);
        scene.supervisor.unload("second").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c03_malformed_targets_are_refused_when_they_are_set() {
    let (scene, model) = scene().await;
    model.set_runtime_option(SHRINK_KEY, "cpu:0").await.unwrap();
    for value in ["disk:0", "cpu:x", "cpu:0;;gpu:0", "cpu:-1", ":"] {
        let failure = model.set_runtime_option(SHRINK_KEY, value).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidTarget, "{value}: {failure}");
        assert!(failure.hint.as_deref().unwrap().contains("cpu:0"), "{failure:?}");
        let mut job = texts(&["refused"]);
        job.run_options = map(&[(SHRINK_KEY, value)]);
        let failure = embedded(model.run(&job, &Default::default()).await.unwrap()).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidTarget, "{value}: {failure}");
        let options = LoadOptions { runtime_options: map(&[(SHRINK_KEY, value)]), ..LoadOptions::default() };
        let failure = scene.load("second", &scene.path().join("model"), options).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidTarget, "{value}: {failure}");
    }
    assert_eq!(model.runtime_options().await.unwrap()[0].requested, "cpu:0", "what held still holds");
    embed(&model, &["served"]).await.unwrap();
    assert_eq!(scene.workers().len(), 1);
}

fn line(model: &ModelHandle, key: &str) -> OptionLine {
    let lines = model.info().options;
    lines.iter().find(|line| line.key == key).unwrap_or_else(|| panic!("{key} is not in {lines:?}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn c10_a_misspelt_option_is_forwarded_and_the_nearest_known_one_named() {
    let (scene, model) = scene().await;
    let run = "memory.enable_memory_arena_shrinkge";
    model.set_runtime_option(run, "cpu:0").await.unwrap();
    let told = model.runtime_options().await.unwrap().remove(0);
    assert!(told.forwarded.is_some(), "{told:?}");
    assert!(told.note.as_deref().is_some_and(|note| note.contains(SHRINK_KEY)), "{told:?}");
    embed(&model, &["served"]).await.unwrap();

    let options =
        LoadOptions { runtime_options: map(&[(run, "cpu:0")]), ..session(&[("enable_cpu_mem_aren", "0")]) };
    let path = scene.path().join("model");
    let report = scene.supervisor.load(spec("second", &path, options), Vec::new()).await.unwrap();
    let second = scene.supervisor.model("second").unwrap();
    for (key, meant) in [("enable_cpu_mem_aren", "session.enable_cpu_mem_arena"), (run, SHRINK_KEY)] {
        let line = line(&second, key);
        assert_eq!(line.effective.as_deref(), Some("no known effect"), "{line:?}");
        assert!(line.forwarded.is_some() && line.note.as_deref().unwrap().contains(meant), "{line:?}");
        assert!(report.warnings.iter().any(|warning| warning.contains(meant)), "{:?}", report.warnings);
    }
    embed(&second, &["served"]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn c18_an_option_of_a_device_that_is_not_used_has_no_effect_and_says_why() {
    let scene = Scene::new();
    let path = models::embedder(&scene.path().join("model"));
    let of_cuda = LoadOptions {
        provider: Some("cpu".to_owned()),
        provider_options: [("cuda".to_owned(), map(&[("gpu_mem_limit", "1GiB")]))].into(),
        ..LoadOptions::default()
    };
    let of_session =
        LoadOptions { provider: Some("cpu".to_owned()), ..session(&[("cuda.gpu_mem_limit", "1GiB")]) };
    for (key, options) in [("gpu_mem_limit", of_cuda), ("cuda.gpu_mem_limit", of_session)] {
        let report = scene.supervisor.load(spec("m", &path, options), Vec::new()).await.unwrap();
        let model = scene.supervisor.model("m").unwrap();
        let line = line(&model, key);
        assert_eq!(line.effective.as_deref(), Some("no effect"), "{line:?}");
        assert!(line.note.as_deref().unwrap().contains("cpu"), "{line:?}");
        assert!(report.warnings.iter().any(|warning| warning.contains(key)), "{:?}", report.warnings);
        embed(&model, &["served"]).await.unwrap();
        scene.supervisor.unload("m").await.unwrap();
    }
}
