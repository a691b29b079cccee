//! The simulated arena: it grows to what each request needs, and keeps it until a shrink.

use std::collections::BTreeMap;

use crate::{Arena, Event, Sample, Trace, needs::Need};

/// Every arena of the simulated model.
#[derive(Debug, Clone)]
pub(crate) struct Arenas {
    after_load: Vec<Arena>,
    now: Vec<Arena>,
    /// Slack that a shrink leaves, by device: the regions that are never wholly free.
    left_slack: BTreeMap<String, u64>,
}

impl Arenas {
    pub(crate) fn new(trace: &Trace) -> Self {
        let after_load = trace.head.after_load.arenas.clone();
        let mut left_slack: BTreeMap<String, u64> =
            after_load.iter().map(|arena| (arena.device.clone(), arena.slack_bytes())).collect();
        let mut in_use = BTreeMap::new();
        for entry in &trace.entries {
            match &entry.event {
                Event::Run(run) => remember(&mut in_use, &run.after),
                Event::Sample(sample) => remember(&mut in_use, sample),
                Event::Shrink(shrink) => {
                    // Of one arena alone the report says what was left.
                    let [device] = shrink.report.targets.as_slice() else { continue };
                    let Some(in_use) = in_use.get(device) else { continue };
                    let left = shrink.report.reserved_after_bytes.saturating_sub(*in_use);
                    let known = left_slack.entry(device.clone()).or_insert(left);
                    *known = left.min(*known);
                }
                Event::Pressure { .. } => {}
            }
        }
        Self { now: after_load.clone(), after_load, left_slack }
    }

    pub(crate) fn now(&self) -> &[Arena] {
        &self.now
    }

    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.now.iter().fold(0, |sum, arena| sum.saturating_add(arena.reserved_bytes))
    }

    pub(crate) fn in_use_bytes(&self) -> u64 {
        self.now.iter().fold(0, |sum, arena| sum.saturating_add(arena.in_use_bytes))
    }

    /// Takes what a request needs; it is all in use while the request runs.
    pub(crate) fn begin(&mut self, needs: &[Need]) {
        for need in needs {
            let arena = self.arena(&need.device);
            arena.in_use_bytes = arena.in_use_bytes.max(need.bytes);
            arena.peak_in_use_bytes = arena.peak_in_use_bytes.max(need.bytes);
            if need.bytes > arena.reserved_bytes {
                arena.reserved_bytes = need.bytes;
                arena.regions = arena.regions.saturating_add(1);
            }
        }
    }

    /// Keeps in use what the recording kept.
    pub(crate) fn end(&mut self, recorded: &Sample) {
        for one in &recorded.arenas {
            let arena = self.arena(&one.device);
            arena.in_use_bytes = one.in_use_bytes.min(arena.reserved_bytes);
        }
    }

    /// Gives back what a shrink can; says how much that was. No device: every arena.
    pub(crate) fn shrink(&mut self, devices: &[String]) -> u64 {
        let mut freed_bytes: u64 = 0;
        for arena in self.now.iter_mut().filter(|arena| devices.is_empty() || devices.contains(&arena.device))
        {
            let left = self.left_slack.get(&arena.device).copied().unwrap_or(0).min(arena.slack_bytes());
            let freed = arena.slack_bytes() - left;
            if freed > 0 {
                arena.reserved_bytes -= freed;
                arena.shrinkages = arena.shrinkages.saturating_add(1);
                arena.regions = arena.regions.saturating_sub(1).max(1);
                freed_bytes = freed_bytes.saturating_add(freed);
            }
        }
        freed_bytes
    }

    pub(crate) fn unload(&mut self) {
        self.now.clear();
    }

    pub(crate) fn load(&mut self) {
        self.now.clone_from(&self.after_load);
    }

    fn arena(&mut self, device: &str) -> &mut Arena {
        let index = self.now.iter().position(|arena| arena.device == device).unwrap_or_else(|| {
            self.now.push(Arena { device: device.to_owned(), ..Arena::default() });
            self.now.len() - 1
        });
        &mut self.now[index]
    }
}

fn remember(in_use: &mut BTreeMap<String, u64>, sample: &Sample) {
    for arena in &sample.arenas {
        in_use.insert(arena.device.clone(), arena.in_use_bytes);
    }
}
