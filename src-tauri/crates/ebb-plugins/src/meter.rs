//! Processor time of a call: measured while the guest runs, not while it waits for the host.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use crate::{
    Stop,
    limits::{Consumption, Limits},
    ticker::{TICK, Ticker},
};

/// Measures one instance. The guest is looked at once a tick; calls that end before the first tick cost one look at the clock.
#[derive(Debug)]
pub(crate) struct Meter {
    call: Budget,
    consumption: Arc<Consumption>,
    turn: Mutex<Turn>,
}

/// What a call may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Processor time.
    pub(crate) cpu: Duration,
    /// Wall time.
    pub(crate) wall: Duration,
}

/// What an instance may take to come up: interpreters set themselves up, which no call's budget covers.
const START: Budget = Budget { cpu: Duration::from_millis(200), wall: Duration::from_secs(2) };

#[derive(Debug)]
struct Turn {
    budget: Budget,
    /// When the call began.
    call: Instant,
    /// Used by the call in earlier turns.
    used: Duration,
    /// When the guest's turn began.
    began: Instant,
    /// Charged for the turn until its first tick, and the thread's processor time then: asking for that costs half a
    /// microsecond, as much as some policies take.
    first_tick: Option<(Duration, Duration)>,
}

impl Meter {
    pub(crate) fn new(limits: &Limits, consumption: Arc<Consumption>) -> Self {
        let call = Budget { cpu: limits.cpu, wall: limits.call };
        Self { call, consumption, turn: Mutex::new(Turn::begin(START)) }
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The instance comes up.
    pub(crate) fn begin_start(&self) {
        *self.turn() = Turn::begin(START);
    }

    /// A call begins.
    pub(crate) fn begin_call(&self) {
        *self.turn() = Turn::begin(self.call);
    }

    /// The guest runs on, after it waited.
    fn begin_turn(&self) {
        let mut turn = self.turn();
        turn.began = Instant::now();
        turn.first_tick = None;
    }

    /// The guest's turn ends; gives what it took.
    pub(crate) fn end_turn(&self) -> Duration {
        let mut turn = self.turn();
        let spent = turn.spent();
        turn.used += spent;
        self.consumption.add_cpu(spent);
        spent
    }

    /// What the guest ran into, asked at a tick.
    pub(crate) fn tick(&self) -> Option<Stop> {
        let mut turn = self.turn();
        if turn.first_tick.is_none() {
            // The guest looks at the epoch in each of its loops. Whether it ran or waited for a processor until now is not known: in
            // doubt for it, since the first tick may come some milliseconds late.
            turn.first_tick = Some((turn.began.elapsed().min(TICK), thread_cpu()));
        }
        let Budget { cpu, wall } = turn.budget;
        if turn.used + turn.spent() >= cpu {
            Some(Stop::Cpu(cpu))
        } else if turn.call.elapsed() >= wall {
            Some(Stop::Wall(wall))
        } else {
            None
        }
    }

    /// Runs what may wait (a call that began, or a start) to its end or its limit of wall time.
    ///
    /// # Errors
    /// Where it takes too long; dropping it has freed what it held.
    pub(crate) async fn hold<F: Future>(&self, ticker: &Ticker, work: F) -> Result<F::Output, Stop> {
        let wall = self.turn().budget.wall;
        let turns = Turns { meter: self, ticker, work: pin!(work) };
        tokio::time::timeout(wall, turns).await.map_err(|_| Stop::Wall(wall))
    }
}

impl Turn {
    fn begin(budget: Budget) -> Self {
        let now = Instant::now();
        Self { budget, call: now, used: Duration::ZERO, began: now, first_tick: None }
    }

    fn spent(&self) -> Duration {
        match self.first_tick {
            None => self.began.elapsed(),
            Some((charged, then)) => charged + thread_cpu().saturating_sub(then),
        }
    }
}

/// Measures each turn of a call.
struct Turns<'a, F> {
    meter: &'a Meter,
    ticker: &'a Ticker,
    work: Pin<&'a mut F>,
}

impl<F: Future> Future for Turns<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _running = self.ticker.run();
        self.meter.begin_turn();
        let polled = self.work.as_mut().poll(context);
        self.meter.end_turn();
        polled
    }
}

/// Processor time of this thread.
#[cfg(unix)]
fn thread_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Where threads' time is not to be had finely, wall time stands for it.
#[cfg(not(unix))]
fn thread_cpu() -> Duration {
    use std::sync::LazyLock;
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}
