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
