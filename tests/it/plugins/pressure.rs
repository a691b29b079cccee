//! The system runs short of memory.

use std::sync::{Arc, Mutex};

use ebb_api::MemoryWatch;
use ebb_core::{EventKind, operations::ModelState};

use super::Scene;

/// A system that is told how much of its memory is available, in percent: a figure for each look, the last of which lasts.
#[derive(Clone)]
struct System(Arc<Mutex<Vec<u64>>>);

impl System {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(vec![50])))
    }

    fn has(&self, percent: &[u64]) {
        *self.0.lock().unwrap() = percent.to_vec();
    }

    fn watch(&self) -> MemoryWatch {
        let figures = Arc::clone(&self.0);
        MemoryWatch::new(move || {
            let mut figures = figures.lock().unwrap();
            let now = if figures.len() > 1 { figures.remove(0) } else { figures[0] };
            (now << 20, 100 << 20)
        })
    }
}

#[tokio::test]
async fn the_least_recently_used_model_gives_way_first() {
    let system = System::new();
    let mut scene = Scene::watching(system.watch());
    for model in ["a", "b"] {
        scene.load(model).await;
    }
    scene.embed("b", 10).await;
    scene.embed("a", 10).await;
    for model in ["a", "b"] {
        scene.attach("pressure", model).await;
    }
    // It is looked at again after each model that gave something back.
    system.has(&[9, 50]);
    let (model, saw) = scene
        .event(|event| match event.kind {
            EventKind::Policy { decision, saw, .. } if decision == "Unload" => Some((event.model, saw)),
            _ => None,
        })
        .await;
    assert_eq!((model.as_str(), saw.available_bytes), ("b", Some(9 << 20)));
    scene.until(async |host| host.model("b").await.unwrap().state == ModelState::Unloaded).await;
    assert_eq!(scene.host.model("a").await.unwrap().state, ModelState::Loaded, "there is enough again");
    scene.embed("b", 10).await;
    assert!(scene.entry("pressure").await.attachments.iter().all(|attachment| attachment.active));
}

#[tokio::test]
async fn while_it_lasts_every_model_is_asked() {
    let system = System::new();
    let mut scene = Scene::watching(system.watch());
    for model in ["a", "b"] {
        scene.load(model).await;
        scene.attach("pressure", model).await;
    }
    system.has(&[9]);
    let mut unloaded = Vec::new();
    for _ in 0..2 {
        unloaded.push(
            scene
                .event(|event| matches!(event.kind, EventKind::Unloaded { .. }).then_some(event.model))
                .await,
        );
    }
    unloaded.sort();
    assert_eq!(unloaded, ["a", "b"]);
}
