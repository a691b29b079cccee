//! Gives memory back when the system runs short of it: slack first, the whole model where that was not enough.
//!
//! The host asks the models one after the other, the least recently used first, and stops when there is enough again. So what
//! this policy decides for its own model alone comes to "shrink, then unload, least recently used first" for all of them.

use ebb_plugin_sdk::{Decision, Pressure, ShrinkPolicy, debug, export_policy, setting_or};

/// Slack that is not worth a shrink while memory is short.
const LITTLE_BYTES: u64 = 4 << 20;

#[derive(Default)]
struct UnderPressure {
    /// When it shrank last, in the model's time.
    shrunk_at_ms: Option<u64>,
}

export_policy!(UnderPressure);

impl ShrinkPolicy for UnderPressure {
    fn on_pressure(&mut self, pressure: &Pressure) -> Result<Decision, String> {
        let now_ms = pressure.now.at_ms;
        let soon_ms = setting_or("soon_s", 10_u64).saturating_mul(1_000);
        let just_shrunk = self.shrunk_at_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < soon_ms);
        if !just_shrunk && pressure.now.slack_bytes() > LITTLE_BYTES {
            self.shrunk_at_ms = Some(now_ms);
            return Ok(Decision::shrink_all());
        }
        if !setting_or("unload", true) {
            return Ok(Decision::Keep);
        }
        debug!("{} of {} bytes left: unload", pressure.available_bytes, pressure.total_bytes);
        Ok(Decision::Unload)
    }
}
