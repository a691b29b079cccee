//! Shrinks a model that has reserved much more than it uses.
//!
//! ONNX Runtime's arena keeps what its largest request took. This policy looks at the slack after every few requests, and once
//! more when there are no more requests, and has it given back where it is large both beside what is in use and in bytes.

use ebb_plugin_sdk::{Decision, Idle, RunReport, Sample, ShrinkPolicy, debug, export_policy, setting_or};

/// After this long without a request the next one is not expected at once.
const REST_MS: u64 = 3_000;

/// What the last shrink was decided on.
struct Last {
    slack_bytes: u64,
    /// Regions that shrinking had freed by then.
    freed_regions: u64,
}

#[derive(Default)]
struct Slack {
    runs_since: u32,
    last: Option<Last>,
}

export_policy!(Slack);

impl ShrinkPolicy for Slack {
    fn on_run(&mut self, run: &RunReport) -> Result<Decision, String> {
        self.runs_since += 1;
        // A shrink makes the next large request take its memory from the system again: not after each of them.
        if self.runs_since < setting_or("runs_between", 8) {
            return Ok(Decision::Keep);
        }
        Ok(self.decide(&run.after))
    }

    fn on_idle(&mut self, idle: &Idle) -> Result<Decision, String> {
        if self.runs_since == 0 || idle.idle_ms < REST_MS {
            return Ok(Decision::Keep);
        }
        Ok(self.decide(&idle.now))
    }
}

impl Slack {
    fn decide(&mut self, now: &Sample) -> Decision {
        let (in_use, reserved, slack) = (now.in_use_bytes(), now.reserved_bytes(), now.slack_bytes());
        let freed_regions = now.arenas.iter().map(|arena| arena.shrinkages).sum();
        // Slack in regions that are partly in use does not come back. Where the last shrink freed nothing, only what has
        // come on top of it since can be worth another.
        let stuck = match &self.last {
            Some(last) if last.freed_regions == freed_regions => last.slack_bytes,
            _ => 0,
        };
        let most_bytes = setting_or("slack_mib", 32_u64) << 20;
        let ratio = setting_or("ratio", 1.5_f64);
        if slack <= stuck.saturating_add(most_bytes) || (reserved as f64) <= ratio * in_use as f64 {
            return Decision::Keep;
        }
        debug!("{reserved} bytes reserved, {in_use} in use: shrink");
        self.runs_since = 0;
        self.last = Some(Last { slack_bytes: slack, freed_regions });
        Decision::shrink_all()
    }
}

#[cfg(test)]
mod tests {
    use ebb_plugin_sdk::testing::{Host, Promise, Trace, Workload, replay, run, sample};

    use super::*;

    const MANIFEST: &str = include_str!("../plugin.toml");
    const MIB: u64 = 1 << 20;

    /// What the policy decides of a model with 100 MiB in use, once it has waited for its eight requests.
    fn decides(policy: &mut Slack, reserved_mib: u64, freed_regions: u64) -> Decision {
        let mut sample = sample(100 * MIB, reserved_mib * MIB);
        sample.arenas[0].shrinkages = freed_regions;
        let mut decision = Decision::Keep;
        for _ in policy.runs_since..8 {
            assert_eq!(decision, Decision::Keep, "it does not wait");
            decision = policy.on_run(&run(sample.clone())).unwrap();
        }
        decision
    }

    #[test]
    fn slack_must_be_large_both_ways() {
        Host::of(MANIFEST).install();
        assert_eq!(decides(&mut Slack::default(), 150, 0), Decision::Keep);
        assert_eq!(decides(&mut Slack::default(), 151, 0), Decision::shrink_all());
        Host::of(MANIFEST).setting("slack_mib", 60).install();
        assert_eq!(decides(&mut Slack::default(), 160, 0), Decision::Keep);
        assert_eq!(decides(&mut Slack::default(), 161, 0), Decision::shrink_all());
        Host::of(MANIFEST).setting("ratio", 4.0).install();
        assert_eq!(decides(&mut Slack::default(), 400, 0), Decision::Keep);
    }

    #[test]
    fn slack_that_does_not_come_back_is_not_asked_for_again() {
        Host::of(MANIFEST).install();
        let mut policy = Slack::default();
        assert_eq!(decides(&mut policy, 200, 3), Decision::shrink_all());
        policy.runs_since = 0;
        assert_eq!(decides(&mut policy, 232, 3), Decision::Keep, "nothing came back");
        policy.runs_since = 0;
        assert_eq!(decides(&mut policy, 233, 3), Decision::shrink_all(), "but there is more now");
        assert_eq!(decides(&mut policy, 200, 4), Decision::shrink_all(), "and it came back");
    }

    #[test]
    fn the_last_requests_are_not_waited_for() {
        Host::of(MANIFEST).install();
        let (mut policy, now) = (Slack::default(), sample(100 * MIB, 300 * MIB));
        let idle = Idle { model: "model".into(), idle_ms: REST_MS, now: now.clone() };
        assert_eq!(policy.on_idle(&idle), Ok(Decision::Keep), "nobody asked since the load");
        assert_eq!(policy.on_run(&run(now)), Ok(Decision::Keep));
        assert_eq!(policy.on_idle(&Idle { idle_ms: REST_MS - 1, ..idle.clone() }), Ok(Decision::Keep));
        assert_eq!(policy.on_idle(&idle), Ok(Decision::shrink_all()));
        assert_eq!(policy.on_idle(&idle), Ok(Decision::Keep));
    }

    #[test]
    fn it_keeps_its_promise() {
        Host::of(MANIFEST).install();
        let report = replay::<Slack>(&Workload::LONG.trace());
        Promise::of(MANIFEST).assert_kept(&report);
        assert_eq!(report.estimated_runs, 0);
        assert!(report.without.over_twice_in_use > 0.5, "the workload leaves nothing to do");
        assert!(report.with.shrinks * 4 <= report.runs, "{} shrinks", report.with.shrinks);
    }

    /// So that `ebb plugin test` has something to replay before anything was recorded.
    #[test]
    fn the_recording_that_is_shipped_is_the_short_workload() {
        let recording = include_bytes!("../../traces/mixed.jsonl");
        assert!(recording.len() < 200_000);
        assert_eq!(Trace::read(recording.as_slice()).unwrap(), Workload::SHORT.trace());
    }
}
