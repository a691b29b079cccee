//! What a policy would have made of a recording.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use ebb_author::How;
use ebb_core::{
    Code, Failure, Hook, Json, PluginWorld,
    operations::{ReplayDecision, ReplayFailure, ReplayFigures, ReplayPoint, ReplayPromise, ReplayReport},
};
use ebb_trace::{Decision, Figures, Trace};

use super::source;
use crate::{Host, host::failed_task};

/// Points of an answer: what a chart on a wide screen can show.
const POINTS: usize = 2_000;

/// Decisions that an answer lists; all are counted.
const DECISIONS: usize = 2_000;

/// Failures that an answer lists; all are counted.
const FAILURES: usize = 100;

impl Host {
    /// Replays a recording, as [`record`](Self::record) gives it, through a policy in a sandbox of its own: nothing that the
    /// plugin keeps changes, and no model is touched. It may use all that it asks for. Settings lie over those that the user
    /// chose. Dropping the future ends it.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] for a plugin that is no policy; [`Code::InvalidValue`] for a setting that does
    /// not fit; [`Code::InvalidRequest`] for what is no recording, with the line.
    pub async fn replay(
        &self,
        id: &str,
        recording: Bytes,
        settings: BTreeMap<String, Json>,
    ) -> Result<ReplayReport, Failure> {
        let kept = self.inner.plugins.kept(id)?;
        let manifest = kept.component.manifest;
        if manifest.world != PluginWorld::ShrinkPolicy {
            return Err(Failure::new(
                Code::Unsupported,
                format!("'{id}' is not a policy: it decides nothing"),
            )
            .hint("recordings are for plugins of the world shrink-policy")
            .param("plugin"));
        }
        for (name, value) in &settings {
            ebb_plugins::check_setting(&manifest, name, Some(value))?;
        }
        let settings = kept.settings.into_iter().chain(settings).collect();
        let _one_at_a_time = self.inner.plugins.replaying.lock().await;
        let given_up = GivenUp::default();
        let heard = Arc::clone(&given_up.0);
        let path = kept.path;
        let work = tokio::task::spawn_blocking(move || replayed(path, &recording, settings, &heard));
        let report = work.await.map_err(failed_task)?;
        drop(given_up);
        report
    }
}

/// Told where nobody waits for the report any more.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn replayed(
    component: PathBuf,
    recording: &[u8],
    settings: BTreeMap<String, Json>,
    given_up: &AtomicBool,
) -> Result<ReplayReport, Failure> {
    let trace = Trace::read(recording).map_err(|error| {
        Failure::new(Code::InvalidRequest, error.to_string())
            .hint("send a recording, as `ebb model record` makes it")
            .param("recording")
    })?;
    let bytes = source::read(&component)?.bytes;
    let how = How { settings, most_points: POINTS, given_up };
    let (report, points) = ebb_author::replay(&bytes, &trace, how).map_err(Failure::from)?;
    Ok(told(report, points))
}

/// The report in the words of the interface.
fn told(report: ebb_author::ReplayReport, points: Vec<ebb_trace::Point>) -> ReplayReport {
    let ebb_author::ReplayReport { plugin, kind, provider, replay, call_us, given_up, promise } = report;
    let decisions = replay.decisions.into_iter().take(DECISIONS).map(|decided| ReplayDecision {
        at_ms: decided.at_ms,
        hook: match decided.hook {
            "idle" => Hook::Idle,
            "pressure" => Hook::Pressure,
            _ => Hook::Run,
        },
        decision: words(&decided.decision),
        in_use_bytes: decided.in_use_bytes,
        reserved_bytes: decided.reserved_bytes,
        reserved_after_bytes: decided.reserved_after_bytes,
    });
    let failures = replay.failures.into_iter().take(FAILURES);
    ReplayReport {
        plugin,
        kind,
        provider,
        without: figures(&replay.without),
        with: figures(&replay.with),
        runs: replay.runs,
        estimated_runs: replay.estimated_runs,
        asked: replay.asked,
        decided: replay.decided,
        failed: replay.failed,
        decisions: decisions.collect(),
        failures: failures.map(|(at_ms, reason)| ReplayFailure { at_ms, reason }).collect(),
        call_us,
        given_up,
        promise: promise.map(|promised| ReplayPromise {
            words: promised.words,
            figure: promised.figure,
            at_most: promised.at_most,
            value: promised.value,
            kept: promised.kept,
        }),
        points: points
            .into_iter()
            .map(|point| ReplayPoint {
                at_ms: point.at_ms,
                with_bytes: point.with_bytes,
                without_bytes: point.without_bytes,
            })
            .collect(),
    }
}

fn figures(figures: &Figures) -> ReplayFigures {
    ReplayFigures {
        duration_ms: figures.duration_ms,
        after_load_bytes: figures.after_load_bytes,
        peak_bytes: figures.peak_bytes,
        mean_bytes: figures.mean_bytes,
        end_bytes: figures.end_bytes,
        freed_bytes: figures.freed_bytes,
        shrinks: figures.shrinks,
        unloads: figures.unloads,
        reloads: figures.reloads,
        shrink_ms: figures.shrink_ms,
        reload_ms: figures.reload_ms,
        over_twice_in_use: figures.over_twice_in_use,
        idle_slack_ms: figures.idle_slack_ms,
        relief_ms: figures.relief_ms,
        short_ms: figures.short_ms,
    }
}

fn words(decision: &Decision) -> String {
    let on = |what: &str, devices: &[String]| match devices {
        [] => what.to_owned(),
        devices => format!("{what} {}", devices.join(", ")),
    };
    match decision {
        Decision::Keep => "keep".to_owned(),
        Decision::Shrink(devices) => on("shrink", devices),
        Decision::ShrinkAfterNextRun(devices) => on("shrink after the next run", devices),
        Decision::SetRuntimeOption { key, value: Some(value) } => format!("set {key}={value}"),
        Decision::SetRuntimeOption { key, value: None } => format!("take {key} back"),
        Decision::Reload => "reload".to_owned(),
        Decision::Unload => "unload".to_owned(),
        Decision::Other(what) => what.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_have_words() {
        let cpu = || vec!["cpu:0".to_owned()];
        let option = |value: Option<&str>| Decision::SetRuntimeOption {
            key: "k".to_owned(),
            value: value.map(ToOwned::to_owned),
        };
        for (decision, want) in [
            (Decision::Shrink(Vec::new()), "shrink"),
            (Decision::Shrink(cpu()), "shrink cpu:0"),
            (Decision::ShrinkAfterNextRun(cpu()), "shrink after the next run cpu:0"),
            (option(Some("v")), "set k=v"),
            (option(None), "take k back"),
            (Decision::Unload, "unload"),
        ] {
            assert_eq!(words(&decision), want);
        }
    }
}
