//! Models made of foreign weights by the host.

use ebb_core::{
    Code, ModelKind,
    operations::{ImportModel, PullPiece, PullStage},
};
use ebb_tests::{
    home::{program, runtime_library},
    models,
};

use super::{Scene, soon};

fn real() -> Scene {
    Scene::open(ebb_api::Settings {
        worker_program: Some(program("ebb-worker")),
        runtime_library: Some(runtime_library()),
        ..ebb_api::Settings::default()
    })
}

#[tokio::test]
async fn a_gguf_file_becomes_a_model_of_the_catalogue() {
    let scene = real();
    let path = models::gguf(&scene.folder.path().join("Meine Modelle"));
    let request = ImportModel { path, alias: Some("small".into()), force: false };
    let mut pieces = scene.host.import_model(request.clone()).await.unwrap();
    let mut stages = Vec::new();
    let entry = loop {
        match soon(pieces.next()).await.expect("an end") {
            PullPiece::Progress(at) => stages.push(at.stage),
            PullPiece::Report(entry) => break entry,
            PullPiece::Error(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(soon(pieces.next()).await, None);
    assert_eq!((entry.alias.as_str(), entry.kind), ("small", ModelKind::Chat));
    assert!(entry.path.starts_with(scene.folder.path().join("home")), "{}", entry.path.display());
    assert!(!stages.contains(&PullStage::Downloading), "{stages:?}");

    // What is there is not made again, and an alias is taken once.
    let mut again = scene.host.import_model(request).await.unwrap();
    let last = loop {
        match soon(again.next()).await.expect("an end") {
            PullPiece::Progress(_) => {}
            last => break last,
        }
    };
    let PullPiece::Error(error) = last else { panic!("{last:?}") };
    assert_eq!(error.code, Code::AlreadyExists);
}

#[tokio::test]
async fn what_is_onnx_already_is_added_where_it_lies() {
    let scene = real();
    let path = models::embedder(&scene.folder.path().join("embedder"));
    let request = ImportModel { path: path.clone(), alias: None, force: false };
    let mut pieces = scene.host.import_model(request).await.unwrap();
    let entry = loop {
        match soon(pieces.next()).await.expect("an end") {
            PullPiece::Progress(_) => {}
            PullPiece::Report(entry) => break entry,
            PullPiece::Error(error) => panic!("{error:?}"),
        }
    };
    assert_eq!((entry.alias.as_str(), entry.path), ("embedder", path));
}

#[tokio::test]
async fn what_cannot_be_imported_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    let relative = ImportModel { path: "a.gguf".into(), alias: None, force: false };
    let failure = scene.host.import_model(relative).await.unwrap_err();
    assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidRequest, Some("path")));
    let taken = ImportModel { path: "/a.gguf".into(), alias: Some("pull".into()), force: false };
    assert_eq!(scene.host.import_model(taken).await.unwrap_err().param.as_deref(), Some("alias"));
    let file = scene.folder.path().join("broken.gguf");
    std::fs::write(&file, b"GGUF\xff\xff\xff\xff").unwrap();
    let broken = ImportModel { path: file, alias: None, force: false };
    let mut pieces = scene.host.import_model(broken).await.unwrap();
    let last = loop {
        match soon(pieces.next()).await.expect("an end") {
            PullPiece::Progress(_) => {}
            last => break last,
        }
    };
    assert!(matches!(last, PullPiece::Error(_)), "{last:?}");
    assert!(scene.host.models().await.unwrap().models.is_empty());
    assert!(!scene.host.holds_models());
    let made = scene.folder.path().join("home/models");
    let left = std::fs::read_dir(made).map_or(0, |entries| entries.count());
    assert_eq!(left, 0);
}
