//! What a replay came to.

use serde::Serialize;

use crate::{Decision, Figure, Figures};

/// Decisions and failures that a report lists; all are counted.
const LISTED: usize = 10_000;

/// A decision other than keep, with the figures that it was made on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decided {
    /// When.
    pub at_ms: u64,
    /// `run`, `idle`, `pressure`.
    pub hook: &'static str,
    /// What.
    pub decision: Decision,
    /// In use then.
    pub in_use_bytes: u64,
    /// Reserved then.
    pub reserved_bytes: u64,
    /// Reserved right after it was done.
    pub reserved_after_bytes: u64,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What the model held without the policy.
    pub without: Figures,
    /// What it held with the policy.
    pub with: Figures,
    /// Requests.
    pub runs: u64,
    /// Of those, requests whose need of memory is an estimate.
    pub estimated_runs: u64,
    /// How often the policy was asked.
    pub asked: u64,
    /// Of those, decisions other than keep.
    pub decided: u64,
    /// Of those, failures.
    pub failed: u64,
    /// The first decisions other than keep.
    pub decisions: Vec<Decided>,
    /// The first failures, each with its time.
    pub failures: Vec<(u64, String)>,
}

impl Report {
    /// A figure that a policy can promise. `None` where the recording leaves it without a meaning: nothing was reserved.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        match figure {
            Figure::MeanReservedRatio => ratio(self.with.mean_bytes, self.without.mean_bytes),
            Figure::EndReservedRatio => ratio(self.with.end_bytes, self.with.after_load_bytes),
            Figure::OverTwiceInUse => Some(self.with.over_twice_in_use),
            Figure::IdleSlackMs => Some(self.with.idle_slack_ms as f64),
            Figure::ReliefMs => Some(self.with.relief_ms as f64),
        }
    }
}

/// What the policy said.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) asked: u64,
    pub(crate) decided: u64,
    pub(crate) failed: u64,
    pub(crate) decisions: Vec<Decided>,
    pub(crate) failures: Vec<(u64, String)>,
}

impl Told {
    pub(crate) fn decided(&mut self, decided: Decided) {
        self.decided += 1;
        if self.decisions.len() < LISTED {
            self.decisions.push(decided);
        }
    }

    pub(crate) fn failed(&mut self, at_ms: u64, reason: String) {
        self.failed += 1;
        if self.failures.len() < LISTED {
            self.failures.push((at_ms, reason));
        }
    }
}
