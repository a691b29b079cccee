//! The clock of epochs: it ticks once a millisecond while guests run. Most calls end before it would: between them it naps, and
//! only after a while without any it sleeps, since waking it costs the caller more than a policy's whole call.

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

/// While no guest runs. A call that begins meanwhile wakes nobody: its first tick comes so late at most.
const NAP: Duration = Duration::from_millis(4);

/// Naps without a call after which it sleeps until the next one: a quarter of a second. A model that is asked more often never
/// pays for waking it, and a host that does nothing is left alone.
const NAPS: u32 = 64;

/// A thread that advances an engine's epoch.
pub(crate) struct Ticker {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    /// Guests that run now.
    running: AtomicU64,
    /// Calls so far, so that the thread sees those that came and went while it napped.
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
            let (mut naps, mut seen) = (0, 0);
            while !ticking.over.load(SeqCst) {
                thread::sleep(if ticking.is_busy() { TICK } else { NAP });
                let Some(engine) = engine.upgrade() else { return };
                engine.increment_epoch();
                let calls = ticking.calls.load(SeqCst);
                naps = if calls == seen && !ticking.is_busy() { naps + 1 } else { 0 };
                seen = calls;
                if naps >= NAPS {
                    ticking.sleep();
                }
            }
        };
        let thread = thread::Builder::new().name("plugin-ticker".to_owned()).spawn(tick);
        let thread = thread.map_err(|error| Error::Engine(error.into()))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Ticks at least until what it gives is dropped. It is cheap: three looks at memory, unless the thread sleeps.
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
    fn is_busy(&self) -> bool {
        self.running.load(SeqCst) > 0
    }

    /// Sleeps until something runs.
    fn sleep(&self) {
        self.asleep.store(true, SeqCst);
        while !self.is_busy() && !self.over.load(SeqCst) {
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
            // It ends within a nap; it cannot panic.
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

    #[test]
    fn a_guest_that_runs_sees_ticks_whether_the_thread_napped_or_slept() {
        let (engine, _) = engine::new().unwrap();
        let ticker = Ticker::start(&engine).unwrap();
        let spin = wat::parse_str(r#"(module (func (export "spin") (loop (br 0))))"#).unwrap();
        let module = wasmtime::Module::new(&engine, spin).unwrap();
        let spins = || {
            let mut store = wasmtime::Store::new(&engine, ());
            let spin = wasmtime::Instance::new(&mut store, &module, &[]).unwrap();
            let spin = spin.get_typed_func::<(), ()>(&mut store, "spin").unwrap();
            // Two ticks: the first may come at once.
            store.set_epoch_deadline(2);
            let _running = ticker.run();
            let stopped = spin.call(&mut store, ()).unwrap_err();
            assert!(matches!(stopped.downcast_ref(), Some(wasmtime::Trap::Interrupt)), "{stopped}");
        };
        spins();
        spins();
        while !ticker.state.asleep.load(SeqCst) {
            thread::sleep(NAP);
        }
        spins();
    }
}
