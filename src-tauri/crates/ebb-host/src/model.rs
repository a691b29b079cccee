//! A model in memory, as the rest of the host sees it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use ebb_core::{
    Code, EventKind, Failure, Job, KeepAlive, LoadSpec, ModelInfo, Policy, Sample, ShrinkReport, Target,
    operations::{ModelState, Stats},
    options::OptionLine,
};
use ebb_ipc::{Answer, Ask};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::Instant,
};

use crate::{
    Error, HostConfig, Running,
    actor::{Order, Wish},
    events::Events,
    recorder::Recorder,
    worker::Worker,
};

/// Run options that may be set on a model at once: several times as many as ONNX Runtime knows. Each costs every request, and a
/// policy may think of a new key whenever it is asked.
const MOST_OPTIONS: usize = 64;

/// A model in memory. Cheap to clone; all clones are the same model.
#[derive(Clone)]
pub struct ModelHandle(pub(crate) Arc<Model>);

impl fmt::Debug for ModelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelHandle")
            .field("alias", &self.0.spec.alias)
            .field("state", &self.state())
            .finish()
    }
}

pub(crate) struct Model {
    pub(crate) spec: LoadSpec,
    pub(crate) config: HostConfig,
    pub(crate) events: Events,
    pub(crate) recorder: Recorder,
    pub(crate) status: Mutex<Status>,
    /// Run options that were set since load, to be set again after a restart.
    pub(crate) options: Mutex<BTreeMap<String, String>>,
    /// To the actor.
    pub(crate) orders: mpsc::UnboundedSender<Order>,
    wishes: mpsc::UnboundedSender<Wish>,
    places: Arc<Semaphore>,
    waiting: AtomicU32,
    /// Told when the status changes.
    changed: Notify,
    last_used: Mutex<Instant>,
}

#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) state: ModelState,
    pub(crate) reason: Option<String>,
    pub(crate) info: ModelInfo,
    pub(crate) worker: Option<Arc<Worker>>,
}

impl Model {
    pub(crate) fn new(
        spec: LoadSpec,
        config: HostConfig,
        events: Events,
        (info, sample): (ModelInfo, Sample),
        worker: Worker,
        (orders, wishes): (mpsc::UnboundedSender<Order>, mpsc::UnboundedSender<Wish>),
    ) -> Self {
        let worker = Some(Arc::new(worker));
        Self {
            recorder: Recorder::new(config.samples_kept, sample),
            status: Mutex::new(Status { state: ModelState::Loaded, reason: None, info, worker }),
            options: Mutex::new(spec.options.runtime_options.clone()),
            places: Arc::new(Semaphore::new(config.places as usize)),
            waiting: AtomicU32::new(0),
            changed: Notify::new(),
            last_used: Mutex::new(Instant::now()),
            spec,
            config,
            events,
            orders,
            wishes,
        }
    }

    pub(crate) fn status(&self) -> std::sync::MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, state: ModelState, reason: Option<String>, worker: Option<Arc<Worker>>) {
        let mut status = self.status();
        status.state = state;
        status.reason = reason;
        status.worker = worker;
        drop(status);
        self.changed.notify_waiters();
    }

    /// A request came or ended.
    pub(crate) fn used(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(crate) fn last_used(&self) -> Instant {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell_all(&self, kinds: Vec<EventKind>) {
        for kind in kinds {
            self.tell(kind);
        }
    }

    pub(crate) fn tell(&self, kind: EventKind) {
        self.events.tell(&self.spec.alias, kind);
    }

    pub(crate) fn queued(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether no job runs or waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.queued() == 0 && self.places.available_permits() == self.config.places as usize
    }

    /// Waits until no job runs or waits.
    pub(crate) async fn drained(&self) {
        // Only closing the semaphore fails this, and nothing does.
        let _all = self.places.acquire_many(self.config.places).await;
    }

    /// Shrinks as `ask` says, and tells of it.
    pub(crate) async fn shrink(&self, ask: Ask, cause: &str) -> Result<ShrinkReport, Failure> {
        match self.worker()?.ask(ask).await? {
            Answer::Shrunk(report) => {
                self.tell_shrink(cause, report.clone());
                Ok(report)
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) fn tell_shrink(&self, cause: &str, report: ShrinkReport) {
        self.recorder.count_shrink(&report);
        self.tell(EventKind::Shrink { cause: cause.to_owned(), report });
    }

    pub(crate) async fn sample(&self) -> Result<Sample, Failure> {
        self.sample_and_armed().await.map(|(sample, _)| sample)
    }

    /// What the model holds now, and the run at whose end it will shrink, where a shrink is armed.
    async fn sample_and_armed(&self) -> Result<(Sample, Option<u64>), Failure> {
        match self.worker()?.ask(Ask::Sample).await? {
            Answer::Sample { sample, shrink_after_run } => Ok((sample, shrink_after_run)),
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) async fn arm(&self, targets: Option<Vec<Target>>) -> Result<u64, Failure> {
        match self.worker()?.ask(Ask::ShrinkAfterNextRun { targets }).await? {
            Answer::Armed { run } => Ok(run),
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) async fn set_option(&self, key: &str, value: &str) -> Result<(), Failure> {
        if !value.is_empty() && !self.has_room_for(key) {
            return Err(Error::TooManyOptions { model: self.spec.alias.clone(), most: MOST_OPTIONS }.into());
        }
        let ask = Ask::SetRunOption { key: key.to_owned(), value: value.to_owned() };
        self.worker()?.ask(ask).await?;
        let kept = (!value.is_empty()).then(|| value.to_owned());
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        match &kept {
            Some(value) => options.insert(key.to_owned(), value.clone()),
            None => options.remove(key),
        };
        drop(options);
        self.tell(EventKind::RuntimeOption { key: key.to_owned(), value: kept });
        Ok(())
    }

    /// Whether one more run option can be set, or this one is set already.
    fn has_room_for(&self, option: &str) -> bool {
        let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        options.len() < MOST_OPTIONS || options.contains_key(option)
    }

    /// The worker, if it serves.
    fn worker(&self) -> Result<Arc<Worker>, Failure> {
        let status = self.status();
        let alias = &self.spec.alias;
        match (&status.worker, status.state) {
            (Some(worker), ModelState::Loaded) => Ok(Arc::clone(worker)),
            (_, ModelState::Restarting) => {
                let reason = status.reason.clone().unwrap_or_default();
                let message = format!("the worker of '{alias}' is being started again ({reason})");
                Err(Failure::new(Code::WorkerCrashed, message).hint("try again in a moment"))
            }
            (_, ModelState::Failed) => {
                let reason = status.reason.clone().unwrap_or_default();
                Err(Error::Ended { model: alias.clone(), reason }.into())
            }
            _ => Err(Error::NotLoaded(alias.clone()).into()),
        }
    }

    /// The worker, once it serves again if it is being restarted.
    async fn serving(&self) -> Result<Arc<Worker>, Failure> {
        loop {
            self.settled().await;
            let changed = self.changed.notified();
            match self.worker() {
                Err(_) if self.restarting() => changed.await,
                served => return served,
            }
        }
    }

    /// Waits out the moments between the end of the worker and what comes of it.
    async fn settled(&self) {
        loop {
            let changed = self.changed.notified();
            if !self.status().worker.as_ref().is_some_and(|worker| worker.has_hung_up()) {
                return;
            }
            changed.await;
        }
    }

    fn restarting(&self) -> bool {
        self.status().state == ModelState::Restarting
    }

    /// A place at the worker: free, or waited for in turn.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let waiting = Waiting::new(&self.waiting);
        if waiting.ahead >= self.spec.options.queue.unwrap_or(self.config.queue) {
            return Err(Error::Busy { model: self.spec.alias.clone(), waiting: waiting.ahead }.into());
        }
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map_err(|_| Error::NotLoaded(self.spec.alias.clone()).into())
    }
}

/// Counts a caller as waiting for as long as it lives, also if the caller leaves.
struct Waiting<'a> {
    count: &'a AtomicU32,
    ahead: u32,
}

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        Self { count, ahead: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ModelHandle {
    /// Runs a job, once a place is free: `data` is the bulk data that belongs to it. While the worker is being restarted, the
    /// job waits.
    ///
    /// # Errors
    /// [`Code::Busy`] where the queue is full; [`Code::WorkerCrashed`], [`Code::NotLoaded`] where no worker serves;
    /// [`Code::TooLarge`] where no frame holds it. In each of these cases the job was not begun.
    pub async fn run(&self, job: &Job, data: &Bytes) -> Result<Running, Failure> {
        // At once, instead of after a wait.
        self.0
            .worker()
            .map(drop)
            .or_else(|failure| if self.0.restarting() { Ok(()) } else { Err(failure) })?;
        self.0.used();
        loop {
            let place = self.0.place().await?;
            let worker = self.0.serving().await?;
            match worker.run(job.clone(), data.clone(), place) {
                // It ended before it got the job: what comes of that decides.
                Err(_) if worker.has_hung_up() => {}
                begun => return begun,
            }
        }
    }

    /// How many requests run or wait.
    pub fn requests(&self) -> u32 {
        let free = u32::try_from(self.0.places.available_permits()).unwrap_or(u32::MAX);
        self.0.queued() + self.0.config.places.saturating_sub(free)
    }

    /// What the model holds now.
    ///
    /// # Errors
    /// Where no worker serves.
    pub async fn sample(&self) -> Result<Sample, Failure> {
        self.0.sample().await
    }

    /// The last samples, oldest first.
    pub fn history(&self, count: usize) -> Vec<Sample> {
        self.0.recorder.history(count)
    }

    /// All figures, with a fresh sample and without history.
    ///
    /// # Errors
    /// Where no worker serves.
    pub async fn stats(&self) -> Result<Stats, Failure> {
        let (now, shrink_after_run) = self.0.sample_and_armed().await?;
        Ok(self.0.recorder.stats(now, shrink_after_run, self.0.queued()))
    }

    /// Gives memory back now, also while a job runs. `None`: every arena.
    ///
    /// # Errors
    /// Where no worker serves, or ONNX Runtime refuses.
    pub async fn shrink(&self, targets: Option<Vec<Target>>) -> Result<ShrinkReport, Failure> {
        self.0.shrink(Ask::Shrink { targets }, "request").await
    }

    /// Gives memory back once, at the end of the next request to end; says which run that is, counted since load from 1.
    ///
    /// # Errors
    /// Where no worker serves.
    pub async fn shrink_after_next_run(&self, targets: Option<Vec<Target>>) -> Result<u64, Failure> {
        self.0.arm(targets).await
    }

    /// Sets a run option for the requests that follow, also after a restart of the worker; an empty value removes it.
    ///
    /// # Errors
    /// Where the value is malformed, or no worker serves.
    pub async fn set_runtime_option(&self, key: &str, value: &str) -> Result<(), Failure> {
        self.0.set_option(key, value).await
    }

    /// The run options that hold.
    ///
    /// # Errors
    /// Where no worker serves.
    pub async fn runtime_options(&self) -> Result<Vec<OptionLine>, Failure> {
        match self.0.worker()?.ask(Ask::RunOptions).await? {
            Answer::RunOptions(options) => Ok(options),
            other => Err(unexpected(&other)),
        }
    }

    /// Counts the tokens that the model's own tokenizer makes of each text, special tokens not counted. It waits for no job.
    ///
    /// # Errors
    /// Where the model has no tokenizer, or no worker serves.
    pub async fn count_tokens(&self, texts: Vec<String>) -> Result<Vec<u32>, Failure> {
        match self.0.worker()?.ask(Ask::CountTokens { texts }).await? {
            Answer::Tokens(tokens) => Ok(tokens),
            other => Err(unexpected(&other)),
        }
    }

    /// The process of its worker; `None` where the worker has ended, or is no process.
    pub fn pid(&self) -> Option<u32> {
        self.0.status().worker.as_ref()?.pid()
    }

    /// What the model held at the end of its last run or at the last sampling, whichever is newer; `None` where its worker has
    /// ended. It asks nobody.
    pub fn newest(&self) -> Option<Sample> {
        let holds = self.0.status().worker.as_ref().is_some_and(|worker| !worker.is_gone());
        holds.then(|| self.0.recorder.last())
    }

    /// Has these policies decide from now on, in this order, instead of those before.
    pub fn set_policies(&self, policies: Vec<Box<dyn Policy>>) {
        // An actor that is gone has unloaded its model.
        let _heard = self.0.wishes.send(Wish::Policies(policies));
    }

    /// Has the policies decide because the system is short of memory, in their turn; says whether one of them did something.
    pub async fn under_pressure(&self, available_bytes: u64, total_bytes: u64) -> bool {
        let (acted, answer) = oneshot::channel();
        // Not kept: a wish that nobody takes comes back, and whoever waits for its answer would wait for ever.
        drop(self.0.wishes.send(Wish::Pressure { available_bytes, total_bytes, acted }));
        answer.await.unwrap_or(false)
    }

    /// When a request last came or ended.
    pub fn last_used(&self) -> Instant {
        self.0.last_used()
    }

    /// Since when no job runs or waits; `None` while one does.
    pub fn idle_for(&self) -> Option<Duration> {
        self.0.is_idle().then(|| self.0.last_used().elapsed())
    }

    /// How long it was loaded to be kept when nobody uses it.
    pub fn keep_alive(&self) -> Option<KeepAlive> {
        self.0.spec.options.keep_alive
    }

    /// What was loaded.
    pub fn info(&self) -> ModelInfo {
        self.0.status().info.clone()
    }

    /// Waits out the moments between the end of its worker and what comes of it: then [`Self::state`] tells that.
    pub async fn settled(&self) {
        self.0.settled().await;
    }

    /// Whether it serves: from its worker, within moments of that one's end.
    pub fn state(&self) -> ModelState {
        self.0.status().state
    }

    /// Why it does not serve.
    pub fn reason(&self) -> Option<String> {
        self.0.status().reason.clone()
    }
}

fn unexpected(answer: &Answer) -> Failure {
    Failure::new(Code::Internal, format!("the worker gave another answer than was asked for: {answer:?}"))
}
