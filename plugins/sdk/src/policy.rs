//! Policies: when a model gives memory back.

pub use crate::bindings::policy::{Decision, RunOption, RunReport};
use crate::memory::Sample;

/// A model that is idle.
#[derive(Debug, Clone, PartialEq)]
pub struct Idle {
    /// The model.
    pub model: String,
    /// Since its last request ended.
    pub idle_ms: u64,
    /// What it holds.
    pub now: Sample,
}

/// A system that runs short of memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Pressure {
    /// The model that is asked to give memory back.
    pub model: String,
    /// What the system has left.
    pub available_bytes: u64,
    /// What the machine has.
    pub total_bytes: u64,
    /// What the model holds.
    pub now: Sample,
}

/// Decides when a model gives memory back. One value serves one model; it lives until the plugin is detached or the model is
/// unloaded. Hooks have 5 ms each and run after the answer has gone out, so nothing that they do delays it.
///
/// An error is written into the plugin's log and counts as [`Decision::Keep`]; the value lives on. A panic stops the call, and
/// the next one finds a new value. After three failures in a row, which only a success of the same hook ends, the host detaches
/// the policy from its model.
pub trait ShrinkPolicy: Default + 'static {
    /// After each request.
    ///
    /// # Errors
    /// Whatever the policy fails with, in words for the log.
    fn on_run(&mut self, run: &RunReport) -> Result<Decision, String> {
        let _ = run;
        Ok(Decision::Keep)
    }

    /// About once a second while the model is idle.
    ///
    /// # Errors
    /// As [`Self::on_run`].
    fn on_idle(&mut self, idle: &Idle) -> Result<Decision, String> {
        let _ = idle;
        Ok(Decision::Keep)
    }

    /// While the system is short of memory, about once a second. Models are asked one after the other, the least recently
    /// used first, until there is enough again.
    ///
    /// # Errors
    /// As [`Self::on_run`].
    fn on_pressure(&mut self, pressure: &Pressure) -> Result<Decision, String> {
        let _ = pressure;
        Ok(Decision::Keep)
    }
}

impl Default for Decision {
    fn default() -> Self {
        Self::Keep
    }
}

impl Decision {
    /// Shrink every arena: now, if nothing is queued; else after the next request.
    pub fn shrink_all() -> Self {
        Self::Shrink(Vec::new())
    }

    /// Shrink one device's arena, as ONNX Runtime names it: `cpu:0`, `gpu:0`.
    pub fn shrink_on(device: &str) -> Self {
        Self::Shrink(vec![device.to_owned()])
    }

    /// Shrink every arena at the end of the next request.
    pub fn shrink_all_after_next_run() -> Self {
        Self::ShrinkAfterNextRun(Vec::new())
    }

    /// Set a run option of ONNX Runtime for the requests that follow.
    pub fn set_option(key: &str, value: &str) -> Self {
        Self::SetRuntimeOption(RunOption { key: key.to_owned(), value: Some(value.to_owned()) })
    }

    /// Take a run option back.
    pub fn remove_option(key: &str) -> Self {
        Self::SetRuntimeOption(RunOption { key: key.to_owned(), value: None })
    }

    /// Whether nothing is to be done.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl RunReport {
    /// Whether the request was answered.
    pub fn is_ok(&self) -> bool {
        self.outcome == "ok"
    }
}
