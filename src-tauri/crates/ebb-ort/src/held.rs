//! What a session holds that other threads look at and shrink while it runs.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ebb_core::Target;

use crate::{
    Error,
    arena::{Arena, ArenaStats},
    generate::Caches,
    tick::Tick,
};

/// What all arenas of a model take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The most that was in use since load.
    pub(crate) peak_bytes: u64,
    /// What they hold now.
    pub(crate) reserved_bytes: u64,
}

/// The arenas of a model's sessions, which share the one CPU arena. They must go when the model does: each keeps its memory
/// alive.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) arenas: Vec<Arena>,
    /// Keys of the arena's plan that ONNX Runtime refused.
    pub(crate) refused: Vec<String>,
    /// Shrinks the CPU arena; there where the sessions have one.
    pub(crate) tick: Option<Tick>,
    /// Caches of conversations; set for a chat model.
    pub(crate) caches: OnceLock<Caches>,
    /// GPU arenas to shrink at the end of each session's next run: only a run of their own session reaches them.
    on_next_run: Vec<Mutex<Vec<Target>>>,
}

impl Held {
    pub(crate) fn new(sessions: usize, arenas: Vec<Arena>, tick: Option<Tick>, refused: Vec<String>) -> Self {
        let on_next_run = (0..sessions).map(|_| Mutex::default()).collect();
        Self { arenas, refused, tick, caches: OnceLock::new(), on_next_run }
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

    /// Gives back what can be given back at once, so that an allocation under the cap may fit: idle caches, then free regions.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses.
    pub(crate) fn make_room(&self) -> Result<(), Error> {
        if let Some(caches) = self.caches.get() {
            caches.drop_idle();
        }
        self.shrink_cpu()
    }

    /// What all arenas together have in use and hold.
    pub(crate) fn usage(&self) -> Usage {
        let stats = self.arenas.iter().filter_map(|arena| arena.stats().ok().flatten());
        stats.fold(Usage::default(), |all, one| Usage {
            peak_bytes: all.peak_bytes + one.peak_in_use_bytes,
            reserved_bytes: all.reserved_bytes + one.reserved_bytes,
        })
    }

    /// Gives free regions of the CPU arena back, if they are more than `most_bytes`.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses.
    pub(crate) fn bound_slack(&self, most_bytes: u64) -> Result<(), Error> {
        match self.cpu_stats() {
            Some(stats) if stats.reserved_bytes.saturating_sub(stats.in_use_bytes) > most_bytes => {
                self.shrink_cpu()
            }
            _ => Ok(()),
        }
    }

    /// Shrinks a GPU arena of every session at the end of its next run.
    pub(crate) fn shrink_on_next_run(&self, target: Target) {
        for session in 0..self.on_next_run.len() {
            let mut waiting = self.waiting_of(session);
            if !waiting.contains(&target) {
                waiting.push(target);
            }
        }
    }

    /// What waits for the next run of a session.
    pub(crate) fn waiting(&self, session: usize) -> Vec<Target> {
        self.waiting_of(session).clone()
    }

    /// Says that a run of a session has shrunk these.
    pub(crate) fn shrunk(&self, session: usize, targets: &[Target]) {
        self.waiting_of(session).retain(|target| !targets.contains(target));
    }

    fn waiting_of(&self, session: usize) -> MutexGuard<'_, Vec<Target>> {
        self.on_next_run[session].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_run_goes_only_once_one_has_ended_well() {
        let held = Held::new(2, Vec::new(), None, Vec::new());
        held.shrink_on_next_run(Target::gpu(0));
        held.shrink_on_next_run(Target::gpu(0));
        let waiting = held.waiting(0);
        assert_eq!(waiting, [Target::gpu(0)]);
        held.shrink_on_next_run(Target::gpu(1));
        assert_eq!(held.waiting(0).len(), 2, "a run that fails takes nothing");
        held.shrunk(0, &waiting);
        assert_eq!(held.waiting(0), [Target::gpu(1)]);
        assert_eq!(held.waiting(1).len(), 2, "the other session has not run");
    }
}
