//! Recordings of models, and what policies would have made of them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use ebb_core::{
    Code, Json, LoadOptions,
    operations::{RecordingEvent, RecordingLine, ShrinkRequest},
};
use ebb_trace::{Trace, Workload};

use super::{Scene, soon};

const MIB: u64 = 1 << 20;

async fn next(recording: &mut ebb_api::RecordingStream) -> RecordingLine {
    soon(recording.next()).await.expect("more lines")
}

/// Lines of a recording as a file, read by what replays it.
fn read(lines: &[RecordingLine]) -> Trace {
    let text: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
    Trace::read(text.as_bytes()).unwrap()
}

#[tokio::test]
async fn a_recording_tells_what_happened_and_when_the_system_ran_short() {
    let available = Arc::new(AtomicU64::new(50 * MIB));
    let told = Arc::clone(&available);
    let scene = Scene::watching(move || (told.load(Ordering::Relaxed), 100 * MIB));
    scene.load("a", LoadOptions::default()).await;
    let mut recording = scene.host.record("a").await.unwrap();
    let mut lines = vec![next(&mut recording).await, next(&mut recording).await, next(&mut recording).await];
    assert!(matches!(&lines[0].event, RecordingEvent::Trace(head) if head.provider == "cpu"));
    assert!(matches!(lines[1].event, RecordingEvent::Sample(_)));
    let whole = RecordingEvent::Pressure { available_bytes: 50 * MIB, total_bytes: 100 * MIB };
    assert_eq!(lines[2].event, whole);

    scene.embed("a", 100).await;
    // The answer is out before its request is told, and a shrink does not wait for that.
    let mut is_told = false;
    while !is_told {
        let line = next(&mut recording).await;
        if let RecordingEvent::Run(report) = &line.event {
            assert!(report.after.reserved_bytes() > 0, "{report:?}");
            is_told = true;
        }
        lines.push(line);
    }
    scene.host.shrink("a", ShrinkRequest::default()).await.unwrap();
    available.store(5 * MIB, Ordering::Relaxed);
    let mut seen = [false; 2];
    while seen != [true; 2] {
        let line = next(&mut recording).await;
        match &line.event {
            RecordingEvent::Shrink { report, .. } => seen[0] |= report.freed_bytes == 100,
            RecordingEvent::Pressure { available_bytes, .. } => seen[1] |= *available_bytes == 5 * MIB,
            _ => {}
        }
        lines.push(line);
    }
    scene.host.unload("a").await.unwrap();
    while let Some(line) = soon(recording.next()).await {
        lines.push(line);
    }
    assert_eq!(soon(recording.next()).await, None, "it stays over");
    let trace = read(&lines);
    assert_eq!(trace.entries.len(), lines.len() - 1);
    assert_eq!(scene.host.record("a").await.unwrap_err().code, Code::NotLoaded);
}

#[tokio::test]
async fn a_policy_is_tried_on_a_recording() {
    let scene = Scene::new();
    let mut recording = Vec::new();
    Workload { seed: 1, duration_ms: 600_000, phase_runs: 10 }.trace().write(&mut recording).unwrap();
    let replay = |id: &'static str, recording: Vec<u8>, settings: BTreeMap<String, Json>| {
        scene.host.replay(id, recording.into(), settings)
    };
    let report = replay("idle", recording.clone(), BTreeMap::new()).await.unwrap();
    assert_eq!((report.plugin.as_str(), report.kind.as_str()), ("idle", "embeddings"));
    assert!(report.with.mean_bytes < report.without.mean_bytes, "{:?}", report.with);
    assert!(
        report.decided > 0 && report.decisions[0].decision.starts_with("shrink"),
        "{:?}",
        report.decisions
    );
    assert!((100..=2_000).contains(&report.points.len()), "{}", report.points.len());
    let times: Vec<u64> = report.points.iter().map(|point| point.at_ms).collect();
    assert!(times.is_sorted() && times[times.len() - 1] <= report.without.duration_ms, "{times:?}");
    let saved = report.points.iter().filter(|point| point.with_bytes < point.without_bytes).count();
    assert!(saved > report.points.len() / 10, "{saved} of {}", report.points.len());
    let highest = report.points.iter().map(|point| point.without_bytes).max().unwrap();
    assert_eq!(highest, report.without.peak_bytes);

    for (id, recording, settings, code) in [
        ("none", recording.clone(), BTreeMap::new(), Code::NotFound),
        ("rag", recording.clone(), BTreeMap::new(), Code::Unsupported),
        ("idle", b"{\"at_ms\": 1}\n".to_vec(), BTreeMap::new(), Code::InvalidRequest),
        ("idle", Vec::new(), BTreeMap::new(), Code::InvalidRequest),
        ("idle", recording, [("no_such".to_owned(), Json(1.into()))].into(), Code::InvalidValue),
    ] {
        let failure = replay(id, recording, settings).await.unwrap_err();
        assert_eq!(failure.code, code, "{failure:?}");
    }
}
