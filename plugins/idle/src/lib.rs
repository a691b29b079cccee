//! Shrinks a model that nobody asks, and unloads it later.

use ebb_plugin_sdk::{Decision, Idle, RunReport, ShrinkPolicy, export_policy, setting_or};

/// Slack that is not worth a shrink.
const LITTLE_BYTES: u64 = 1 << 20;

#[derive(Default)]
struct WhenIdle {
    /// Whether the shrink of this idle time was asked for.
    shrunk: bool,
}

export_policy!(WhenIdle);

impl ShrinkPolicy for WhenIdle {
    fn on_run(&mut self, _run: &RunReport) -> Result<Decision, String> {
        self.shrunk = false;
        Ok(Decision::Keep)
    }

    fn on_idle(&mut self, idle: &Idle) -> Result<Decision, String> {
        let unload_after_s = setting_or("unload_after_s", 1_800_u64);
        if unload_after_s > 0 && idle.idle_ms >= unload_after_s.saturating_mul(1_000) {
            return Ok(Decision::Unload);
        }
        let shrink_after_s = setting_or("shrink_after_s", 30_u64);
        let waits = idle.idle_ms < shrink_after_s.saturating_mul(1_000);
        if self.shrunk || waits || idle.now.slack_bytes() <= LITTLE_BYTES {
            return Ok(Decision::Keep);
        }
        self.shrunk = true;
        Ok(Decision::shrink_all())
    }
}

#[cfg(test)]
mod tests {
    use ebb_plugin_sdk::testing::{Host, Promise, Workload, replay, run, sample};

    use super::*;

    const MANIFEST: &str = include_str!("../plugin.toml");

    fn idle(idle_s: u64, slack_bytes: u64) -> Idle {
        Idle {
            model: "model".into(),
            idle_ms: idle_s * 1_000,
            now: sample(90 << 20, (90 << 20) + slack_bytes),
        }
    }

    #[test]
    fn an_idle_model_is_shrunk_once_and_unloaded_later() {
        Host::of(MANIFEST).install();
        let mut policy = WhenIdle::default();
        assert_eq!(policy.on_idle(&idle(29, 1 << 30)), Ok(Decision::Keep));
        assert_eq!(policy.on_idle(&idle(30, 1 << 20)), Ok(Decision::Keep), "not worth it");
        assert_eq!(policy.on_idle(&idle(31, 2 << 20)), Ok(Decision::shrink_all()));
        assert_eq!(policy.on_idle(&idle(32, 2 << 20)), Ok(Decision::Keep), "what is left does not come back");
        assert_eq!(policy.on_run(&run(sample(0, 0))), Ok(Decision::Keep));
        assert_eq!(policy.on_idle(&idle(30, 2 << 20)), Ok(Decision::shrink_all()));
        assert_eq!(policy.on_idle(&idle(1_799, 0)), Ok(Decision::Keep));
        assert_eq!(policy.on_idle(&idle(1_800, 0)), Ok(Decision::Unload));
    }

    #[test]
    fn zero_never_unloads() {
        Host::of(MANIFEST).setting("unload_after_s", 0).install();
        assert_eq!(WhenIdle::default().on_idle(&idle(u64::MAX / 1_000, 0)), Ok(Decision::Keep));
    }

    #[test]
    fn it_keeps_its_promise() {
        Host::of(MANIFEST).install();
        let report = replay::<WhenIdle>(&Workload::LONG.trace());
        Promise::of(MANIFEST).assert_kept(&report);
        assert!(report.without.idle_slack_ms > 3_600_000, "the workload leaves nothing to do");
        assert!(report.with.unloads > 0 && report.with.unloads <= report.with.shrinks);
    }
}
