//! Plugins: what is installed, what it was granted, where it decides, and what it is asked.
//!
//! A plugin is only compiled when it is needed, and then stays: the models that it decides for and the pipelines that run
//! share it. The sandbox itself is only set up for the first of them.

mod attach;
mod bundled;
mod calls;
mod entry;
mod grants;
mod install;
mod live;
mod live_reload;
mod log;
mod models;
mod pipelines;
mod registry;
mod replay;
mod seats;
mod source;
mod watch;

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use ebb_core::{Code, Failure, Places};
use ebb_plugins::Sandbox;

pub(crate) use self::attach::Policies;
use self::{
    bundled::Bundled,
    calls::Calls,
    live::Live,
    registry::{Kept, Registry},
    seats::Seats,
    source::Stamp,
};
pub use self::{
    log::PluginLogStream,
    pipelines::{AskStream, IngestStream},
};
use crate::{Host, Settings, stored::Stored};

/// The plugins of a host.
pub(crate) struct Plugins {
    registry: Stored<Registry>,
    bundled: Bundled,
    /// A folder for each plugin that is installed or keeps something.
    folder: PathBuf,
    compiled_folder: PathBuf,
    /// Set up for the first plugin that is needed.
    sandbox: OnceLock<Sandbox>,
    /// Those that were compiled, by id.
    live: Mutex<BTreeMap<String, Arc<Live>>>,
    /// What the files of plugins under development were when they were last read, by id.
    read: Mutex<BTreeMap<String, Stamp>>,
    /// Why a plugin cannot be used, by id.
    broken: Mutex<BTreeMap<String, String>>,
    /// How far the plugins are that are being compiled, in percent.
    compiling: Mutex<BTreeMap<String, u32>>,
    seats: Seats,
    calls: Arc<Calls>,
    /// Held while something about plugins changes: one change at a time.
    changing: tokio::sync::Mutex<()>,
    /// Held while a plugin is compiled: nothing is compiled twice.
    preparing: tokio::sync::Mutex<()>,
    /// Held while a recording is replayed, which keeps a core busy: one at a time.
    replaying: tokio::sync::Mutex<()>,
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugins").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Plugins {
    /// Reads `plugins.json`. A broken one is set aside: a host without its plugins is better than none.
    ///
    /// # Errors
    /// [`Code::Storage`] where even that is refused.
    pub(crate) fn open(places: &Places, settings: &Settings) -> Result<Self, Failure> {
        Ok(Self {
            registry: Stored::open_or_set_aside(places.plugins_file())?,
            bundled: Bundled::new(settings.bundled_plugins.clone()),
            folder: places.plugins_folder(),
            compiled_folder: places.compiled_plugins_folder(),
            sandbox: OnceLock::new(),
            live: Mutex::default(),
            read: Mutex::default(),
            broken: Mutex::default(),
            compiling: Mutex::default(),
            seats: Seats::default(),
            calls: Arc::default(),
            changing: tokio::sync::Mutex::default(),
            preparing: tokio::sync::Mutex::default(),
            replaying: tokio::sync::Mutex::default(),
        })
    }

    /// Whether a plugin decides for a model in memory.
    pub(crate) fn decide_for_a_model(&self) -> bool {
        self.seats.are_taken()
    }

    /// A model was not loaded after all: nothing decides for it.
    pub(crate) fn not_loaded(&self, alias: &str) {
        self.seats.end(alias);
    }

    /// Ends every call that goes on.
    pub(crate) fn end_calls(&self) {
        self.calls.end(None);
    }

    /// What is known of a plugin: what the user installed, else what ships with Ebb.
    fn kept(&self, id: &str) -> Result<Kept, Failure> {
        let kept = self.registry.read(|registry| registry.plugins.get(id).cloned());
        self.bundled.merged(id, kept).ok_or_else(|| self.unknown(id))
    }

    /// The ids of all plugins, sorted.
    fn ids(&self) -> Vec<String> {
        let mut ids = self.registry.read(|registry| registry.plugins.keys().cloned().collect::<Vec<_>>());
        ids.extend(self.bundled.ids());
        ids.sort();
        ids.dedup();
        ids
    }

    fn unknown(&self, id: &str) -> Failure {
        let ids = self.ids();
        let hint = if ids.is_empty() {
            "no plugin is installed: `ebb plugin install FILE`".to_owned()
        } else {
            format!("there are: {}", ids.join(", "))
        };
        Failure::new(Code::NotFound, format!("there is no plugin '{}'", id.escape_debug()))
            .hint(hint)
            .param("plugin")
    }

    /// Changes what is kept of a plugin.
    fn change(&self, id: &str, change: impl FnOnce(&mut Kept)) -> Result<(), Failure> {
        self.registry.update(|registry| {
            let kept = registry.plugins.get(id).cloned();
            // Gone, if it was removed meanwhile.
            if let Some(mut kept) = self.bundled.merged(id, kept) {
                change(&mut kept);
                registry.plugins.insert(id.to_owned(), kept);
            }
            Ok(())
        })
    }

    /// Where a plugin keeps its component, its store and its log.
    fn folder_of(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// A plugin that was compiled already.
    fn live_now(&self, id: &str) -> Option<Arc<Live>> {
        held(&self.live).get(id).cloned()
    }

    /// Notes why a plugin cannot be used, or that it can.
    fn note_broken(&self, id: &str, failure: Option<&Failure>) {
        let mut broken = held(&self.broken);
        match failure {
            Some(failure) => broken.insert(id.to_owned(), failure.message.clone()),
            None => broken.remove(id),
        };
    }
}

/// Starts what looks after the plugins of a host.
pub(crate) fn watch(host: &Host) {
    // Subscribed to here, so that nothing is missed.
    let events = host.events();
    tokio::spawn(watch::hear(Arc::downgrade(&host.inner), events));
    tokio::spawn(live_reload::watch(Arc::downgrade(&host.inner)));
}

/// A lock on what no panic can leave half changed.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
