//! A policy's component, asked by the simulator as a host would ask it.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use ebb_core::{
    ArenaSample, Capability, Decision, Outcome as Ended, PluginManifest, Policy, Pool, RunReport, Sample,
    Target, operations::Grant,
};
use ebb_plugins::{Plugin, PluginConfig, Sandbox, SandboxConfig};
use ebb_trace::{Asked, Hook, Point, Report, Trace};

use super::{How, absent::Recorded};
use crate::Error;

/// What came of a replay.
pub(super) struct Outcome {
    pub(super) replay: Report,
    pub(super) points: Vec<Point>,
    pub(super) call_us: Option<u64>,
    pub(super) given_up: Option<String>,
}

/// Replays `trace` through the policy that `component` is.
pub(super) fn replay(
    component: &[u8],
    manifest: &PluginManifest,
    trace: &Trace,
    how: How<'_>,
) -> Result<Outcome, Error> {
    let scratch =
        tempfile::tempdir().map_err(|source| Error::Write { path: std::env::temp_dir(), source })?;
    let recorded = Arc::new(Recorded::default());
    let sandbox = Sandbox::new(SandboxConfig::default(), recorded.clone())?;
    let compiled = sandbox.compile(component, &mut |_| {})?;
    let config = PluginConfig {
        manifest: manifest.clone(),
        data_folder: scratch.path().to_owned(),
        grants: grants(manifest),
        settings: how.settings,
    };
    let plugin = Plugin::new(&sandbox, compiled, config)?;
    let mut asking = Asking { plugin, recorded, load: 0, policy: None, calls_us: Vec::new(), given_up: None };
    let ask = |asked: Asked<'_>| {
        if how.given_up.load(Ordering::Relaxed) { Ok(ebb_trace::Decision::Keep) } else { asking.ask(asked) }
    };
    let (replay, points) = ebb_trace::replay_over_time(trace, ask, how.most_points);
    Ok(Outcome { replay, points, call_us: median(asking.calls_us), given_up: asking.given_up })
}

/// All that it asks for, on every model.
fn grants(manifest: &PluginManifest) -> Vec<Grant> {
    let grant = |capability: Capability| Grant {
        capability,
        models: if capability.is_of_models() { vec!["*".to_owned()] } else { Vec::new() },
        paths: Vec::new(),
    };
    manifest.capabilities.iter().map(|asked| grant(asked.capability)).collect()
}

/// Asks the policy. A model that was loaded again has a new instance, as in a host.
struct Asking {
    plugin: Plugin,
    recorded: Arc<Recorded>,
    /// Which load of the model the policy serves.
    load: u64,
    policy: Option<Box<dyn Policy>>,
    calls_us: Vec<u64>,
    given_up: Option<String>,
}

impl Asking {
    fn ask(&mut self, asked: Asked<'_>) -> Result<ebb_trace::Decision, String> {
        if self.given_up.is_some() {
            return Ok(ebb_trace::Decision::Keep);
        }
        if asked.load != self.load {
            self.load = asked.load;
            self.policy = None;
        }
        let model = asked.model;
        let policy = self.policy.get_or_insert_with(|| self.plugin.policy(model).0);
        let seen = sample(match &asked.hook {
            Hook::Run(run) => &run.after,
            Hook::Idle { now, .. } | Hook::Pressure { now, .. } => now,
        });
        self.recorded.add(seen.clone());
        let began = Instant::now();
        let decided = match asked.hook {
            Hook::Run(run) => policy.on_run(&report(run, seen)),
            Hook::Idle { idle_ms, .. } => policy.on_idle(idle_ms, &seen),
            Hook::Pressure { available_bytes, total_bytes, .. } => {
                policy.on_pressure(available_bytes, total_bytes, &seen)
            }
        };
        self.calls_us.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        self.given_up = policy.given_up();
        decided.map(decision).map_err(|failure| failure.message)
    }
}

fn median(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

fn report(run: &ebb_trace::RunReport, after: Sample) -> RunReport {
    RunReport {
        model: run.model.clone(),
        outcome: match run.outcome.as_str() {
            "failed" => Ended::Failed,
            "cancelled" => Ended::Cancelled,
            _ => Ended::Ok,
        },
        took_us: run.took_us,
        items: run.items,
        queued: run.queued,
        after,
    }
}

fn sample(recorded: &ebb_trace::Sample) -> Sample {
    let arena = |arena: &ebb_trace::Arena| {
        Some(ArenaSample {
            // One of a device that this Ebb does not know is not shown.
            device: Target::parse(&arena.device).ok()?,
            in_use_bytes: arena.in_use_bytes,
            reserved_bytes: arena.reserved_bytes,
            peak_in_use_bytes: arena.peak_in_use_bytes,
            limit_bytes: arena.limit_bytes,
            regions: arena.regions,
            shrinkages: arena.shrinkages,
        })
    };
    let pool = |pool: &ebb_trace::Pool| Pool {
        name: pool.name.clone(),
        bytes: pool.bytes,
        droppable: pool.droppable,
    };
    Sample {
        model: recorded.model.clone(),
        at_ms: recorded.at_ms,
        resident_bytes: recorded.resident_bytes,
        private_bytes: recorded.private_bytes,
        runs: recorded.runs,
        arenas: recorded.arenas.iter().filter_map(arena).collect(),
        pools: recorded.pools.iter().map(pool).collect(),
    }
}

fn decision(decided: Decision) -> ebb_trace::Decision {
    match decided {
        Decision::Keep => ebb_trace::Decision::Keep,
        Decision::Shrink(targets) => {
            ebb_trace::Decision::Shrink(targets.iter().map(ToString::to_string).collect())
        }
        Decision::ShrinkAfterNextRun(targets) => {
            ebb_trace::Decision::ShrinkAfterNextRun(targets.iter().map(ToString::to_string).collect())
        }
        Decision::SetRuntimeOption { key, value } => {
            ebb_trace::Decision::SetRuntimeOption { key, value: (!value.is_empty()).then_some(value) }
        }
        Decision::Reload => ebb_trace::Decision::Reload,
        Decision::Unload => ebb_trace::Decision::Unload,
    }
}
