use std::sync::atomic::{AtomicBool, Ordering};

use ebb_core::options::{ExtendStrategy, Plan};

use super::*;
use crate::scene::{MIB, controls, growing, load, load_all, mlp, run};

/// C03, C04: what has no arena is dropped with its reason, the rest is shrunk.
#[test]
fn targets_without_an_arena_are_dropped_with_a_reason() {
    let mut loaded = load(mlp(), growing(ExtendStrategy::SameAsRequested)).unwrap();
    run(&mut loaded, 1000).unwrap();
    let asked = [Target::gpu(0), Target::cpu(0), Target::cpu(1)];
    let control = controls(&loaded);
    let report = control.shrink(Some(&asked)).unwrap();
    assert_eq!(report.targets, [Target::cpu(0)]);
    assert!(report.freed_bytes > 0 && report.trim_us > 0);
    assert_eq!(report.freed_bytes, report.reserved_before_bytes - report.reserved_after_bytes);
    let again = control.shrink(Some(&asked)).unwrap();
    assert_eq!((again.freed_bytes, again.trim_us), (0, 0), "nothing came back, nothing was trimmed");
    let reasons: Vec<&str> = report.dropped.iter().map(|dropped| dropped.reason.as_str()).collect();
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].contains("runs on the CPU") && reasons[1].contains("only CPU arena is cpu:0"));

    let off = load(mlp(), Plan::default()).unwrap();
    let control = controls(&off);
    assert!(control.targets().is_empty());
    let report = control.shrink(Some(&[Target::cpu(0)])).unwrap();
    assert!(report.targets.is_empty() && report.dropped[0].reason.contains("arena is off"), "{report:?}");
    assert!(control.shrink(None).unwrap().dropped.is_empty(), "nothing was asked for by name");
}

#[test]
fn a_model_shrinks_and_is_measured_while_it_runs() {
    let mut loaded = load(mlp(), growing(ExtendStrategy::SameAsRequested)).unwrap();
    let want = [1, 700, 3000].map(|rows| run(&mut loaded, rows).unwrap().0);
    let control = controls(&loaded);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let controls = scope.spawn(|| {
            let mut freed_bytes = 0;
            while !done.load(Ordering::Relaxed) {
                freed_bytes += control.shrink(None).unwrap().freed_bytes;
                let memory = control.memory().unwrap();
                assert!(
                    memory.arenas[0].in_use_bytes >= memory.pools[0].bytes,
                    "the weights are always in use"
                );
            }
            freed_bytes
        });
        for _ in 0..40 {
            assert_eq!([1, 700, 3000].map(|rows| run(&mut loaded, rows).unwrap().0), want);
        }
        done.store(true, Ordering::Relaxed);
        assert!(controls.join().unwrap() > 0);
    });
}

/// C23: a model of two sessions is shrunk and counted as one.
#[test]
fn every_session_of_a_model_is_covered() {
    let plan = growing(ExtendStrategy::SameAsRequested);
    let mut loaded = load_all(&[mlp().to_owned(), mlp().to_owned()], plan).unwrap();
    let control = controls(&loaded[0]);
    let weights = control.memory().unwrap().pools[0].bytes;
    assert!(weights >= 8 * MIB, "{weights}");
    run(&mut loaded[0], 1000).unwrap();
    run(&mut loaded[1], 1000).unwrap();
    let memory = control.memory().unwrap();
    assert_eq!(memory.arenas.len(), 1);
    let report = control.shrink(None).unwrap();
    assert_eq!(report.reserved_before_bytes, memory.arenas[0].reserved_bytes);
    assert_eq!(report.reserved_after_bytes, weights);
}

#[test]
fn closed_controls_hold_nothing() {
    let loaded = load(mlp(), growing(ExtendStrategy::SameAsRequested)).unwrap();
    let control = controls(&loaded);
    let held = Arc::downgrade(loaded.held());
    control.close();
    drop(loaded);
    assert!(held.upgrade().is_none());
    assert!(control.memory().unwrap().arenas.is_empty());
}
