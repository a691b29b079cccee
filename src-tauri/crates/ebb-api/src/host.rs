//! The host: what it is made of, how it opens and closes, and which process it is.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ebb_core::{
    Code, Endpoint, Event, Failure, ModelInfo, Places,
    operations::{HostStatus, ModelState, Shutdown},
};
use ebb_host::{HostConfig, ModelHandle, Supervisor};
use tokio::{
    sync::{broadcast, watch},
    task::{JoinError, JoinHandle},
};

use crate::{
    history::{self, History},
    keep_alive::{self, Kept},
    keys::Keys,
    lock::{self, HostLock},
    models::Catalogue,
    plugins::{self, Plugins},
    pressure,
    probed::Probed,
    profiles::Profiles,
    state::State,
    stored::Stored,
    sys,
    tally::Tallies,
    turn::Turn,
};

/// This version of Ebb.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What may differ between hosts, for tests and packagers.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The worker program; where none is given, `ebb-worker` beside this executable, else what `EBB_WORKER` names.
    pub worker_program: Option<PathBuf>,
    /// The ONNX Runtime library; where none is given, workers look for one.
    pub runtime_library: Option<PathBuf>,
    /// The folder of the plugins that ship with Ebb; where none is given, `plugins` beside this executable, else what
    /// `EBB_PLUGINS` names.
    pub bundled_plugins: Option<PathBuf>,
    /// Tells how much memory the system has; where none is given, the host looks itself.
    pub memory_watch: Option<MemoryWatch>,
}

/// Tells the available and the whole memory of the system, in bytes.
#[derive(Clone)]
pub struct MemoryWatch(Arc<dyn Fn() -> (u64, u64) + Send + Sync>);

impl MemoryWatch {
    /// What `look` gives: available and whole memory. It is called every other second and must not block.
    pub fn new(look: impl Fn() -> (u64, u64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(crate) fn look(&self) -> (u64, u64) {
        self.0()
    }
}

impl fmt::Debug for MemoryWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryWatch")
    }
}

/// The one host of a user. Cheap to clone; all clones are the same host.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) places: Places,
    pub(crate) settings: Settings,
    pub(crate) supervisor: Supervisor,
    pub(crate) worker_program: PathBuf,
    pub(crate) catalogue: Stored<Catalogue>,
    pub(crate) state: State,
    pub(crate) profiles: Profiles,
    pub(crate) keys: Stored<Keys>,
    pub(crate) kept: Kept,
    pub(crate) tallies: Tallies,
    pub(crate) plugins: Plugins,
    pub(crate) history: History,
    pub(crate) probed: Probed,
    /// Pulls and imports that go on.
    pub(crate) fetching: AtomicUsize,
    endpoint: OnceLock<Endpoint>,
    opened: Instant,
    closing: AtomicBool,
    shutdown: watch::Sender<Option<Shutdown>>,
    /// Brings models back after the start.
    bringing_back: Mutex<Option<JoinHandle<()>>>,
    /// One for each alias: loads and unloads of a model wait for each other here.
    turns: Mutex<HashMap<String, Arc<Turn>>>,
    /// Why the last load of a model failed.
    failures: Mutex<HashMap<String, String>>,
    /// Last, so that the next host starts once everything else of this one is gone.
    lock: HostLock,
}

impl Host {
    /// Becomes the user's host, and brings the models back that the last one had loaded, in the background.
    ///
    /// Call it within a Tokio runtime.
    ///
    /// # Errors
    /// [`Code::Conflict`] where a host runs already, with its address; [`Code::Storage`] where Ebb's data folder cannot be
    /// used.
    pub fn open(places: Places, settings: Settings) -> Result<Self, Failure> {
        let lock = HostLock::take(&places)?;
        let worker_program = settings.worker_program.clone().unwrap_or_else(find_worker);
        let supervisor = Supervisor::new(HostConfig::new(worker_program.clone()));
        let inner = Inner {
            catalogue: Stored::open(places.models_file())?,
            state: State::open(&places)?,
            profiles: Profiles::new(places.profiles_folder()),
            keys: Stored::open(places.keys_file())?,
            kept: Kept::default(),
            tallies: Tallies::default(),
            plugins: Plugins::open(&places, &settings)?,
            history: History::new(supervisor.events()),
            probed: Probed::default(),
            fetching: AtomicUsize::new(0),
            supervisor,
            worker_program,
            places,
            settings,
            endpoint: OnceLock::new(),
            opened: Instant::now(),
            closing: AtomicBool::new(false),
            shutdown: watch::Sender::new(None),
            bringing_back: Mutex::new(None),
            turns: Mutex::default(),
            failures: Mutex::default(),
            lock,
        };
        let host = Self { inner: Arc::new(inner) };
        keep_alive::watch(&host);
        plugins::watch(&host);
        pressure::watch(&host);
        history::watch(&host);
        let task = tokio::spawn(host.clone().bring_back());
        *held(&host.inner.bringing_back) = Some(task);
        Ok(host)
    }

    /// Writes the endpoint file: clients find the host from here on. The token is made anew for each host.
    ///
    /// # Errors
    /// [`Code::Storage`]; [`Code::Conflict`] where it was called before.
    pub fn publish(&self, url: &str) -> Result<Endpoint, Failure> {
        let endpoint = Endpoint {
            url: url.to_owned(),
            pid: std::process::id(),
            token: lock::new_token()?,
            version: VERSION.to_owned(),
        };
        if self.inner.endpoint.set(endpoint.clone()).is_err() {
            return Err(Failure::new(Code::Conflict, "this host is published already"));
        }
        self.inner.lock.publish(&endpoint)?;
        Ok(endpoint)
    }

    /// Where this host keeps what it keeps.
    pub fn places(&self) -> &Places {
        &self.inner.places
    }

    /// Which process this is and what it serves.
    ///
    /// # Errors
    /// None today.
    pub async fn status(&self) -> Result<HostStatus, Failure> {
        let endpoint = self.inner.endpoint.get();
        Ok(HostStatus {
            running: true,
            url: endpoint.map(|endpoint| endpoint.url.clone()),
            pid: Some(std::process::id()),
            version: VERSION.to_owned(),
            uptime_ms: u64::try_from(self.inner.opened.elapsed().as_millis()).unwrap_or(u64::MAX),
            resident_bytes: memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem as u64),
            models: self.in_states(&[ModelState::Loaded]),
            coming_back: self.coming_back(),
        })
    }

    /// Gives the free memory of the host process itself back to the system. It takes a few milliseconds, in which other
    /// threads may wait to allocate.
    pub fn trim_heap(&self) {
        sys::trim_heap();
    }

    /// Asks the host to end. Whoever serves it drains and then closes it.
    ///
    /// # Errors
    /// None today.
    pub async fn shutdown(&self, request: Shutdown) -> Result<HostStatus, Failure> {
        let status = self.status().await?;
        self.inner.shutdown.send_replace(Some(request));
        Ok(status)
    }

    /// Returns once the host was asked to end, with how long requests in flight may take, where the caller said.
    pub async fn shutdown_requested(&self) -> Option<Duration> {
        let mut asked = self.inner.shutdown.subscribe();
        // The sender lives as long as this host.
        let request = asked.wait_for(Option::is_some).await.ok().and_then(|request| (*request).clone());
        request.and_then(|request| request.drain_ms).map(Duration::from_millis)
    }

    /// Everything that happens to models, from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.supervisor.events()
    }

    /// Whether a model is in memory, or on its way there; one that is downloaded or imported is.
    pub fn holds_models(&self) -> bool {
        let coming_back = self.is_bringing_back() || self.inner.fetching.load(Ordering::Relaxed) > 0;
        let held = [ModelState::Loading, ModelState::Loaded, ModelState::Restarting];
        coming_back || !self.in_states(&held).is_empty()
    }

    /// Models that are at work, each with how many requests run or wait.
    pub fn requests(&self) -> Vec<(String, u32)> {
        let models = self.in_states(&[ModelState::Loaded, ModelState::Restarting]);
        let of = |alias: String| Some((self.inner.supervisor.model(&alias)?.requests(), alias));
        let counted = models.into_iter().filter_map(of);
        counted.filter(|(requests, _)| *requests > 0).map(|(requests, alias)| (alias, requests)).collect()
    }

    /// Ends every worker, after the requests in flight or after `drain`, and says that the host is gone. Models that are
    /// loaded now come back when a host opens again. Loads that go on are given up; nothing can be loaded from here on.
    ///
    /// # Errors
    /// [`Code::Storage`] where the endpoint file cannot be removed.
    pub async fn close(&self, drain: Duration) -> Result<(), Failure> {
        self.inner.closing.store(true, Ordering::Release);
        let begun = Instant::now();
        self.inner.plugins.end_calls();
        let turns: Vec<_> = held(&self.inner.turns).values().cloned().collect();
        for turn in &turns {
            turn.give_up_loads();
        }
        let bringing_back = held(&self.inner.bringing_back).take();
        let loads_end = async {
            if let Some(Err(error)) = async { Some(bringing_back?.await) }.await {
                tracing::error!(%error, "bringing models back failed");
            }
            for turn in turns {
                drop(turn.take().await);
            }
        };
        if tokio::time::timeout(drain, loads_end).await.is_err() {
            tracing::warn!(
                "a model that takes longer to unload than the time to drain is left to end with this process"
            );
        }
        let drain = drain.saturating_sub(begun.elapsed());
        self.inner.supervisor.close(drain).await;
        self.inner.lock.withdraw()
    }

    /// The model's worker, if it serves or soon will again.
    pub(crate) fn serving(&self, alias: &str) -> Option<ModelHandle> {
        let model = self.inner.supervisor.model(alias)?;
        matches!(model.state(), ModelState::Loaded | ModelState::Restarting).then_some(model)
    }

    /// Whether the model is in memory, whether or not its worker serves.
    pub(crate) fn is_in_memory(&self, alias: &str) -> bool {
        self.inner.supervisor.model(alias).is_some()
    }

    /// A model's state, why it is not loaded where it failed, and what was loaded.
    pub(crate) fn in_memory(&self, alias: &str) -> (ModelState, Option<String>, Option<ModelInfo>) {
        if let Some(model) = self.inner.supervisor.model(alias) {
            return (model.state(), model.reason(), Some(model.info()));
        }
        if self.inner.supervisor.models().iter().any(|(loading, _)| loading == alias) {
            return (ModelState::Loading, None, None);
        }
        match held(&self.inner.failures).get(alias) {
            Some(reason) => (ModelState::Failed, Some(reason.clone()), None),
            None => (ModelState::Unloaded, None, None),
        }
    }

    /// Refuses to load anything into a host that closes.
    pub(crate) fn check_open(&self) -> Result<(), Failure> {
        if self.inner.closing.load(Ordering::Acquire) {
            return Err(Failure::new(Code::Cancelled, "the host is ending")
                .hint("start it again: `ebb server start`"));
        }
        Ok(())
    }

    fn is_bringing_back(&self) -> bool {
        held(&self.inner.bringing_back).as_ref().is_some_and(|task| !task.is_finished())
    }

    /// Models that the last host held and that this one has not come to yet.
    fn coming_back(&self) -> Vec<String> {
        if !self.is_bringing_back() {
            return Vec::new();
        }
        let comes =
            |alias: &String| matches!(self.in_memory(alias).0, ModelState::Loading | ModelState::Unloaded);
        self.inner.state.loaded().into_iter().filter(comes).collect()
    }

    fn in_states(&self, states: &[ModelState]) -> Vec<String> {
        let models = self.inner.supervisor.models();
        models.into_iter().filter(|(_, state)| states.contains(state)).map(|(alias, _)| alias).collect()
    }

    /// Where loads and unloads of a model wait for each other.
    pub(crate) fn turn(&self, alias: &str) -> Arc<Turn> {
        Arc::clone(held(&self.inner.turns).entry(alias.to_owned()).or_default())
    }

    /// Remembers why a load failed, or forgets it.
    pub(crate) fn note_failure(&self, alias: &str, failure: Option<&Failure>) {
        let mut failures = held(&self.inner.failures);
        match failure {
            // Refused, not failed.
            Some(failure) if matches!(failure.code, Code::Conflict | Code::Cancelled) => {}
            Some(failure) => {
                failures.insert(alias.to_owned(), failure.message.clone());
            }
            None => {
                failures.remove(alias);
            }
        }
    }
}

/// A lock on what no panic can leave half changed.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a task of this host's own failed of: it panicked, or the runtime ends.
pub(crate) fn failed_task(error: JoinError) -> Failure {
    Failure::new(Code::Internal, format!("the host failed: {error}"))
        .hint("see the host's log: `ebb server logs`")
}

/// `ebb-worker` beside this executable, else what `EBB_WORKER` names, else where it should be.
fn find_worker() -> PathBuf {
    let name = format!("ebb-worker{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe()
        .map_or_else(|_| PathBuf::from(&name), |program| program.with_file_name(&name));
    if beside.is_file() {
        return beside;
    }
    std::env::var_os("EBB_WORKER").filter(|path| !path.is_empty()).map_or(beside, PathBuf::from)
}
