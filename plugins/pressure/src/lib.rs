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
        let soon_ms = setting_or("soon_s", 15_u64).saturating_mul(1_000);
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

#[cfg(test)]
mod tests {
    use ebb_plugin_sdk::{
        Sample,
        testing::{Host, Promise, Workload, replay, sample},
    };

    use super::*;

    const MANIFEST: &str = include_str!("../plugin.toml");

    fn short(at_s: u64, slack_bytes: u64) -> Pressure {
        let now = Sample { at_ms: at_s * 1_000, ..sample(90 << 20, (90 << 20) + slack_bytes) };
        Pressure { model: "model".into(), available_bytes: 1, total_bytes: 100, now }
    }

    #[test]
    fn slack_goes_first_and_the_model_where_that_was_not_enough() {
        Host::of(MANIFEST).install();
        let mut policy = UnderPressure::default();
        assert_eq!(policy.on_pressure(&short(5, 64 << 20)), Ok(Decision::shrink_all()));
        assert_eq!(policy.on_pressure(&short(20, 64 << 20)), Ok(Decision::shrink_all()), "that was long ago");
        assert_eq!(policy.on_pressure(&short(21, 64 << 20)), Ok(Decision::Unload), "that was not");
        assert_eq!(
            UnderPressure::default().on_pressure(&short(5, 1 << 20)),
            Ok(Decision::Unload),
            "nothing to shrink"
        );
    }

    #[test]
    fn a_model_stays_where_the_user_wants_that() {
        Host::of(MANIFEST).setting("unload", false).install();
        let mut policy = UnderPressure::default();
        assert_eq!(policy.on_pressure(&short(5, 64 << 20)), Ok(Decision::shrink_all()));
        assert_eq!(policy.on_pressure(&short(6, 64 << 20)), Ok(Decision::Keep));
    }

    #[test]
    fn it_keeps_its_promise() {
        Host::of(MANIFEST).install();
        let report = replay::<UnderPressure>(&Workload::LONG.trace());
        Promise::of(MANIFEST).assert_kept(&report);
        assert!(report.without.relief_ms > 30_000, "the workload leaves nothing to do");
        assert!(report.with.unloads > 0 && report.with.shrinks > report.with.unloads);
    }
}
