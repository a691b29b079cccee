//! What a simulated arena does, by small recordings whose figures can be worked out by hand.

use super::*;
use crate::{Arena, Entry, Figure, Head, Shrink, ShrinkReport};

const MIB: u64 = 1 << 20;

fn sample(reserved_mib: u64) -> Sample {
    let arena = Arena {
        device: "cpu:0".into(),
        in_use_bytes: 100 * MIB,
        reserved_bytes: reserved_mib * MIB,
        ..Arena::default()
    };
    Sample { model: "m".into(), arenas: vec![arena], ..Sample::default() }
}

fn run(at_ms: u64, reserved_mib: u64, queued: u32) -> Entry {
    let after = sample(reserved_mib);
    let run = RunReport { took_us: 100_000, items: 1, queued, after, ..RunReport::default() };
    Entry { at_ms, event: Event::Run(run) }
}

fn end(at_ms: u64, reserved_mib: u64) -> Entry {
    Entry { at_ms, event: Event::Sample(sample(reserved_mib)) }
}

fn trace(entries: Vec<Entry>) -> Trace {
    let (kind, provider) = ("embeddings".into(), "cpu".into());
    let head = Head { version: 1, kind, provider, load_ms: Some(200), after_load: sample(104) };
    Trace { head, entries }
}

/// A policy that decides something once, at one hook.
fn once(hook: &str, decision: Decision) -> impl FnMut(Asked<'_>) -> Result<Decision, String> {
    let mut decision = Some(decision);
    move |asked| match asked.hook.name() == hook {
        true => Ok(decision.take().unwrap_or(Decision::Keep)),
        false => Ok(Decision::Keep),
    }
}

#[test]
fn an_arena_keeps_what_it_took_until_it_is_shrunk() {
    let trace = trace(vec![run(1_100, 300, 0), run(2_100, 300, 0), end(5_000, 300)]);
    let report = replay(&trace, once("idle", Decision::Shrink(Vec::new())));
    // The first idle second is over before the first request: that shrink finds nothing but what a shrink leaves.
    assert_eq!((report.decided, report.with.freed_bytes), (1, 0));

    let report = replay(&trace, once("run", Decision::Shrink(Vec::new())));
    assert_eq!(report.without.peak_bytes, 300 * MIB);
    assert_eq!((report.without.end_bytes, report.with.shrinks), (300 * MIB, 1));
    // 1 s at 104, 0.1 s at 300, 0.9 s at 104, then the second request, whose need is not known better than 300.
    let mean = (1_900 * 104 + 3_100 * 300) * MIB / 5_000;
    assert_eq!(report.with.mean_bytes, mean);
    assert_eq!(report.with.freed_bytes, 196 * MIB);
    assert_eq!(report.estimated_runs, 1);
    let without = (1_000 * 104 + 4_000 * 300) * MIB / 5_000;
    assert_eq!(report.figure(Figure::MeanReservedRatio), Some(mean as f64 / without as f64));
    assert_eq!(report.figure(Figure::EndReservedRatio), Some(300.0 / 104.0));
    assert_eq!(report.figure(Figure::IdleSlackMs), Some(2_900.0));
    let decided = &report.decisions[0];
    assert_eq!((decided.at_ms, decided.hook, decided.reserved_bytes >> 20), (1_100, "run", 300));
    assert_eq!((decided.in_use_bytes >> 20, decided.reserved_after_bytes >> 20), (100, 104));
}

#[test]
fn a_shrink_waits_for_what_is_queued() {
    let trace = trace(vec![run(1_000, 300, 1), run(1_200, 400, 0), end(3_000, 400)]);
    for decision in [Decision::Shrink(Vec::new()), Decision::ShrinkAfterNextRun(vec!["cpu:0".into()])] {
        let report = replay(&trace, once("run", decision));
        assert_eq!((report.with.peak_bytes >> 20, report.with.end_bytes >> 20), (400, 104));
        assert_eq!((report.with.freed_bytes >> 20, report.with.shrinks), (296, 1));
    }
    let gpu = replay(&trace, once("run", Decision::ShrinkAfterNextRun(vec!["gpu:0".into()])));
    assert_eq!((gpu.with.freed_bytes, gpu.with.end_bytes >> 20), (0, 400));
    let option =
        |value: &str| Decision::SetRuntimeOption { key: SHRINK_KEY.into(), value: Some(value.into()) };
    assert_eq!(replay(&trace, once("run", option("cpu:0"))).with.end_bytes >> 20, 104);
    assert_eq!(replay(&trace, once("run", Decision::Other("later".into()))).with, gpu_without_shrink(&gpu));
}

/// A shrink that reached nothing differs from none at all by being counted.
fn gpu_without_shrink(gpu: &Report) -> Figures {
    Figures { shrinks: 0, ..gpu.with.clone() }
}

#[test]
fn a_model_that_was_unloaded_is_loaded_for_the_next_request() {
    let trace = trace(vec![run(500, 300, 0), run(10_000, 110, 0), end(11_000, 300)]);
    let mut loads = Vec::new();
    let mut unload = once("idle", Decision::Unload);
    let report = replay(&trace, |asked| {
        loads.push((asked.load, asked.hook.name()));
        unload(asked)
    });
    assert_eq!((report.with.unloads, report.with.reloads, report.with.reload_ms), (1, 1, 200));
    // Gone from 1.5 s until the second request, and nobody is asked meanwhile. The request needs 300 for all that is known.
    assert_eq!(loads, [(0, "run"), (0, "idle"), (1, "run"), (1, "idle")]);
    assert_eq!(report.with.mean_bytes, (400 * 104 + 1_100 * 300 + 1_100 * 110) * MIB / 11_000);

    let report = replay(&trace, once("run", Decision::Reload));
    assert_eq!((report.with.unloads, report.with.reloads), (1, 1));
    assert_eq!(report.with.end_bytes >> 20, 110);
}

#[test]
fn a_shortage_lasts_until_enough_is_given_back() {
    let pressure = |at_ms: u64, available_mib: u64| Entry {
        at_ms,
        event: Event::Pressure { available_bytes: available_mib * MIB, total_bytes: 1_000 * MIB },
    };
    // 50 are left while the model holds 300; it can give 196 back, and more is left at the end.
    let trace = trace(vec![run(1_000, 300, 0), pressure(3_000, 50), pressure(20_000, 500), end(21_000, 300)]);
    let mut asked_at = Vec::new();
    let report = replay(&trace, |asked| match asked.hook {
        Hook::Pressure { available_bytes, total_bytes, .. } => {
            asked_at.push((asked.at_ms, available_bytes >> 20, total_bytes >> 20));
            Ok(if asked_at.len() < 3 { Decision::Keep } else { Decision::Shrink(Vec::new()) })
        }
        _ => Err("not now".into()),
    });
    // It is looked every two seconds, and asked again after five.
    assert_eq!(asked_at, [(4_000, 50, 1_000), (10_000, 50, 1_000), (16_000, 50, 1_000)]);
    assert_eq!((report.with.relief_ms, report.without.relief_ms), (13_000, 17_000));
    assert_eq!(report.figure(Figure::ReliefMs), Some(13_000.0));
    assert_eq!(report.failed, report.asked - 3);
    assert_eq!(report.failures[0], (1_000, "not now".into()));
}

#[test]
fn what_recorded_shrinks_left_is_what_shrinks_leave() {
    let shrink = ShrinkReport {
        freed_bytes: 199 * MIB,
        reserved_after_bytes: 101 * MIB,
        targets: vec!["cpu:0".into()],
        ..ShrinkReport::default()
    };
    let shrink = Event::Shrink(Shrink { cause: "request".into(), report: shrink });
    let trace = trace(vec![run(1_000, 300, 0), Entry { at_ms: 1_500, event: shrink }, end(3_000, 101)]);
    let report = replay(&trace, once("run", Decision::Shrink(Vec::new())));
    assert_eq!((report.with.end_bytes >> 20, report.without.end_bytes >> 20), (101, 300));
}

#[test]
fn figures_beyond_all_measure_are_only_figures() {
    let most = u64::MAX;
    let arena = |device: &str| Arena {
        device: device.into(),
        in_use_bytes: most,
        reserved_bytes: most,
        regions: most,
        shrinkages: most,
        ..Arena::default()
    };
    let arenas = vec![arena("cpu:0"), arena("gpu:0")];
    let huge = Sample { resident_bytes: most, runs: most, arenas, ..sample(0) };
    let run =
        RunReport { took_us: most, items: u32::MAX, queued: 7, after: huge.clone(), ..RunReport::default() };
    let pressure = Event::Pressure { available_bytes: most, total_bytes: most };
    let report = ShrinkReport {
        freed_bytes: most,
        reserved_after_bytes: most,
        took_us: most,
        ..ShrinkReport::default()
    };
    let shrink = Event::Shrink(Shrink { cause: String::new(), report });
    let empty = Event::Sample(Sample::default());
    let events = [Event::Run(run.clone()), pressure, shrink, empty, Event::Run(run), Event::Sample(huge)];
    let entries = events.into_iter().zip([0, 0, 9_000, 9_000, 12_000, 20_000]);
    let mut trace = trace(entries.map(|(event, at_ms)| Entry { at_ms, event }).collect());
    trace.head.load_ms = Some(most);
    for decision in [Decision::Shrink(Vec::new()), Decision::Reload, Decision::Unload] {
        let report = replay(&trace, |_| Ok(decision.clone()));
        assert_eq!((report.with.peak_bytes, report.with.duration_ms), (most, 20_000));
    }
}
