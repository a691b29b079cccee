//! Policies: one instance for each model that a plugin decides for, made again after a trap.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use ebb_core::{
    Capability, Code, Decision, Failure, Outcome, Policy, RunReport, Sample, Target, operations::LogLevel,
};
use futures_util::FutureExt as _;
use wasmtime::{
    Store,
    component::{ComponentType, Instance, Lift, Lower, TypedFunc},
};

use crate::{
    Error, Plugin, Stop,
    bindings::memory_stats,
    guest::{Call, Guest},
    host::memory_stats::told,
    instance::{self, AtTick},
    meter::Meter,
};

/// Failures in a row after which a policy decides no more. Only a success of the same hook ends a row: a policy that fails after
/// each request is not saved by being asked, between them, whether the model is idle.
const FAILURES: u32 = 3;

/// Times of so many calls are kept for the median.
const TIMES: usize = 256;

const INTERFACE: &str = "ebb:plugin/policy@0.1.0";

/// What a policy did on a model since it was attached. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct AttachmentStats(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    decisions: AtomicU64,
    failures: AtomicU64,
    times_us: Mutex<VecDeque<u64>>,
}

impl AttachmentStats {
    /// Calls.
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Relaxed)
    }

    /// Calls that decided something other than keep.
    pub fn decisions(&self) -> u64 {
        self.0.decisions.load(Relaxed)
    }

    /// Calls that failed, or whose decision was refused.
    pub fn failures(&self) -> u64 {
        self.0.failures.load(Relaxed)
    }

    /// Median time of the last calls, in microseconds. The first call of an instance is left out: it brings the instance up.
    pub fn call_us(&self) -> Option<u64> {
        let times = self.0.times_us.lock().unwrap_or_else(PoisonError::into_inner);
        let mut times: Vec<u64> = times.iter().copied().collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    fn count_refused(&self) {
        self.0.failures.fetch_add(1, Relaxed);
    }

    fn count(&self, took: Duration, first: bool, decided: &Result<Decision, Error>) {
        self.0.calls.fetch_add(1, Relaxed);
        match decided {
            Ok(Decision::Keep) => {}
            Ok(_) => drop(self.0.decisions.fetch_add(1, Relaxed)),
            Err(_) => drop(self.0.failures.fetch_add(1, Relaxed)),
        }
        if first {
            return;
        }
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut times = self.0.times_us.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() == TIMES {
            times.pop_front();
        }
        times.push_back(took_us);
    }
}

impl Plugin {
    /// Its policy for one model, and what counts its calls. The instance is made with the first call.
    pub fn policy(&self, model: &str) -> (Box<dyn Policy>, AttachmentStats) {
        let stats = AttachmentStats::default();
        let policy = GuestPolicy {
            plugin: self.clone(),
            model: model.into(),
            live: None,
            stats: stats.clone(),
            in_a_row: [0; 3],
            decided: None,
            told: None,
            given_up: None,
        };
        (Box::new(policy), stats)
    }
}

/// What a policy is asked after.
#[derive(Debug, Clone, Copy)]
enum Hook {
    Run,
    Idle,
    Pressure,
}

struct GuestPolicy {
    plugin: Plugin,
    model: Arc<str>,
    live: Option<Live>,
    stats: AttachmentStats,
    /// Failures of each hook since it last succeeded.
    in_a_row: [u32; 3],
    /// The call that decided last, until it is known that its decision was not refused.
    decided: Option<(u64, Hook)>,
    /// The last refusal that its log tells of.
    told: Option<String>,
    given_up: Option<String>,
}

impl Policy for GuestPolicy {
    #[expect(clippy::misnamed_getters, reason = "its id is its name in logs and events")]
    fn name(&self) -> &str {
        &self.plugin.manifest().id
    }

    fn on_run(&mut self, report: &RunReport) -> Result<Decision, Failure> {
        self.decide(Hook::Run, |live| live.on_run(report))
    }

    fn on_idle(&mut self, idle_ms: u64, now: &Sample) -> Result<Decision, Failure> {
        self.decide(Hook::Idle, |live| live.on_idle(idle_ms, now))
    }

    fn on_pressure(
        &mut self,
        available_bytes: u64,
        total_bytes: u64,
        now: &Sample,
    ) -> Result<Decision, Failure> {
        self.decide(Hook::Pressure, |live| live.on_pressure(available_bytes, total_bytes, now))
    }

    fn refused(&mut self, reason: &Failure) {
        let Some((request, hook)) = self.decided.take() else { return };
        self.stats.count_refused();
        let why = format!("its decision is refused: {}", bounded(reason.to_string()));
        // What cannot be done just now is no fault of the policy's. It may decide the same again at once, many times.
        if matches!(reason.code, Code::Busy | Code::NotLoaded | Code::WorkerCrashed | Code::Timeout) {
            if self.told.as_ref() != Some(&why) {
                self.log(request, LogLevel::Warn, &why);
                self.told = Some(why);
            }
            return;
        }
        self.log(request, LogLevel::Error, &why);
        self.count_failure(request, hook, &why);
    }

    fn given_up(&self) -> Option<String> {
        self.given_up.clone()
    }
}

impl GuestPolicy {
    fn decide(&mut self, hook: Hook, ask: impl FnOnce(&mut Live) -> Asked) -> Result<Decision, Failure> {
        if self.given_up.is_some() {
            return Ok(Decision::Keep);
        }
        if let Some((_, hook)) = self.decided.take() {
            self.succeeded(hook);
        }
        let (began, first) = (Instant::now(), self.live.is_none());
        let request = self.plugin.shared.next_request();
        let decided = self.asked(request, ask).and_then(|decided| self.allowed(request, decided));
        self.stats.count(began.elapsed(), first, &decided);
        self.plugin.shared.log.call_ended(crate::log::About { request, model: Some(&self.model) });
        match decided {
            Ok(Decision::Keep) => {
                self.succeeded(hook);
                Ok(Decision::Keep)
            }
            Ok(decision) => {
                self.decided = Some((request, hook));
                Ok(decision)
            }
            Err(error) => Err(self.failed(request, hook, error)),
        }
    }

    fn asked(&mut self, request: u64, ask: impl FnOnce(&mut Live) -> Asked) -> Result<Decided, Error> {
        // It is put back only where it can be entered again.
        let mut live = match self.live.take() {
            Some(live) => live,
            None => Live::new(&self.plugin, &self.model)?,
        };
        live.store.data_mut().call.request = request;
        let told = ask(&mut live)?;
        self.live = Some(live);
        told.map_err(|why| Error::Guest(bounded(why)))
    }

    /// The decision as the host knows it, if the policy may make it.
    fn allowed(&self, request: u64, decided: Decided) -> Result<Decision, Error> {
        if matches!(decided, Decided::Keep) {
            return Ok(Decision::Keep);
        }
        let model = Some(&*self.model);
        self.plugin.shared.grants.check(Capability::MemoryControl, model).map_err(Error::Denied)?;
        Ok(match decided {
            Decided::Keep => Decision::Keep,
            Decided::Shrink(devices) => match self.targets(request, devices) {
                Some(targets) => Decision::Shrink(targets),
                None => Decision::Keep,
            },
            Decided::ShrinkAfterNextRun(devices) => match self.targets(request, devices) {
                Some(targets) => Decision::ShrinkAfterNextRun(targets),
                None => Decision::Keep,
            },
            Decided::SetRuntimeOption(option) => {
                Decision::SetRuntimeOption { key: option.key, value: option.value.unwrap_or_default() }
            }
            Decided::Reload => Decision::Reload,
            Decided::Unload => Decision::Unload,
            Decided::Other(name) => {
                return Err(Error::Guest(format!(
                    "it decided '{}', which this Ebb does not know",
                    bounded(name).escape_debug()
                )));
            }
        })
    }

    /// The arenas named; those that there cannot be are told of in the plugin's log. `None` where nothing is left of some.
    fn targets(&self, request: u64, devices: Vec<String>) -> Option<Vec<Target>> {
        let named = devices.len();
        let (known, unknown): (Vec<_>, Vec<_>) = devices
            .into_iter()
            .map(|device| Target::parse(&device).map_err(|_| device))
            .partition(Result::is_ok);
        for device in unknown.into_iter().filter_map(Result::err) {
            let message =
                format!("it named '{}', which is no arena: left out", bounded(device).escape_debug());
            self.log(request, LogLevel::Warn, &message);
        }
        let known: Vec<Target> = known.into_iter().filter_map(Result::ok).collect();
        (named == 0 || !known.is_empty()).then_some(known)
    }

    fn succeeded(&mut self, hook: Hook) {
        self.in_a_row[hook as usize] = 0;
        self.told = None;
    }

    fn failed(&mut self, request: u64, hook: Hook, error: Error) -> Failure {
        self.log(request, LogLevel::Error, &error.to_string());
        self.count_failure(request, hook, &error.to_string());
        error.into()
    }

    /// Gives up where there were too many in a row.
    fn count_failure(&mut self, request: u64, hook: Hook, why: &str) {
        self.in_a_row[hook as usize] += 1;
        if self.in_a_row.iter().sum::<u32>() == FAILURES {
            let id = &self.plugin.manifest().id;
            let why = format!("it failed {FAILURES} times in a row, the last time because: {why}");
            self.log(request, LogLevel::Error, &format!("detached from '{}': {why}", self.model));
            tracing::warn!(plugin = id, model = &*self.model, why, "the policy decides no more");
            self.given_up = Some(why);
        }
    }

    fn log(&self, request: u64, level: LogLevel, message: &str) {
        let about = crate::log::About { request, model: Some(&self.model) };
        self.plugin.shared.log.host_line(level, about, message);
    }
}

/// A guest's own words, of bounded length.
fn bounded(mut words: String) -> String {
    words.truncate(words.floor_char_boundary(1_000));
    words
}

/// What came of a call: outer, that it did not return; inner, that the policy itself failed.
type Asked = Result<Result<Decided, String>, Error>;

/// A function of the interface.
type Function<P> = TypedFunc<P, (Result<Decided, String>,)>;

/// The three functions: of `on-run`, `on-idle` and `on-pressure`.
type Functions = (
    Function<(Run,)>,
    Function<(Arc<str>, u64, memory_stats::Sample)>,
    Function<(Arc<str>, u64, u64, memory_stats::Sample)>,
);

/// A live instance.
struct Live {
    store: Store<Guest>,
    meter: Arc<Meter>,
    plugin: Plugin,
    on_run: Function<(Run,)>,
    on_idle: Function<(Arc<str>, u64, memory_stats::Sample)>,
    on_pressure: Function<(Arc<str>, u64, u64, memory_stats::Sample)>,
}

impl Live {
    fn new(plugin: &Plugin, model: &Arc<str>) -> Result<Self, Error> {
        let call = Call { model: Some(Arc::clone(model)), ..Call::default() };
        let (mut store, meter) = instance::store(plugin, call, AtTick::Continue);
        let linked = &plugin.compiled.linked;
        let running = plugin.sandbox.ticker().run();
        meter.begin_start();
        let made = if plugin.compiled.brings_wasi {
            linked.instantiate_async(&mut store).now_or_never()
        } else {
            Some(linked.instantiate(&mut store))
        };
        meter.end_turn();
        drop(running);
        let made = made.ok_or(Error::Stopped(Stop::Waited))?;
        let instance = made.map_err(|error| instance::told(&error, store.data()))?;
        let found = Self::functions(&instance, &mut store).map_err(Error::unusable("linked"))?;
        let (on_run, on_idle, on_pressure) = found;
        Ok(Self { store, meter, plugin: plugin.clone(), on_run, on_idle, on_pressure })
    }

    fn functions(instance: &Instance, store: &mut Store<Guest>) -> wasmtime::Result<Functions> {
        let missing = |name: &str| wasmtime::Error::msg(format!("it exports no {name}"));
        let interface =
            instance.get_export_index(&mut *store, None, INTERFACE).ok_or_else(|| missing(INTERFACE))?;
        let mut index = |name: &str| {
            instance.get_export_index(&mut *store, Some(&interface), name).ok_or_else(|| missing(name))
        };
        let (run, idle, pressure) = (index("on-run")?, index("on-idle")?, index("on-pressure")?);
        Ok((
            instance.get_typed_func(&mut *store, run)?,
            instance.get_typed_func(&mut *store, idle)?,
            instance.get_typed_func(&mut *store, pressure)?,
        ))
    }

    fn on_run(&mut self, report: &RunReport) -> Asked {
        let run = Run {
            model: self.model(),
            outcome: match report.outcome {
                Outcome::Ok => "ok",
                Outcome::Failed => "failed",
                Outcome::Cancelled => "cancelled",
            },
            took_us: report.took_us,
            items: report.items,
            queued: report.queued,
            after: told(&report.after),
            more: Vec::new(),
        };
        let function = self.on_run;
        self.call(function, (run,))
    }

    fn on_idle(&mut self, idle_ms: u64, now: &Sample) -> Asked {
        let function = self.on_idle;
        let asked = (self.model(), idle_ms, told(now));
        self.call(function, asked)
    }

    fn on_pressure(&mut self, available_bytes: u64, total_bytes: u64, now: &Sample) -> Asked {
        let function = self.on_pressure;
        let asked = (self.model(), available_bytes, total_bytes, told(now));
        self.call(function, asked)
    }

    fn model(&self) -> Arc<str> {
        // It was made for one.
        self.store.data().call.model.clone().unwrap_or_default()
    }

    fn call<P>(&mut self, function: Function<P>, asked: P) -> Asked
    where
        P: wasmtime::component::ComponentNamedList + Lower + Send + Sync + 'static,
    {
        self.store.data_mut().limiter.hit = None;
        self.store.set_epoch_deadline(1);
        let running = self.plugin.sandbox.ticker().run();
        self.meter.begin_call();
        let called = if self.plugin.compiled.brings_wasi {
            // Looked at once: a policy that has to wait is stopped.
            function.call_async(&mut self.store, asked).now_or_never()
        } else {
            Some(function.call(&mut self.store, asked))
        };
        self.meter.end_turn();
        drop(running);
        let (told,) = called
            .ok_or(Error::Stopped(Stop::Waited))?
            .map_err(|error| instance::told(&error, self.store.data()))?;
        Ok(told)
    }
}

/// `run-report` of the contract.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Run {
    model: Arc<str>,
    outcome: &'static str,
    #[component(name = "took-us")]
    took_us: u64,
    items: u32,
    queued: u32,
    after: memory_stats::Sample,
    more: Vec<(String, u64)>,
}

/// `run-option` of the contract.
#[derive(ComponentType, Lift)]
#[component(record)]
struct RunOption {
    key: String,
    value: Option<String>,
}

/// `decision` of the contract.
#[derive(ComponentType, Lift)]
#[component(variant)]
enum Decided {
    #[component(name = "keep")]
    Keep,
    #[component(name = "shrink")]
    Shrink(Vec<String>),
    #[component(name = "shrink-after-next-run")]
    ShrinkAfterNextRun(Vec<String>),
    #[component(name = "set-runtime-option")]
    SetRuntimeOption(RunOption),
    #[component(name = "reload")]
    Reload,
    #[component(name = "unload")]
    Unload,
    #[component(name = "other")]
    Other(String),
}

#[cfg(test)]
mod tests;
