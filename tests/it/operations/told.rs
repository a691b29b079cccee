//! What changes in the catalogue is told to whoever listens; what is told of a machine holds for workers that have ended too.

use ebb_core::{EventKind, ModelKind, operations::ModelState};
use rustix::process::{Pid, Signal, kill_process};

use super::*;

#[tokio::test]
async fn what_is_added_removed_and_loaded_otherwise_is_told() {
    let scene = Scene::new();
    let mut events = scene.host.events();
    let options = LoadOptions { threads: Some(1), ..LoadOptions::default() };
    scene.load("a", options.clone()).await;
    scene.host.load("a", options.clone(), false).await.unwrap();
    scene.host.remove_model("a").await.unwrap();
    let mut told = Vec::new();
    while told.last() != Some(&EventKind::Removed) {
        let event = soon(events.recv()).await.unwrap();
        assert_eq!(event.model, "a");
        if matches!(event.kind, EventKind::Added { .. } | EventKind::Removed | EventKind::LoadOptions { .. })
        {
            told.push(event.kind);
        }
    }
    let options = Box::new(options);
    let added = EventKind::Added { kind: ModelKind::Embeddings };
    assert_eq!(told, [added, EventKind::LoadOptions { options }, EventKind::Removed]);
}

#[tokio::test]
async fn a_worker_that_has_ended_is_not_counted_and_the_next_request_starts_another() {
    let scene = Scene::new();
    scene.load("a", LoadOptions::default()).await;
    let mut events = scene.host.events();
    let first = pid(&scene).await.unwrap();
    kill_process(first, Signal::KILL).unwrap();
    while !matches!(soon(events.recv()).await.unwrap().kind, EventKind::Crashed { .. }) {}
    let system = scene.host.system(false).await.unwrap();
    let [model] = &system.models[..] else { panic!("{:?}", system.models) };
    assert_eq!((model.state, model.pid, model.arenas.len()), (ModelState::Failed, None, 0));
    assert_eq!((model.resident_bytes, model.private_bytes, model.reserved_bytes), (0, 0, 0));
    scene.embed("a", 1).await;
    let second = pid(&scene).await.unwrap();
    assert_ne!(first, second);
}

/// The process of its only model's worker.
async fn pid(scene: &Scene) -> Option<Pid> {
    let system = scene.host.system(false).await.unwrap();
    Pid::from_raw(i32::try_from(system.models[0].pid?).unwrap())
}
