//! Policies on recordings: what a model would have held.

use ebb_trace::{Asked, Hook, Report, Trace};

use super::Host;
use crate::{Arena, Decision, Idle, Pool, Pressure, RunReport, Sample, ShrinkPolicy};

/// Replays a recording with a policy, and without. The host that is installed answers its calls; its clock and its newest
/// sample are those of the replay.
///
/// ```
/// use ebb_plugin_sdk::{Decision, Idle, ShrinkPolicy, testing::{Workload, replay}};
///
/// #[derive(Default)]
/// struct AtRest;
///
/// impl ShrinkPolicy for AtRest {
///     fn on_idle(&mut self, idle: &Idle) -> Result<Decision, String> {
///         Ok(if idle.now.slack_bytes() > 16 << 20 { Decision::shrink_all() } else { Decision::Keep })
///     }
/// }
///
/// let workload = Workload { seed: 7, duration_ms: 3_600_000, phase_runs: 20 };
/// let report = replay::<AtRest>(&workload.trace());
/// assert!(report.with.idle_slack_ms <= 1_000);
/// assert!(report.with.mean_bytes * 2 < report.without.mean_bytes);
/// ```
pub fn replay<P: ShrinkPolicy>(trace: &Trace) -> Report {
    let mut policy = P::default();
    let mut load = 0;
    ebb_trace::replay(trace, |asked| {
        if asked.load != load {
            (policy, load) = (P::default(), asked.load);
        }
        ask(&mut policy, asked).map(decided)
    })
}

fn ask<P: ShrinkPolicy>(policy: &mut P, asked: Asked<'_>) -> Result<Decision, String> {
    let model = asked.model.to_owned();
    match asked.hook {
        Hook::Run(run) => {
            let run = self::run(run);
            tell(asked.at_ms, &run.after);
            policy.on_run(&run)
        }
        Hook::Idle { idle_ms, now } => {
            let now = sample(now);
            tell(asked.at_ms, &now);
            policy.on_idle(&Idle { model, idle_ms, now })
        }
        Hook::Pressure { available_bytes, total_bytes, now } => {
            let now = sample(now);
            tell(asked.at_ms, &now);
            policy.on_pressure(&Pressure { model, available_bytes, total_bytes, now })
        }
    }
}

fn tell(at_ms: u64, sample: &Sample) {
    let host = Host::current().at_ms(at_ms);
    host.0.borrow_mut().samples.insert(sample.model.clone(), vec![sample.clone()]);
}

fn run(run: &ebb_trace::RunReport) -> RunReport {
    let ebb_trace::RunReport { model, outcome, took_us, items, queued, after } = run;
    RunReport {
        model: model.clone(),
        outcome: outcome.clone(),
        took_us: *took_us,
        items: *items,
        queued: *queued,
        after: sample(after),
        more: Vec::new(),
    }
}

fn sample(sample: &ebb_trace::Sample) -> Sample {
    let arena = |arena: &ebb_trace::Arena| Arena {
        device: arena.device.clone(),
        in_use_bytes: arena.in_use_bytes,
        reserved_bytes: arena.reserved_bytes,
        peak_in_use_bytes: arena.peak_in_use_bytes,
        limit_bytes: arena.limit_bytes,
        regions: arena.regions,
        shrinkages: arena.shrinkages,
    };
    let pool = |pool: &ebb_trace::Pool| Pool {
        name: pool.name.clone(),
        bytes: pool.bytes,
        droppable: pool.droppable,
    };
    Sample {
        model: sample.model.clone(),
        at_ms: sample.at_ms,
        resident_bytes: sample.resident_bytes,
        private_bytes: sample.private_bytes,
        runs: sample.runs,
        arenas: sample.arenas.iter().map(arena).collect(),
        pools: sample.pools.iter().map(pool).collect(),
        more: Vec::new(),
    }
}

fn decided(decision: Decision) -> ebb_trace::Decision {
    match decision {
        Decision::Keep => ebb_trace::Decision::Keep,
        Decision::Shrink(devices) => ebb_trace::Decision::Shrink(devices),
        Decision::ShrinkAfterNextRun(devices) => ebb_trace::Decision::ShrinkAfterNextRun(devices),
        Decision::SetRuntimeOption(option) => {
            ebb_trace::Decision::SetRuntimeOption { key: option.key, value: option.value }
        }
        Decision::Reload => ebb_trace::Decision::Reload,
        Decision::Unload => ebb_trace::Decision::Unload,
        Decision::Other(name) => ebb_trace::Decision::Other(name),
    }
}
