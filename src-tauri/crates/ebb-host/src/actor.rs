//! The actor of a model: hears what its worker reports, asks the policies, samples memory, starts a crashed worker again.

use std::{sync::Arc, time::Duration};

use ebb_core::{
    Decision, EventKind, Failure, Policy, RunReport,
    operations::{ModelState, UnloadReport},
};
use ebb_ipc::Ended;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use crate::{
    model::Model,
    worker::{Gone, Report, Started, Worker},
};

/// Policies are asked this often while the model is idle.
const IDLE_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Actor {
    model: Arc<Model>,
    policies: Vec<Box<dyn Policy>>,
    reports: mpsc::UnboundedReceiver<Report>,
    close: mpsc::UnboundedReceiver<oneshot::Sender<UnloadReport>>,
    /// When the last run ended.
    last_run: Instant,
    /// When the worker was last started.
    started: Instant,
    /// Wait before the next restart.
    wait: Duration,
}

/// What an actor goes on with.
enum Then {
    Serve,
    /// The worker is gone; the model waits to be unloaded.
    Rest,
    /// The model is unloaded.
    End,
}

impl Actor {
    pub(crate) fn new(
        model: Arc<Model>,
        policies: Vec<Box<dyn Policy>>,
        reports: mpsc::UnboundedReceiver<Report>,
        close: mpsc::UnboundedReceiver<oneshot::Sender<UnloadReport>>,
    ) -> Self {
        let wait = model.config.restart_first;
        let now = Instant::now();
        Self { model, policies, reports, close, last_run: now, started: now, wait }
    }

    /// Works until the model is unloaded.
    pub(crate) async fn work(mut self) {
        let options = &self.model.spec.options;
        let every = options.sample_ms.map_or(self.model.config.sample_every, Duration::from_millis);
        let mut sampling = interval(every.max(Duration::from_millis(10)));
        let mut idle = interval(IDLE_EVERY);
        sampling.set_missed_tick_behavior(MissedTickBehavior::Delay);
        idle.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let then = tokio::select! {
                report = self.reports.recv() => match report {
                    Some(Report::Ended(ended)) => self.ended(*ended).await,
                    Some(Report::Gone(gone)) => self.gone(gone).await,
                    None => Then::Rest,
                },
                _ = sampling.tick() => self.sample().await,
                _ = idle.tick(), if self.model.is_idle() && !self.policies.is_empty() => self.idle().await,
                asked = self.close.recv() => return self.unload(asked).await,
            };
            match then {
                Then::Serve => {}
                Then::Rest => {
                    let asked = self.close.recv().await;
                    return self.unload(asked).await;
                }
                Then::End => return,
            }
        }
    }

    async fn sample(&mut self) -> Then {
        match self.model.sample().await {
            Ok(sample) => self.keep(sample),
            // Told by the worker's end, if that is why.
            Err(failure) => tracing::debug!(model = self.model.spec.alias, %failure, "no sample"),
        }
        Then::Serve
    }

    fn keep(&self, sample: ebb_core::Sample) {
        for event in self.model.recorder.keep(sample) {
            self.model.tell(event);
        }
    }

    async fn ended(&mut self, ended: Ended) -> Then {
        let Ended { run, outcome, took_us, items, cap_retries, sample, shrink } = ended;
        self.last_run = Instant::now();
        self.model.recorder.count_cap_retries(cap_retries);
        self.model.tell(EventKind::Run { run, outcome, took_us, items, cap_retries });
        match shrink {
            Some((cause, Ok(report))) => self.model.tell_shrink(cause.as_str(), report),
            Some((cause, Err(failure))) => {
                tracing::error!(model = self.model.spec.alias, cause = cause.as_str(), %failure, "shrinking failed");
            }
            None => {}
        }
        self.keep(sample.clone());
        let queued = self.model.queued();
        let model = self.model.spec.alias.clone();
        let report = RunReport { model, outcome, took_us, items, queued, after: sample };
        self.decide(|policy| policy.on_run(&report)).await
    }

    async fn idle(&mut self) -> Then {
        let idle_ms = u64::try_from(self.last_run.elapsed().as_millis()).unwrap_or(u64::MAX);
        let now = self.model.recorder.last();
        self.decide(|policy| policy.on_idle(idle_ms, &now)).await
    }

    /// Asks the policies in order. The first decision other than keep holds; the others are told of.
    async fn decide(&mut self, mut ask: impl FnMut(&mut dyn Policy) -> Result<Decision, Failure>) -> Then {
        let mut chosen: Option<(String, Decision)> = None;
        for policy in &mut self.policies {
            let name = policy.name().to_owned();
            match ask(policy.as_mut()) {
                Ok(Decision::Keep) => {}
                Ok(decision) if chosen.is_none() => chosen = Some((name, decision)),
                Ok(decision) => self.model.tell(EventKind::Policy {
                    policy: name,
                    decision: format!("{decision:?}, but another policy came first"),
                }),
                Err(failure) => self.model.tell(EventKind::Policy {
                    policy: name,
                    decision: format!("keep, because it failed: {failure}"),
                }),
            }
        }
        let Some((policy, decision)) = chosen else { return Then::Serve };
        self.model.tell(EventKind::Policy { policy: policy.clone(), decision: format!("{decision:?}") });
        self.apply(&policy, decision).await
    }

    async fn apply(&mut self, policy: &str, decision: Decision) -> Then {
        let some = |targets: Vec<ebb_core::Target>| (!targets.is_empty()).then_some(targets);
        let applied = match decision {
            Decision::Keep => Ok(()),
            Decision::Shrink(targets) if self.model.queued() == 0 => {
                self.model.shrink(some(targets), policy).await.map(drop)
            }
            Decision::Shrink(targets) | Decision::ShrinkAfterNextRun(targets) => {
                self.model.arm(some(targets)).await.map(drop)
            }
            Decision::SetRuntimeOption { key, value } => self.model.set_option(&key, &value).await,
            Decision::Reload => {
                self.stop(ModelState::Restarting, format!("reloaded by the policy {policy}")).await;
                return self.start().await;
            }
            Decision::Unload => {
                let before = self.model.recorder.last().resident_bytes;
                let gone = self.stop(ModelState::Unloaded, format!("unloaded by the policy {policy}")).await;
                self.model
                    .tell(EventKind::Unloaded { resident_before_bytes: before, worker_gone: gone.seen });
                return Then::Rest;
            }
        };
        if let Err(failure) = applied {
            tracing::warn!(model = self.model.spec.alias, policy, %failure, "the policy's decision failed");
        }
        Then::Serve
    }

    /// The worker ended by itself.
    async fn gone(&mut self, gone: Gone) -> Then {
        let restart = self.model.spec.options.restart == Some(true);
        if self.started.elapsed() >= self.model.config.restart_forgiven {
            self.wait = self.model.config.restart_first;
        }
        let state = if restart { ModelState::Restarting } else { ModelState::Failed };
        self.set(state, Some(gone.reason.clone()), None);
        let restart_in_ms = restart.then(|| u64::try_from(self.wait.as_millis()).unwrap_or(u64::MAX));
        self.model.tell(EventKind::Crashed { reason: gone.reason, restart_in_ms });
        if restart { self.start_later().await } else { Then::Rest }
    }

    /// Waits before starting the worker again, longer each time.
    async fn start_later(&mut self) -> Then {
        let wait = self.wait;
        self.wait = (wait * 2).min(self.model.config.restart_most);
        tokio::select! {
            () = sleep(wait) => self.start().await,
            asked = self.close.recv() => {
                self.unload(asked).await;
                Then::End
            }
        }
    }

    /// Starts the worker again, with the run options that were set meanwhile.
    async fn start(&mut self) -> Then {
        let mut spec = self.model.spec.clone();
        let options = self.model.options.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        spec.options.runtime_options = options;
        self.started = Instant::now();
        self.model.tell(EventKind::Loading);
        let config = &self.model.config;
        match Worker::start(config.launch.as_ref(), &spec, config.close_grace).await {
            Ok(Started { worker, info, sample, reports }) => {
                self.reports = reports;
                let load_ms = info.load_ms;
                self.model.status().info = info;
                self.set(ModelState::Loaded, None, Some(worker));
                self.model.recorder.reset(sample.clone());
                self.model.tell(EventKind::Loaded { load_ms, sample });
                Then::Serve
            }
            Err(failure) => {
                self.set(ModelState::Failed, Some(failure.message.clone()), None);
                self.model.tell(EventKind::LoadFailed { reason: failure.message });
                Then::Rest
            }
        }
    }

    /// Ends the worker on purpose.
    async fn stop(&mut self, state: ModelState, reason: String) -> Gone {
        let worker = self.model.status().worker.clone();
        self.set(state, Some(reason), None);
        match worker {
            Some(worker) => worker.close().await,
            None => Gone { reason: "it was gone already".to_owned(), seen: true },
        }
    }

    async fn unload(&mut self, asked: Option<oneshot::Sender<UnloadReport>>) {
        let began = Instant::now();
        let serving = self.model.status().worker.is_some();
        let before = match self.model.sample().await {
            Ok(sample) => sample.resident_bytes,
            Err(_) if serving => self.model.recorder.last().resident_bytes,
            Err(_) => 0,
        };
        let gone = self.stop(ModelState::Unloaded, "unloaded".to_owned()).await;
        self.model.tell(EventKind::Unloaded { resident_before_bytes: before, worker_gone: gone.seen });
        let report = UnloadReport {
            model: self.model.spec.alias.clone(),
            freed_bytes: if gone.seen { before } else { 0 },
            worker_gone: gone.seen,
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        if let Some(asked) = asked {
            // Whoever asked may have left.
            let _heard = asked.send(report);
        }
    }

    fn set(&self, state: ModelState, reason: Option<String>, worker: Option<Worker>) {
        let mut status = self.model.status();
        status.state = state;
        status.reason = reason;
        status.worker = worker.map(Arc::new);
    }
}
