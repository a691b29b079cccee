//! The policy `slack` on the real MiniLM: what it gives back is gone from the worker's process too.

use std::{os::unix::fs::symlink, time::Duration};

use ebb_core::{
    EventKind, LoadOptions, Saw, ShrinkReport,
    operations::{AddModel, EmbedRequest},
};
use ebb_tests::home::{program, real_model};

use super::Scene;
use crate::supervised::{MIB, resident, workers_of};

const MODEL: &str = "minilm";

/// Texts long enough for the arena to grow by far more than the model's own memory moves.
fn many() -> EmbedRequest {
    let texts = (0..32).map(|index| format!("{index}: {}", "the tide goes out ".repeat(60))).collect();
    EmbedRequest { texts, ..EmbedRequest::default() }
}

fn saw(kind: EventKind) -> Option<(String, String, Saw)> {
    match kind {
        EventKind::Policy { policy, decision, saw, .. } => Some((policy, decision, saw)),
        _ => None,
    }
}

fn report(kind: EventKind) -> Option<(String, ShrinkReport)> {
    match kind {
        EventKind::Shrink { cause, report } => Some((cause, report)),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_slack_gives_back_is_gone_from_the_process() {
    let folder = tempfile::tempdir().unwrap();
    // Its worker is told from those of other tests by its name.
    let worker = folder.path().join("worker");
    symlink(program("ebb-worker"), &worker).unwrap();
    let mut scene = Scene::real(folder, worker.clone());
    let add = AddModel { path: real_model(MODEL), alias: Some(MODEL.to_owned()) };
    scene.host.add_model(add).await.unwrap();
    let options = LoadOptions { shrink_every: Some(0), ..LoadOptions::default() };
    scene.host.load(MODEL, options, false).await.unwrap();
    let worker = workers_of(&worker)[0];

    // Nobody decides yet: what the requests left stays.
    for _ in 0..2 {
        scene.host.embed(MODEL, many()).await.unwrap();
    }
    let before = scene.host.stats(MODEL, 0).await.unwrap();
    let (slack, held) = (before.now.slack_bytes(), resident(worker).await);
    assert!(slack > 40 * MIB && before.shrinks == 0, "{before:?}");

    // As it ships, but for the number of requests after which it looks.
    scene.set("slack", &[("runs_between", 1.into())]).await;
    scene.attach("slack", MODEL).await;
    scene.host.embed(MODEL, many()).await.unwrap();
    let (policy, decision, saw) = scene.event(|event| saw(event.kind)).await;
    assert_eq!((&policy[..], &decision[..], saw.runs), ("slack", "Shrink([])", 3));
    let (cause, report) = scene.event(|event| report(event.kind)).await;
    assert_eq!(cause, "slack");

    // It decided on what the arena held, all of the slack went, and the sums are right.
    assert_eq!(saw.reserved_bytes, report.reserved_before_bytes);
    assert_eq!(report.reserved_after_bytes, report.reserved_before_bytes - report.freed_bytes);
    assert_eq!(report.freed_bytes, saw.reserved_bytes - saw.in_use_bytes);
    assert!(report.freed_bytes >= slack, "{slack}: {report:?}");
    let after = scene.host.stats(MODEL, 0).await.unwrap();
    assert_eq!(after.now.reserved_bytes(), report.reserved_after_bytes);
    assert_eq!((after.now.slack_bytes(), after.shrinks, after.freed_bytes), (0, 1, report.freed_bytes));

    // The system says the same: the process is smaller by what was freed, give or take a tenth.
    let resident_drop = held.saturating_sub(resident(worker).await);
    let tenth = report.freed_bytes / 10;
    for (name, gone) in [
        ("seen from outside", resident_drop),
        ("reported as resident", report.resident_before_bytes.saturating_sub(report.resident_after_bytes)),
        ("reported as private", report.private_before_bytes.saturating_sub(report.private_after_bytes)),
    ] {
        assert!(gone.abs_diff(report.freed_bytes) < tenth, "{name}: {gone} of {report:?}");
    }

    // And it does not shrink again where there is nothing to give back.
    let little = EmbedRequest { texts: vec!["a".to_owned()], ..EmbedRequest::default() };
    scene.host.embed(MODEL, little).await.unwrap();
    tokio::time::timeout(Duration::from_millis(300), scene.shrink()).await.unwrap_err();
    assert_eq!(scene.host.stats(MODEL, 0).await.unwrap().shrinks, 1);
}
