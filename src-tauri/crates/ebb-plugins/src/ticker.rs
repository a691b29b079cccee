//! The clock of epochs: it ticks once a millisecond, but only while guests run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use wasmtime::Engine;

use crate::Error;

/// Between two ticks.
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Ticks without a call after which it sleeps: waking it costs the next call some microseconds.
const LINGER: u32 = 20;

/// A thread that advances an engine's epoch.
pub(crate) struct Ticker {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    /// Guests that run now.
    running: AtomicU64,
    /// Calls so far, so that the thread sees those that came and went between two ticks.
    calls: AtomicU64,
    asleep: AtomicBool,
    over: AtomicBool,
}

impl Ticker {
    /// Starts the thread, which sleeps until a guest runs.
    ///
    /// # Errors
    /// Where the system has no thread left.
    pub(crate) fn start(engine: &Engine) -> Result<Self, Error> {
        let state = Arc::new(State::default());
        let (engine, ticking) = (engine.weak(), Arc::clone(&state));
        let tick = move || {
            let mut idle = 0;
            let mut seen = 0;
            while !ticking.over.load(SeqCst) {
                thread::sleep(TICK);
                let Some(engine) = engine.upgrade() else { return };
                engine.increment_epoch();
                let calls = ticking.calls.load(SeqCst);
                idle = if calls == seen { idle + 1 } else { 0 };
                seen = calls;
                if idle >= LINGER {
                    ticking.sleep();
                }
            }
        };
        let thread = thread::Builder::new().name("plugin-ticker".to_owned()).spawn(tick);
        let thread = thread.map_err(|error| Error::Engine(error.into()))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Ticks at least until what it gives is dropped.
    pub(crate) fn run(&self) -> Running<'_> {
        self.state.running.fetch_add(1, SeqCst);
        self.state.calls.fetch_add(1, SeqCst);
        // Either this sees that the thread sleeps, or the thread sees that something runs: see `State::sleep`.
        if self.state.asleep.load(SeqCst)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
        Running { state: &self.state }
    }
}

impl State {
    /// Sleeps until something runs.
    fn sleep(&self) {
        self.asleep.store(true, SeqCst);
        while self.running.load(SeqCst) == 0 && !self.over.load(SeqCst) {
            thread::park();
        }
        self.asleep.store(false, SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.state.over.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It ends within a tick; it cannot panic.
            let _ended = thread.join();
        }
    }
}

/// A guest runs as long as this is.
pub(crate) struct Running<'a> {
    state: &'a State,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.state.running.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;

    #[test]
    fn it_sleeps_until_a_guest_runs_and_wakes_each_time() {
        let (engine, _) = engine::new().unwrap();
        let ticker = Ticker::start(&engine).unwrap();
        for _ in 0..3 {
            while !ticker.state.asleep.load(SeqCst) {
                thread::sleep(TICK);
            }
            let running = ticker.run();
            while ticker.state.asleep.load(SeqCst) {
                thread::sleep(TICK);
            }
            drop(running);
        }
    }
}
