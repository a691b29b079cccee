//! How much each request of a recording needs, had the arena been at its smallest.
//!
//! An arena tells what it has reserved, not what a request used of it. Where a request made the arena grow, or came right
//! after a shrink, the reserved bytes after it are what it needed. For the others the recording knows only that they needed
//! no more than there was; they are estimated from the known one whose number of items is nearest, in proportion. So the best
//! recording is one in which the arena was shrunk after every request: nothing in it is estimated.

use std::collections::BTreeMap;

use crate::{Event, RunReport, Sample, Trace};

/// What a request needs of one arena.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Need {
    pub(crate) device: String,
    /// Reserved bytes without which it could not run.
    pub(crate) bytes: u64,
    pub(crate) estimated: bool,
}

/// What an arena had reserved last.
#[derive(Debug, Clone, Copy)]
struct Before {
    reserved_bytes: u64,
    /// Whether it was at its smallest.
    smallest: bool,
}

/// What is known of one device's requests: items, and what they needed beyond what stays in use.
type Known = BTreeMap<u32, u64>;

/// What each run of the recording needs, in order.
pub(crate) fn needs(trace: &Trace) -> Vec<Vec<Need>> {
    let mut before = look(&trace.head.after_load, true);
    let mut known: BTreeMap<&str, Known> = BTreeMap::new();
    let mut needs = Vec::new();
    for entry in &trace.entries {
        match &entry.event {
            Event::Run(run) => {
                needs.push(exact(run, &before, &mut known));
                before = look(&run.after, false);
            }
            Event::Sample(sample) => {
                for (device, now) in look(sample, false) {
                    let last = before.get(device).copied();
                    let shrunk =
                        last.is_some_and(|last| last.smallest || now.reserved_bytes < last.reserved_bytes);
                    before.insert(device, Before { smallest: shrunk, ..now });
                }
            }
            // After one arena's shrink the next request either grows it, or needs no more than what was left.
            Event::Shrink(shrink) => {
                let (targets, left) = (&shrink.report.targets, shrink.report.reserved_after_bytes);
                for (device, before) in &mut before {
                    if targets.is_empty() || targets.iter().any(|target| target == device) {
                        *before = Before { reserved_bytes: before.reserved_bytes.min(left), smallest: true };
                    }
                }
            }
            Event::Pressure { .. } => {}
        }
    }
    let runs = trace.entries.iter().filter_map(|entry| match &entry.event {
        Event::Run(run) => Some(run),
        _ => None,
    });
    for (run, needs) in runs.zip(&mut needs) {
        for need in needs.iter_mut().filter(|need| need.estimated) {
            estimate(run, need, known.get(need.device.as_str()));
        }
    }
    needs
}

fn look(sample: &Sample, smallest: bool) -> BTreeMap<&str, Before> {
    let one = |arena: &crate::Arena| Before { reserved_bytes: arena.reserved_bytes, smallest };
    sample.arenas.iter().map(|arena| (arena.device.as_str(), one(arena))).collect()
}

/// What the run is known to have needed; the most that it can have needed where that is all that is known.
fn exact<'a>(
    run: &'a RunReport,
    before: &BTreeMap<&str, Before>,
    known: &mut BTreeMap<&'a str, Known>,
) -> Vec<Need> {
    let one = |arena: &'a crate::Arena| {
        let last = before.get(arena.device.as_str());
        let told = last.is_none_or(|last| last.smallest || arena.reserved_bytes > last.reserved_bytes);
        if told {
            known.entry(&arena.device).or_default().insert(run.items, arena.slack_bytes());
        }
        Need { device: arena.device.clone(), bytes: arena.reserved_bytes, estimated: !told }
    };
    run.after.arenas.iter().map(one).collect()
}

fn estimate(run: &RunReport, need: &mut Need, known: Option<&Known>) {
    let Some(known) = known else { return };
    let below = known.range(..=run.items).next_back();
    let above = known.range(run.items..).next();
    let distance = |items: u32| (f64::from(items.max(1)) / f64::from(run.items.max(1))).ln().abs();
    let nearest =
        [below, above].into_iter().flatten().min_by(|a, b| distance(*a.0).total_cmp(&distance(*b.0)));
    let in_use = run.after.arenas.iter().find(|arena| arena.device == need.device);
    if let (Some((items, slack)), Some(arena)) = (nearest, in_use) {
        let slack = *slack as f64 * f64::from(run.items.max(1)) / f64::from((*items).max(1));
        need.bytes = arena.in_use_bytes.saturating_add(slack as u64).min(need.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, Entry, Head, Shrink, ShrinkReport};

    fn sample(reserved_bytes: u64) -> Sample {
        let arena = Arena { device: "cpu:0".into(), in_use_bytes: 100, reserved_bytes, ..Arena::default() };
        Sample { arenas: vec![arena], ..Sample::default() }
    }

    fn trace(events: Vec<Event>) -> Trace {
        let head = Head {
            version: 1,
            kind: "embeddings".into(),
            provider: "cpu".into(),
            load_ms: None,
            after_load: sample(110),
        };
        Trace { head, entries: events.into_iter().map(|event| Entry { at_ms: 0, event }).collect() }
    }

    fn run(items: u32, reserved_bytes: u64) -> Event {
        Event::Run(RunReport { items, after: sample(reserved_bytes), ..RunReport::default() })
    }

    #[test]
    fn growth_and_shrinks_tell_what_is_needed_and_the_rest_is_estimated() {
        let report = ShrinkReport { reserved_after_bytes: 110, ..ShrinkReport::default() };
        let shrink = Event::Shrink(Shrink { cause: "request".into(), report });
        let trace = trace(vec![
            run(10, 300),
            run(5, 300),
            run(40, 300),
            run(20, 900),
            shrink,
            run(4, 180),
            run(1, 180),
        ]);
        let needs: Vec<(u64, bool)> =
            needs(&trace).into_iter().map(|needs| (needs[0].bytes, needs[0].estimated)).collect();
        let expected = [
            (300, false),
            // Four items needed 80: five need 100.
            (200, true),
            // Twenty needed 800, but there were no more than 300.
            (300, true),
            (900, false),
            (180, false),
            (120, true),
        ];
        assert_eq!(needs, expected);
    }
}
