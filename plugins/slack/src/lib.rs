//! Shrinks a model that has reserved much more than it uses.
//!
//! ONNX Runtime's arena keeps what its largest request took. This policy looks at the slack after every few requests, and once
//! more when there are no more requests, and has it given back where it is large both beside what is in use and in bytes.

use ebb_plugin_sdk::{Decision, Idle, RunReport, Sample, ShrinkPolicy, debug, export_policy, setting_or};

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
        match self.runs_since {
            0 => Ok(Decision::Keep),
            _ => Ok(self.decide(&idle.now)),
        }
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
