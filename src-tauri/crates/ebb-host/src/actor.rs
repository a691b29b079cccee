//! The actor of a model: hears what its worker reports, asks the policies, samples memory, starts a crashed worker again.

use std::{
    convert::Infallible,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError},
    time::Duration,
};

use ebb_core::{
    Code, Decision, EventKind, Failure, Hook, Policy, RunReport, Sample, Saw, Target,
    operations::{ModelState, UnloadReport},
};
use ebb_ipc::{Ask, Ended};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};

use crate::{
    Error,
    model::Model,
    worker::{Gone, Report, Started, Worker},
};

/// Policies are asked this often while the model is idle.
const IDLE_EVERY: Duration = Duration::from_secs(1);

/// A last sample before the worker ends is worth this much waiting: a worker that hangs is unloaded all the same.
const LAST_SAMPLE_WITHIN: Duration = Duration::from_secs(1);

/// A reload waits this long for the jobs that run; then it is given up.
const RELOAD_WITHIN: Duration = Duration::from_secs(30);

/// Policies have a model reloaded at most this often, all together. A reload frees what a shrink cannot, and costs seconds in which
/// requests wait: a policy that decides on it at each idle tick would have the model do nothing else.
const RELOAD_EVERY: Duration = Duration::from_secs(60);

/// Longest that a decision is told of, in bytes: a guest names devices and options of any length, and each event is logged.
const DECISION_BYTES: usize = 1_000;

pub(crate) struct Actor {
    model: Arc<Model>,
    policies: Vec<Box<dyn Policy>>,
    reports: mpsc::UnboundedReceiver<Report>,
    orders: mpsc::UnboundedReceiver<Order>,
    wishes: mpsc::UnboundedReceiver<Wish>,
    /// When the worker was last started.
    started: Instant,
    /// When a policy last had it reloaded.
    reloaded: Option<Instant>,
    /// Whether it was told that a reload was refused since.
    told_too_soon: bool,
    /// Wait before the next restart.
    wait: Duration,
}

/// The one order to an actor: unload the model, and report.
pub(crate) type Order = oneshot::Sender<UnloadReport>;

/// What an actor is asked for, in its turn.
pub(crate) enum Wish {
    /// Other policies from now on; those of the same name that stay keep their state only if they are the same objects.
    Policies(Vec<Box<dyn Policy>>),
    /// The system is short of memory: ask the policies, and say whether one of them did something.
    Pressure { available_bytes: u64, total_bytes: u64, acted: oneshot::Sender<bool> },
}

/// Why an actor's work is over.
enum Leave {
    /// The model is to be unloaded.
    Told(oneshot::Sender<UnloadReport>),
    /// A policy unloaded it, or nobody can ask for anything any more.
    Done,
}

impl Actor {
    pub(crate) fn new(
        model: Arc<Model>,
        policies: Vec<Box<dyn Policy>>,
        reports: mpsc::UnboundedReceiver<Report>,
        orders: mpsc::UnboundedReceiver<Order>,
        wishes: mpsc::UnboundedReceiver<Wish>,
    ) -> Self {
        let wait = model.config.restart_first;
        let started = Instant::now();
        Self { model, policies, reports, orders, wishes, started, reloaded: None, told_too_soon: false, wait }
    }

    /// Works until the model is unloaded.
    pub(crate) async fn work(mut self) {
        let Err(leave) = self.serve().await;
        if let Leave::Told(asked) = leave {
            // Whoever asked may have left.
            let _heard = asked.send(self.unload().await);
        }
    }

    async fn serve(&mut self) -> Result<Infallible, Leave> {
        let options = &self.model.spec.options;
        let every = options.sample_ms.map_or(self.model.config.sample_every, Duration::from_millis);
        let mut sampling = interval(every.max(Duration::from_millis(10)));
        let mut idle = interval(IDLE_EVERY);
        sampling.set_missed_tick_behavior(MissedTickBehavior::Delay);
        idle.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                report = self.reports.recv() => match report {
                    Some(Report::Ended(ended)) => self.ended(*ended).await?,
                    Some(Report::Gone(gone)) => self.gone(gone).await?,
                    None => self.rest().await?,
                },
                order = self.orders.recv() => return Err(order.map_or(Leave::Done, Leave::Told)),
                // It is never closed before the orders are.
                Some(wish) = self.wishes.recv() => self.grant(wish).await?,
                _ = sampling.tick() => self.sample().await?,
                _ = idle.tick(), if self.model.is_idle() && !self.policies.is_empty() => self.idle().await?,
            }
        }
    }

    /// Nothing to do but to wait for an order. There is no worker to decide about: who asks for that is told so, and policies
    /// are taken for the model's sake, whose list of them is what was last set.
    async fn rest(&mut self) -> Result<(), Leave> {
        loop {
            let wish = async { self.wishes.recv().await };
            match or_unload(&mut self.orders, wish).await? {
                Some(Wish::Policies(policies)) => self.attach(policies),
                Some(Wish::Pressure { acted, .. }) => {
                    // Whoever asked may have left.
                    let _heard = acted.send(false);
                }
                // The orders are closed with the wishes, and then this is over.
                None => or_unload(&mut self.orders, std::future::pending()).await?,
            }
        }
    }

    async fn sample(&mut self) -> Result<(), Leave> {
        let model = Arc::clone(&self.model);
        match or_unload(&mut self.orders, model.sample()).await? {
            Ok(sample) => model.tell_all(model.recorder.keep(sample)),
            // Told by the worker's end, if that is why.
            Err(failure) => tracing::debug!(model = model.spec.alias, %failure, "no sample"),
        }
        Ok(())
    }

    async fn ended(&mut self, ended: Ended) -> Result<(), Leave> {
        // Policies that were set before the request decide about it.
        while let Ok(wish) = self.wishes.try_recv() {
            self.grant(wish).await?;
        }
        let report = self.record(ended);
        let saw = Saw::new(Hook::Run, &report.after);
        self.decide(saw, |policy| policy.on_run(&report)).await.map(drop)
    }

    /// Records and tells what a job left behind.
    fn record(&self, ended: Ended) -> RunReport {
        let Ended { run, outcome, took_us, items, cap_retries, sample, shrink } = ended;
        let model = &self.model;
        model.used();
        model.recorder.count_cap_retries(cap_retries);
        let queued = model.queued();
        model.tell(EventKind::Run {
            run,
            outcome,
            took_us,
            items,
            cap_retries,
            queued,
            after: sample.clone(),
        });
        match shrink {
            Some((cause, Ok(report))) => model.tell_shrink(cause.as_str(), report),
            Some((cause, Err(failure))) => {
                tracing::error!(model = model.spec.alias, cause = cause.as_str(), %failure, "shrinking failed");
            }
            None => {}
        }
        model.tell_all(model.recorder.note(sample.clone()));
        RunReport { model: model.spec.alias.clone(), outcome, took_us, items, queued, after: sample }
    }

    async fn idle(&mut self) -> Result<(), Leave> {
        let idle_ms = u64::try_from(self.model.last_used().elapsed().as_millis()).unwrap_or(u64::MAX);
        let now = self.model.recorder.last();
        let saw = Saw { idle_ms: Some(idle_ms), ..Saw::new(Hook::Idle, &now) };
        self.decide(saw, |policy| policy.on_idle(idle_ms, &now)).await.map(drop)
    }

    async fn grant(&mut self, wish: Wish) -> Result<(), Leave> {
        match wish {
            Wish::Policies(policies) => self.attach(policies),
            Wish::Pressure { available_bytes, total_bytes, acted } => {
                let now = self.model.recorder.last();
                let saw = Saw { available_bytes: Some(available_bytes), ..Saw::new(Hook::Pressure, &now) };
                let decided =
                    self.decide(saw, |policy| policy.on_pressure(available_bytes, total_bytes, &now)).await;
                // Whoever asked may have left.
                let _heard = acted.send(!matches!(decided, Ok(false)));
                decided?;
            }
        }
        Ok(())
    }

    /// These policies decide from now on.
    fn attach(&mut self, policies: Vec<Box<dyn Policy>>) {
        let before: Vec<String> = names(&self.policies);
        let now = names(&policies);
        self.policies = policies;
        for policy in before.iter().filter(|name| !now.contains(name)) {
            self.model.tell(EventKind::Detached { policy: policy.clone(), reason: None });
        }
        for policy in now.into_iter().filter(|name| !before.contains(name)) {
            self.model.tell(EventKind::Attached { policy });
        }
    }

    /// Asks the policies in order. The first decision other than keep holds; the others are told of. Says whether one did.
    async fn decide(
        &mut self,
        saw: Saw,
        mut ask: impl FnMut(&mut dyn Policy) -> Result<Decision, Failure>,
    ) -> Result<bool, Leave> {
        let too_soon = self.reloaded.is_some_and(|last| last.elapsed() < RELOAD_EVERY);
        let mut chosen: Option<(String, Decision)> = None;
        for policy in &mut self.policies {
            let name = policy.name().to_owned();
            let began = Instant::now();
            // A policy that panics loses its turn, not the model's.
            let decided = catch_unwind(AssertUnwindSafe(|| ask(policy.as_mut())))
                .unwrap_or_else(|_| Err(Failure::new(Code::Internal, "it panicked")));
            let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            let told = match decided {
                Ok(Decision::Keep) => continue,
                Ok(Decision::Reload) if too_soon => {
                    let why = reloaded_already();
                    policy.refused(&why);
                    if std::mem::replace(&mut self.told_too_soon, true) {
                        continue;
                    }
                    refused(&Decision::Reload, &why)
                }
                Ok(decision) if chosen.is_none() => {
                    let told = words(&decision);
                    chosen = Some((name.clone(), decision));
                    told
                }
                Ok(decision) => format!("{}, but another policy came first", words(&decision)),
                Err(failure) => format!("keep, because it failed: {failure}"),
            };
            self.model.tell(EventKind::Policy { policy: name, decision: told, saw: saw.clone(), took_us });
        }
        self.drop_those_that_gave_up();
        let Some((policy, decision)) = chosen else { return Ok(false) };
        let began = Instant::now();
        let Err(why) = self.apply(&policy, decision.clone()).await? else { return Ok(true) };
        tracing::warn!(model = self.model.spec.alias, policy, failure = %why, "the policy's decision has no effect");
        if let Some(decided) = self.policies.iter_mut().find(|one| one.name() == policy) {
            decided.refused(&why);
        }
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.model.tell(EventKind::Policy { policy, decision: refused(&decision, &why), saw, took_us });
        self.drop_those_that_gave_up();
        Ok(false)
    }

    fn drop_those_that_gave_up(&mut self) {
        let model = &self.model;
        self.policies.retain(|policy| {
            let reason = policy.given_up();
            if let Some(reason) = &reason {
                let (policy, reason) = (policy.name().to_owned(), Some(reason.clone()));
                model.tell(EventKind::Detached { policy, reason });
            }
            reason.is_none()
        });
    }

    /// Does what a policy decided, or says why not.
    async fn apply(&mut self, policy: &str, decision: Decision) -> Result<Result<(), Failure>, Leave> {
        let some = |targets: Vec<Target>| (!targets.is_empty()).then_some(targets);
        let model = Arc::clone(&self.model);
        Ok(match decision {
            Decision::Keep => Ok(()),
            Decision::Shrink(targets) if model.queued() == 0 => {
                let ask = Ask::ShrinkSlack { targets: some(targets) };
                or_unload(&mut self.orders, model.shrink(ask, policy)).await?.map(drop)
            }
            Decision::Shrink(targets) | Decision::ShrinkAfterNextRun(targets) => {
                or_unload(&mut self.orders, model.arm(some(targets))).await?.map(drop)
            }
            Decision::SetRuntimeOption { key, value } => {
                or_unload(&mut self.orders, model.set_option(&key, &value)).await?
            }
            Decision::Reload => self.reload(policy).await?,
            Decision::Unload if model.is_idle() => {
                let before = model.recorder.last().resident_bytes;
                let gone = self.stop(ModelState::Unloaded, format!("unloaded by the policy {policy}")).await;
                model.tell(EventKind::Unloaded { resident_before_bytes: before, worker_gone: gone.seen });
                return Err(Leave::Done);
            }
            Decision::Unload => Err(Failure::new(Code::Busy, "requests run: it stays")),
        })
    }

    /// Ends the worker once its jobs are done, and starts it again. Requests that come meanwhile wait.
    async fn reload(&mut self, policy: &str) -> Result<Result<(), Failure>, Leave> {
        let Some(worker) = self.model.status().worker.clone() else { return Ok(Ok(())) };
        let reason = format!("reloaded by the policy {policy}");
        self.model.set(ModelState::Restarting, Some(reason.clone()), Some(Arc::clone(&worker)));
        if or_unload(&mut self.orders, timeout(RELOAD_WITHIN, worker.idle())).await?.is_err() {
            self.model.set(ModelState::Loaded, None, Some(worker));
            return Ok(Err(Failure::new(Code::Busy, "requests run on and on: it stays")));
        }
        (self.reloaded, self.told_too_soon) = (Some(Instant::now()), false);
        self.stop(ModelState::Restarting, reason).await;
        while let Ok(report) = self.reports.try_recv() {
            if let Report::Ended(ended) = report {
                self.record(*ended);
            }
        }
        match self.start().await? {
            Ok(()) => Ok(Ok(())),
            Err(failure) => self.fail(failure).await.map(Ok),
        }
    }

    /// The worker ended by itself: started again, after a wait that grows, where that is wanted.
    async fn gone(&mut self, gone: Gone) -> Result<(), Leave> {
        let restart = self.model.spec.options.restart == Some(true);
        let mut reason = gone.reason;
        if self.started.elapsed() >= self.model.config.restart_forgiven {
            self.wait = self.model.config.restart_first;
        }
        loop {
            let wait = self.wait;
            let restart_in_ms = restart.then(|| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            let state = if restart { ModelState::Restarting } else { ModelState::Failed };
            self.model.set(state, Some(reason.clone()), None);
            self.model.tell(EventKind::Crashed { reason, restart_in_ms });
            if !restart {
                return self.rest().await;
            }
            self.wait = (wait * 2).min(self.model.config.restart_most);
            or_unload(&mut self.orders, sleep(wait)).await?;
            reason = match self.start().await? {
                Ok(()) => return Ok(()),
                Err(failure) if failure.code == Code::WorkerCrashed => failure.message,
                Err(failure) => return self.fail(failure).await,
            }
        }
    }

    /// Starts the worker again, with the run options that were set meanwhile.
    async fn start(&mut self) -> Result<Result<(), Failure>, Leave> {
        let model = Arc::clone(&self.model);
        let mut spec = model.spec.clone();
        spec.options.runtime_options = model.options.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.started = Instant::now();
        model.tell(EventKind::Loading);
        let starting = Worker::start(model.config.launch.as_ref(), &spec, model.config.close_grace);
        let Started { worker, info, sample, reports } = match or_unload(&mut self.orders, starting).await? {
            Ok(started) => started,
            Err(failure) => return Ok(Err(failure)),
        };
        self.reports = reports;
        let load_ms = info.load_ms;
        model.recorder.reset(sample.clone());
        model.status().info = info;
        model.set(ModelState::Loaded, None, Some(Arc::new(worker)));
        model.tell(EventKind::Loaded { load_ms, sample });
        Ok(Ok(()))
    }

    /// It cannot be loaded again.
    async fn fail(&mut self, failure: Failure) -> Result<(), Leave> {
        self.model.set(ModelState::Failed, Some(failure.message.clone()), None);
        self.model.tell(EventKind::LoadFailed { reason: failure.message });
        self.rest().await
    }

    /// Ends the worker on purpose.
    async fn stop(&mut self, state: ModelState, reason: String) -> Gone {
        let worker = self.model.status().worker.clone();
        self.model.set(state, Some(reason), None);
        match worker {
            Some(worker) => worker.close(Error::Unloaded(self.model.spec.alias.clone()).into()).await,
            None => Gone { reason: "it was gone already".to_owned(), seen: true },
        }
    }

    async fn unload(&mut self) -> UnloadReport {
        let began = Instant::now();
        let before = last_sample(&self.model).await.map_or(0, |sample| sample.resident_bytes);
        let gone = self.stop(ModelState::Unloaded, "unloaded".to_owned()).await;
        self.model.tell(EventKind::Unloaded { resident_before_bytes: before, worker_gone: gone.seen });
        UnloadReport {
            model: self.model.spec.alias.clone(),
            freed_bytes: if gone.seen { before } else { 0 },
            worker_gone: gone.seen,
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            warnings: Vec::new(),
        }
    }
}

/// A decision that was not done, as it is told of.
fn refused(decision: &Decision, why: &Failure) -> String {
    format!("{}, refused: {}", words(decision), bounded(why.to_string()))
}

fn reloaded_already() -> Failure {
    let every = RELOAD_EVERY.as_secs();
    Failure::new(Code::Busy, format!("a policy had it reloaded less than {every} s ago: it stays"))
}

/// A decision as it is told of.
fn words(decision: &Decision) -> String {
    bounded(format!("{decision:?}"))
}

fn bounded(mut words: String) -> String {
    if words.len() > DECISION_BYTES {
        words.truncate(words.floor_char_boundary(DECISION_BYTES));
        words.push('…');
    }
    words
}

fn names(policies: &[Box<dyn Policy>]) -> Vec<String> {
    policies.iter().map(|policy| policy.name().to_owned()).collect()
}

/// What the worker holds, if there is one.
async fn last_sample(model: &Model) -> Option<Sample> {
    model.status().worker.as_ref()?;
    match timeout(LAST_SAMPLE_WITHIN, model.sample()).await {
        Ok(Ok(sample)) => Some(sample),
        Ok(Err(_)) | Err(_) => Some(model.recorder.last()),
    }
}

/// Awaits `work`, unless the model is to be unloaded first: no worker that hangs and no caller that dawdles holds that up.
async fn or_unload<T>(
    orders: &mut mpsc::UnboundedReceiver<Order>,
    work: impl Future<Output = T>,
) -> Result<T, Leave> {
    tokio::select! {
        biased;
        done = work => Ok(done),
        order = orders.recv() => Err(order.map_or(Leave::Done, Leave::Told)),
    }
}
