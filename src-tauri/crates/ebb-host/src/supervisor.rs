//! Which models are in memory.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ebb_core::{
    Event, EventKind, Failure, Inspection, LoadSpec, ModelInfo, Policy, Probe,
    operations::{LoadReport, ModelState, UnloadReport},
    options::OptionLine,
};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::{
    Error, HostConfig, ModelHandle,
    actor::Actor,
    events::Events,
    model::Model,
    tools,
    worker::{Started, Worker},
};

/// Loads and unloads models. Cheap to clone; all clones are the same supervisor.
#[derive(Clone)]
pub struct Supervisor(Arc<Inner>);

struct Inner {
    config: HostConfig,
    events: Events,
    models: Mutex<BTreeMap<String, Entry>>,
}

enum Entry {
    Loading,
    InMemory(ModelHandle),
}

impl Entry {
    fn in_memory(&self) -> Option<ModelHandle> {
        match self {
            Self::InMemory(model) => Some(model.clone()),
            Self::Loading => None,
        }
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor").field("models", &self.models()).finish()
    }
}

impl Supervisor {
    /// Without any model yet. Its operations want a Tokio runtime.
    pub fn new(config: HostConfig) -> Self {
        Self(Arc::new(Inner { config, events: Events::new(), models: Mutex::default() }))
    }

    /// Loads a model in a worker of its own.
    ///
    /// # Errors
    /// [`ebb_core::Code::Conflict`] where it is in memory or on its way already; what keeps it from loading.
    pub async fn load(&self, spec: LoadSpec, policies: Vec<Box<dyn Policy>>) -> Result<LoadReport, Failure> {
        let mut claim = Claim::new(self, &spec.alias)?;
        self.0.events.tell(&spec.alias, EventKind::Loading);
        let (config, device) = (self.0.config.clone(), spec.options.device);
        let started = Worker::start(config.launch.as_ref(), &spec, config.close_grace).await;
        let Started { worker, info, sample, reports } =
            started.inspect_err(|failure| claim.unfulfilled_because = failure.message.clone())?;
        let (orders, ordered) = mpsc::unbounded_channel();
        let (wishes, wished) = mpsc::unbounded_channel();
        let loaded = (info.clone(), sample.clone());
        let model =
            Arc::new(Model::new(spec, config, self.0.events.clone(), loaded, worker, (orders, wishes)));
        tokio::spawn(Actor::new(Arc::clone(&model), policies, reports, ordered, wished).work());
        model.tell(EventKind::Loaded { load_ms: info.load_ms, sample: sample.clone() });
        claim.fulfil(ModelHandle(model));
        let warnings = warnings(device, &info);
        Ok(LoadReport { info, sample, already_loaded: false, warnings })
    }

    /// Unloads a model: its worker ends, and is seen to be gone.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotLoaded`].
    pub async fn unload(&self, alias: &str) -> Result<UnloadReport, Failure> {
        let model = self.known(alias).ok_or_else(|| Error::NotLoaded(alias.to_owned()))?;
        let (asked, report) = oneshot::channel();
        // An actor that is gone has unloaded its model. Its order comes back and is not kept: the answer would never come.
        drop(model.0.orders.send(asked));
        let report = report.await.map_err(|_| Error::NotLoaded(alias.to_owned()));
        self.forget(&model);
        Ok(report?)
    }

    /// A model in memory, in whatever state its worker is.
    pub fn model(&self, alias: &str) -> Option<ModelHandle> {
        self.known(alias).filter(|model| model.state() != ModelState::Unloaded)
    }

    /// Whether a model is gone from memory because a policy unloaded it, not because somebody asked for that.
    pub fn unloaded_by_policy(&self, alias: &str) -> bool {
        // Who unloads a model forgets it; an actor that left by itself forgets nothing.
        self.known(alias).is_some_and(|model| model.state() == ModelState::Unloaded)
    }

    /// Every model and its state, by alias.
    pub fn models(&self) -> Vec<(String, ModelState)> {
        let state = |entry: &Entry| match entry {
            Entry::Loading => ModelState::Loading,
            Entry::InMemory(model) => model.state(),
        };
        let models = self.0.models();
        models
            .iter()
            .map(|(alias, entry)| (alias.clone(), state(entry)))
            .filter(|(_, state)| *state != ModelState::Unloaded)
            .collect()
    }

    /// Everything that happens to models from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.0.events.listen()
    }

    /// Tells of what happened to a model outside of its worker: it was added, removed, or its options are others.
    pub fn tell(&self, alias: &str, kind: EventKind) {
        self.0.events.tell(alias, kind);
    }

    /// Unloads every model, each after its jobs or after `drain`.
    pub async fn close(&self, drain: Duration) {
        let aliases: Vec<String> = self.0.models().keys().cloned().collect();
        let closing = aliases.into_iter().map(|alias| {
            let supervisor = self.clone();
            tokio::spawn(async move {
                if let Some(model) = supervisor.model(&alias) {
                    let drained = tokio::time::timeout(drain, model.0.drained()).await.is_ok();
                    tracing::debug!(model = alias, drained, "closing");
                    if let Err(failure) = supervisor.unload(&alias).await {
                        tracing::debug!(model = alias, %failure, "was gone already");
                    }
                }
            })
        });
        for closed in closing.collect::<Vec<_>>() {
            if let Err(error) = closed.await {
                tracing::error!(%error, "a model could not be closed");
            }
        }
    }

    /// Which library, providers and devices there are: asked of the worker program.
    ///
    /// # Errors
    /// Where there is no library; see the worker's own words.
    pub async fn probe(&self, library: Option<&Path>, folders: &[PathBuf]) -> Result<Probe, Failure> {
        tools::probe(&self.0.config.worker_program, library, folders).await
    }

    /// What a model folder or file holds: asked of the worker program.
    ///
    /// # Errors
    /// Where it is nothing that can be loaded.
    pub async fn inspect(&self, path: &Path, variant: Option<&str>) -> Result<Inspection, Failure> {
        tools::inspect(&self.0.config.worker_program, path, variant).await
    }

    fn known(&self, alias: &str) -> Option<ModelHandle> {
        self.0.models().get(alias).and_then(Entry::in_memory)
    }

    fn forget(&self, model: &ModelHandle) {
        let mut models = self.0.models();
        let alias = &model.0.spec.alias;
        if matches!(models.get(alias), Some(Entry::InMemory(known)) if Arc::ptr_eq(&known.0, &model.0)) {
            models.remove(alias);
        }
    }
}

impl Inner {
    fn models(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Entry>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An alias that is being loaded; given back unless it is fulfilled, and then it is told why.
struct Claim<'a> {
    supervisor: &'a Supervisor,
    alias: String,
    fulfilled: bool,
    unfulfilled_because: String,
}

impl<'a> Claim<'a> {
    fn new(supervisor: &'a Supervisor, alias: &str) -> Result<Self, Failure> {
        let mut models = supervisor.0.models();
        let free = match models.get(alias) {
            None => true,
            Some(Entry::InMemory(model)) => model.state() == ModelState::Unloaded,
            Some(Entry::Loading) => false,
        };
        if !free {
            return Err(Error::AlreadyLoaded(alias.to_owned()).into());
        }
        models.insert(alias.to_owned(), Entry::Loading);
        // What holds if nobody waits for the load any more.
        let unfulfilled_because = "the load was given up".to_owned();
        Ok(Self { supervisor, alias: alias.to_owned(), fulfilled: false, unfulfilled_because })
    }

    fn fulfil(mut self, model: ModelHandle) {
        self.supervisor.0.models().insert(self.alias.clone(), Entry::InMemory(model));
        self.fulfilled = true;
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.fulfilled {
            self.supervisor.0.models().remove(&self.alias);
            let reason = std::mem::take(&mut self.unfulfilled_because);
            self.supervisor.0.events.tell(&self.alias, EventKind::LoadFailed { reason });
        }
    }
}

/// What a person should know who gave these options: which of them do not do what they say.
fn warnings(device: Option<u32>, info: &ModelInfo) -> Vec<String> {
    let of_line = |line: &OptionLine| {
        let note = line.note.as_ref().filter(|_| line.warning && !line.requested.is_empty())?;
        Some(format!("{} {}={}: {note}", line.scope, line.key, line.requested))
    };
    let of_device = device.filter(|device| *device > 0 && info.provider == "cpu").map(|device| {
        format!("device {device}: without effect, the model runs on the CPU, of which there is one")
    });
    of_device.into_iter().chain(info.options.iter().filter_map(of_line)).collect()
}
