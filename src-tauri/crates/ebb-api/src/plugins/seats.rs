//! The policies that decide for the models in memory. A policy that stays on its model keeps its state, whatever is done to
//! the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ebb_core::{Decision, Failure, Policy, RunReport, Sample};
use ebb_plugins::AttachmentStats;

use super::Live;

/// By model.
#[derive(Default)]
pub(crate) struct Seats(Mutex<HashMap<String, OnModel>>);

#[derive(Default)]
struct OnModel {
    plugins: Vec<Taken>,
    /// The native policy, asked last.
    native: Option<Seat>,
    /// What the plugins did while the model was loaded before, by their id.
    before: HashMap<String, Did>,
}

/// A plugin's place on a model.
struct Taken {
    live: Arc<Live>,
    seat: Seat,
    stats: AttachmentStats,
}

/// What a policy did on a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) calls: u64,
    pub(crate) decisions: u64,
    pub(crate) failures: u64,
    /// Median.
    pub(crate) call_us: Option<u64>,
}

impl Seats {
    /// A model is being loaded: its policies begin anew.
    pub(crate) fn begin(&self, model: &str, native: Option<Box<dyn Policy>>) {
        let mut models = self.lock();
        let on_model = models.entry(model.to_owned()).or_default();
        on_model.end();
        on_model.native = native.map(Seat::new);
    }

    /// A model is gone from memory, and with it what its policies remember.
    pub(crate) fn end(&self, model: &str) {
        if let Some(on_model) = self.lock().get_mut(model) {
            on_model.end();
        }
    }

    /// A model is gone from the catalogue.
    pub(crate) fn forget_model(&self, model: &str) {
        self.lock().remove(model);
    }

    /// A plugin's policy is taken off a model: it begins anew if it comes back.
    pub(crate) fn leave(&self, model: &str, plugin: &str) {
        if let Some(on_model) = self.lock().get_mut(model) {
            on_model.plugins.retain(|taken| taken.live.id() != plugin);
            on_model.before.remove(plugin);
        }
    }

    /// A plugin's policy was dropped by its model's actor; what it did is still told.
    pub(crate) fn retire(&self, model: &str, plugin: &str) {
        if let Some(on_model) = self.lock().get_mut(model) {
            let (gone, stay) = std::mem::take(&mut on_model.plugins)
                .into_iter()
                .partition(|taken| taken.live.id() == plugin);
            on_model.plugins = stay;
            let gone: Vec<Taken> = gone;
            gone.iter().for_each(|taken| on_model.remember(taken));
        }
    }

    /// Whether a plugin decides for a model in memory.
    pub(crate) fn are_taken(&self) -> bool {
        self.lock().values().any(|on_model| !on_model.plugins.is_empty())
    }

    /// Whether this plugin decides for this model.
    pub(crate) fn is_taken(&self, model: &str, plugin: &str) -> bool {
        self.lock()
            .get(model)
            .is_some_and(|on_model| on_model.plugins.iter().any(|taken| taken.live.id() == plugin))
    }

    /// The policies of a model: these plugins', in this order, then the native one. Those that stay keep their state, those
    /// of another version of their plugin begin anew.
    pub(crate) fn compose(&self, model: &str, wanted: &[Arc<Live>]) -> Vec<Box<dyn Policy>> {
        let mut models = self.lock();
        let on_model = models.entry(model.to_owned()).or_default();
        let mut former = std::mem::take(&mut on_model.plugins);
        for live in wanted {
            let stays = former.iter().position(|taken| Arc::ptr_eq(&taken.live, live));
            let taken = stays.map_or_else(|| Taken::new(live, model), |at| former.swap_remove(at));
            on_model.plugins.push(taken);
        }
        for taken in former {
            on_model.remember(&taken);
        }
        let seats = on_model.plugins.iter().map(|taken| &taken.seat).chain(&on_model.native);
        seats.map(|seat| Box::new(seat.clone()) as Box<dyn Policy>).collect()
    }

    /// What a plugin did on a model since it was attached.
    pub(crate) fn did(&self, model: &str, plugin: &str) -> Did {
        let models = self.lock();
        let Some(on_model) = models.get(model) else {
            return Did::default();
        };
        let now = on_model.plugins.iter().find(|taken| taken.live.id() == plugin).map(Taken::did);
        let before = on_model.before.get(plugin).copied();
        match (before, now) {
            (Some(before), Some(now)) => before.and(now),
            (before, now) => before.or(now).unwrap_or_default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OnModel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OnModel {
    fn end(&mut self) {
        for taken in std::mem::take(&mut self.plugins) {
            self.remember(&taken);
        }
        self.native = None;
    }

    fn remember(&mut self, taken: &Taken) {
        let before = self.before.entry(taken.live.id().to_owned()).or_default();
        *before = before.and(taken.did());
    }
}

impl Taken {
    fn new(live: &Arc<Live>, model: &str) -> Self {
        let (policy, stats) = live.plugin.policy(model);
        Self { live: Arc::clone(live), seat: Seat::new(policy), stats }
    }

    fn did(&self) -> Did {
        Did {
            calls: self.stats.calls(),
            decisions: self.stats.decisions(),
            failures: self.stats.failures(),
            call_us: self.stats.call_us(),
        }
    }
}

impl Did {
    /// With what it did later; the median is that of later calls.
    fn and(self, later: Self) -> Self {
        Self {
            calls: self.calls + later.calls,
            decisions: self.decisions + later.decisions,
            failures: self.failures + later.failures,
            call_us: later.call_us.or(self.call_us),
        }
    }
}

/// A policy that the host keeps while a model's actor asks it.
#[derive(Clone)]
struct Seat {
    name: Arc<str>,
    policy: Arc<Mutex<Box<dyn Policy>>>,
}

impl Seat {
    fn new(policy: Box<dyn Policy>) -> Self {
        Self { name: policy.name().into(), policy: Arc::new(Mutex::new(policy)) }
    }

    fn policy(&self) -> MutexGuard<'_, Box<dyn Policy>> {
        // A policy that panicked lost its turn, not its place.
        self.policy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for Seat {
    fn name(&self) -> &str {
        &self.name
    }

    fn on_run(&mut self, report: &RunReport) -> Result<Decision, Failure> {
        self.policy().on_run(report)
    }

    fn on_idle(&mut self, idle_ms: u64, now: &Sample) -> Result<Decision, Failure> {
        self.policy().on_idle(idle_ms, now)
    }

    fn on_pressure(
        &mut self,
        available_bytes: u64,
        total_bytes: u64,
        now: &Sample,
    ) -> Result<Decision, Failure> {
        self.policy().on_pressure(available_bytes, total_bytes, now)
    }

    fn given_up(&self) -> Option<String> {
        self.policy().given_up()
    }
}
