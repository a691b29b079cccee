//! {{name}}: gives memory back when a model holds much more than it uses.

use ebb_plugin_sdk::{
    Decision, Idle, Pressure, RunReport, Sample, ShrinkPolicy, export_policy, info, setting_or,
};

/// One value serves one model. What it keeps in its fields lasts until it is detached or the model is unloaded.
#[derive(Default)]
struct Policy;

export_policy!(Policy);

impl ShrinkPolicy for Policy {
    /// After each request, once its answer is out.
    fn on_run(&mut self, run: &RunReport) -> Result<Decision, String> {
        Ok(decide(&run.after))
    }

    /// About once a second while the model is idle.
    fn on_idle(&mut self, idle: &Idle) -> Result<Decision, String> {
        Ok(decide(&idle.now))
    }

    /// When the machine runs short: everything counts.
    fn on_pressure(&mut self, _pressure: &Pressure) -> Result<Decision, String> {
        Ok(Decision::shrink_all())
    }
}

fn decide(now: &Sample) -> Decision {
    let (in_use, reserved) = (now.in_use_bytes(), now.reserved_bytes());
    let least_bytes = setting_or("slack_mib", 32_u64) << 20;
    if now.slack_bytes() < least_bytes
        || (reserved as f64) <= setting_or("ratio", 1.5) * in_use as f64
    {
        return Decision::Keep;
    }
    info!("{reserved} bytes are reserved, {in_use} in use: shrink");
    Decision::shrink_all()
}

#[cfg(test)]
mod tests {
    use ebb_plugin_sdk::testing::{Host, run, sample};

    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn much_slack_goes_back() {
        let host = Host::new().install();
        let decision = Policy.on_run(&run(sample(100 * MIB, 200 * MIB)));
        assert_eq!(decision, Ok(Decision::shrink_all()));
        assert_eq!(
            host.logs(),
            ["209715200 bytes are reserved, 104857600 in use: shrink"]
        );
    }

    #[test]
    fn little_slack_stays_and_a_setting_says_what_is_little() {
        let _host = Host::new().setting("slack_mib", 200).install();
        let decision = Policy.on_run(&run(sample(100 * MIB, 200 * MIB)));
        assert_eq!(decision, Ok(Decision::Keep));
    }
}
