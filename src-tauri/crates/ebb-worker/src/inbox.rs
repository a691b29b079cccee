//! What the reading thread leaves for the thread that owns the session.

use std::sync::{Condvar, Mutex, PoisonError};

use bytes::Bytes;
use ebb_core::Job;

/// A message for the session's thread.
#[derive(Debug)]
pub(crate) enum Letter {
    Run { id: u64, job: Job, data: Bytes, credit: u32 },
    Credit { id: u64, chunks: u32 },
    Cancel { id: u64 },
}

/// Letters in order, and whether more can come. The host bounds how many jobs it sends at once.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct State {
    letters: Vec<Letter>,
    closed: bool,
}

impl Inbox {
    pub(crate) fn put(&self, letter: Letter) {
        self.state().letters.push(letter);
        self.came.notify_one();
    }

    /// Nothing more comes: the host is gone or wants the model unloaded.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.came.notify_one();
    }

    /// Takes what came; waits for something if `wait` is set. `None` once it is closed.
    pub(crate) fn take(&self, wait: bool) -> Option<Vec<Letter>> {
        let mut state = self.state();
        while wait && state.letters.is_empty() && !state.closed {
            state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.closed).then(|| std::mem::take(&mut state.letters))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
