//! What a session holds that other threads look at and shrink while it runs.

use std::sync::{Mutex, PoisonError};

use ebb_core::Target;

use crate::{
    Error,
    arena::{Arena, ArenaStats},
    tick::Tick,
};

/// The arenas of one session. They must go when the model does: each keeps its memory alive.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) arenas: Vec<Arena>,
    /// Keys of the arena's plan that ONNX Runtime refused.
    pub(crate) refused: Vec<String>,
    /// Shrinks the CPU arena; there where the session has one.
    pub(crate) tick: Option<Tick>,
    /// GPU arenas to shrink at the end of the next run: only a run of their own session reaches them.
    on_next_run: Mutex<Vec<Target>>,
}

impl Held {
    pub(crate) fn new(arenas: Vec<Arena>, tick: Option<Tick>, refused: Vec<String>) -> Self {
        Self { arenas, refused, tick, on_next_run: Mutex::default() }
    }

    /// What the CPU arena holds; `None` where there is none.
    pub(crate) fn cpu_stats(&self) -> Option<ArenaStats> {
        let arena = self.arenas.iter().find(|arena| arena.target() == Target::cpu(0))?;
        arena.stats().ok().flatten()
    }

    /// Shrinks the CPU arena now.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses.
    pub(crate) fn shrink_cpu(&self) -> Result<(), Error> {
        self.tick.as_ref().map_or(Ok(()), Tick::shrink)
    }

    /// Shrinks a GPU arena at the end of the next run.
    pub(crate) fn shrink_on_next_run(&self, target: Target) {
        let mut waiting = self.on_next_run.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.contains(&target) {
            waiting.push(target);
        }
    }

    /// What waits for the next run.
    pub(crate) fn waiting(&self) -> Vec<Target> {
        self.on_next_run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says that a run has shrunk these.
    pub(crate) fn shrunk(&self, targets: &[Target]) {
        let mut waiting = self.on_next_run.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|target| !targets.contains(target));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_run_goes_only_once_one_has_ended_well() {
        let held = Held::default();
        held.shrink_on_next_run(Target::gpu(0));
        held.shrink_on_next_run(Target::gpu(0));
        let waiting = held.waiting();
        assert_eq!(waiting, [Target::gpu(0)]);
        held.shrink_on_next_run(Target::gpu(1));
        assert_eq!(held.waiting().len(), 2, "a run that fails takes nothing");
        held.shrunk(&waiting);
        assert_eq!(held.waiting(), [Target::gpu(1)]);
    }
}
