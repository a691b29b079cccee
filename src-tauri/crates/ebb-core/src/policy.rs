//! Who decides when memory goes back.

use serde::{Deserialize, Serialize};

use crate::{Failure, Sample, Target};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// It was answered.
    Ok,
    /// It failed.
    Failed,
    /// The caller gave it up.
    Cancelled,
}

/// What a policy sees after a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunReport {
    /// The model's alias.
    pub model: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Time from the start of the work to the answer.
    pub took_us: u64,
    /// Items of the request: texts embedded.
    pub items: u32,
    /// Requests waiting behind it.
    pub queued: u32,
    /// What the model held once the answer was out.
    pub after: Sample,
}

/// What a policy wants done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing.
    Keep,
    /// Shrink now if nothing is queued, else after the next request. Empty: every arena.
    Shrink(Vec<Target>),
    /// Shrink at the end of the next request. Empty: every arena.
    ShrinkAfterNextRun(Vec<Target>),
    /// Set a run option for the requests that follow; an empty value removes it.
    SetRuntimeOption {
        /// The key.
        key: String,
        /// The value; empty removes.
        value: String,
    },
    /// Free everything and load again with the same options.
    Reload,
    /// Unload until a request asks for the model again.
    Unload,
}

/// Decides, after each request or while idle, whether the model gives memory back. It is called after
/// the answer has gone out, on its model's actor; an error counts as [`Decision::Keep`] and is logged.
pub trait Policy: Send {
    /// Its name, for logs and events.
    fn name(&self) -> &str;

    /// After each request.
    ///
    /// # Errors
    /// The policy's own; counts as keep.
    fn on_run(&mut self, report: &RunReport) -> Result<Decision, Failure>;

    /// About once a second while the model is idle.
    ///
    /// # Errors
    /// The policy's own; counts as keep.
    fn on_idle(&mut self, idle_ms: u64, now: &Sample) -> Result<Decision, Failure> {
        let _ = (idle_ms, now);
        Ok(Decision::Keep)
    }

    /// When the system runs short of memory: bytes available, and bytes of the whole machine. Models are asked one after
    /// the other, the least recently used first, until there is enough again.
    ///
    /// # Errors
    /// The policy's own; counts as keep.
    fn on_pressure(
        &mut self,
        available_bytes: u64,
        total_bytes: u64,
        now: &Sample,
    ) -> Result<Decision, Failure> {
        let _ = (available_bytes, total_bytes, now);
        Ok(Decision::Keep)
    }

    /// What it last decided was not done, for this reason. Once for each decision, before it is asked again.
    fn refused(&mut self, reason: &Failure) {
        let _ = reason;
    }

    /// Why it decides nothing any more, once it has failed too often: it is then dropped from its model, and that is told.
    fn given_up(&self) -> Option<String> {
        None
    }
}

/// How long a model is idle before what its last requests left behind is given back.
const IDLE_MS: u64 = 1_000;

/// The one native policy: shrinks every arena, but leaves the caches of conversations, after every `every`th request, whatever its outcome, and once more when the
/// model has been idle for a second since: a single large request is not kept until the next ones come.
#[derive(Debug, Clone)]
pub struct ShrinkEvery {
    every: u32,
    since_last: u32,
}

impl ShrinkEvery {
    /// Shrinks after every `every` requests; 0 never shrinks.
    pub fn new(every: u32) -> Self {
        Self { every, since_last: 0 }
    }
}

impl Policy for ShrinkEvery {
    fn name(&self) -> &str {
        "shrink-every"
    }

    fn on_run(&mut self, _report: &RunReport) -> Result<Decision, Failure> {
        self.since_last += 1;
        if self.every == 0 || self.since_last < self.every {
            return Ok(Decision::Keep);
        }
        self.since_last = 0;
        Ok(Decision::Shrink(Vec::new()))
    }

    fn on_idle(&mut self, idle_ms: u64, _now: &Sample) -> Result<Decision, Failure> {
        if self.every == 0 || self.since_last == 0 || idle_ms < IDLE_MS {
            return Ok(Decision::Keep);
        }
        self.since_last = 0;
        Ok(Decision::Shrink(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn shrink_every_counts_requests_of_any_outcome() {
        let mut report = RunReport {
            model: "m".into(),
            outcome: Outcome::Ok,
            took_us: 1,
            items: 1,
            queued: 0,
            after: Sample::new("m", 0, 1, Memory::default()),
        };
        let mut policy = ShrinkEvery::new(3);
        let mut decisions = Vec::new();
        for outcome in
            [Outcome::Ok, Outcome::Failed, Outcome::Cancelled, Outcome::Ok, Outcome::Ok, Outcome::Ok]
        {
            report.outcome = outcome;
            decisions.push(policy.on_run(&report).unwrap() != Decision::Keep);
        }
        assert_eq!(decisions, [false, false, true, false, false, true]);
        assert_eq!(ShrinkEvery::new(0).on_run(&report).unwrap(), Decision::Keep);
    }
    #[test]
    fn what_the_last_requests_left_goes_once_the_model_is_idle() {
        let now = Sample::new("m", 0, 1, Memory::default());
        let report = RunReport {
            model: "m".into(),
            outcome: Outcome::Ok,
            took_us: 1,
            items: 1,
            queued: 0,
            after: now.clone(),
        };
        let mut policy = ShrinkEvery::new(10);
        assert_eq!(policy.on_idle(5_000, &now).unwrap(), Decision::Keep, "nothing ran since the last shrink");
        policy.on_run(&report).unwrap();
        assert_eq!(policy.on_idle(999, &now).unwrap(), Decision::Keep);
        assert_eq!(policy.on_idle(1_000, &now).unwrap(), Decision::Shrink(Vec::new()));
        assert_eq!(policy.on_idle(2_000, &now).unwrap(), Decision::Keep, "once");
        let mut never = ShrinkEvery::new(0);
        never.on_run(&report).unwrap();
        assert_eq!(never.on_idle(9_000, &now).unwrap(), Decision::Keep);
    }
}
