//! One installed plugin, and everything that its instances share.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use ebb_core::{
    Failure, Json, PluginManifest,
    operations::{CollectionState, Grant},
};
use ebb_store::Store;
use tokio::sync::Semaphore;

use crate::{
    Compiled, Error, Log, Models, Pipeline, Sandbox, Usage,
    grants::Grants,
    limits::{Consumption, Limits},
    settings,
};

const STORE: &str = "store.sqlite";

/// Questions that a pipeline answers at once: each has an instance, and all plugins share the memory that there is for them.
const MOST_ASKED: usize = 16;

/// What a plugin is made with.
#[derive(Debug, Clone)]
pub struct PluginConfig {
    /// What it says of itself.
    pub manifest: PluginManifest,
    /// Where its store and its log lie.
    pub data_folder: PathBuf,
    /// What it was granted.
    pub grants: Vec<Grant>,
    /// The settings that the user chose; the others are at their defaults.
    pub settings: BTreeMap<String, Json>,
}

/// An installed plugin that can be called. Cheap to clone; all clones are the same plugin.
#[derive(Clone)]
pub struct Plugin {
    pub(crate) sandbox: Sandbox,
    pub(crate) compiled: Compiled,
    pub(crate) shared: Arc<Shared>,
}

/// What the instances of one plugin share.
pub(crate) struct Shared {
    manifest: PluginManifest,
    /// The models that there are.
    pub(crate) models: Arc<dyn Models>,
    /// What it was granted, and what it used.
    pub(crate) grants: Grants,
    /// What it is held to.
    pub(crate) limits: Arc<Limits>,
    /// What its instances take.
    pub(crate) consumption: Arc<Consumption>,
    /// Its settings as they hold, by name.
    pub(crate) settings: RwLock<BTreeMap<String, Json>>,
    /// Its log.
    pub(crate) log: Log,
    data_folder: PathBuf,
    /// Opened for the first call that needs it.
    store: Mutex<Option<Store>>,
    /// Held by the ingest that goes on.
    pub(crate) ingesting: Arc<tokio::sync::Mutex<()>>,
    /// Places for questions.
    pub(crate) asking: Arc<Semaphore>,
    requests: AtomicU64,
}

/// What a plugin's store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// Its collections, by name.
    pub collections: Vec<CollectionState>,
    /// Bytes on disk.
    pub store_bytes: u64,
    /// Bytes that its indexes take in memory now.
    pub index_memory_bytes: u64,
}

impl Plugin {
    /// A plugin of what was compiled.
    ///
    /// # Errors
    /// Where a setting does not fit the manifest's schema.
    pub fn new(sandbox: &Sandbox, compiled: Compiled, config: PluginConfig) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(Arc::clone(sandbox.models()), config));
        Ok(Self { sandbox: sandbox.clone(), compiled, shared })
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &PluginManifest {
        &self.shared.manifest
    }

    /// This is granted from now on, instead of what was before, also to calls that go on.
    pub fn set_grants(&self, grants: Vec<Grant>) {
        self.shared.grants.set(grants);
    }

    /// These settings were chosen; the others are at their defaults. They hold at once.
    ///
    /// # Errors
    /// Where a value does not fit the manifest's schema.
    pub fn set_settings(&self, chosen: BTreeMap<String, Json>) -> Result<(), Error> {
        for (name, value) in &chosen {
            settings::check(&self.shared.manifest, name, Some(value))?;
        }
        let hold = settings::that_hold(&self.shared.manifest, &chosen);
        *self.shared.settings.write().unwrap_or_else(PoisonError::into_inner) = hold;
        Ok(())
    }

    /// What it used of what it was granted.
    pub fn usage(&self) -> Vec<Usage> {
        self.shared.grants.usage()
    }

    /// Its log.
    pub fn log(&self) -> Log {
        self.shared.log.clone()
    }

    /// Linear memory of its instances now.
    pub fn memory_bytes(&self) -> u64 {
        self.shared.consumption.memory_bytes()
    }

    /// Processor time of its calls so far.
    pub fn cpu_us(&self) -> u64 {
        self.shared.consumption.cpu_us()
    }

    /// What its store takes on disk.
    pub fn store_bytes(&self) -> u64 {
        match &*self.shared.store.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(store) => store.bytes_on_disk(),
            None => std::fs::metadata(self.shared.store_file()).map_or(0, |about| about.len()),
        }
    }

    /// What its store holds.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub async fn index(&self) -> Result<Index, Failure> {
        let shared = Arc::clone(&self.shared);
        let looking = tokio::task::spawn_blocking(move || -> Result<Index, ebb_store::Error> {
            if !shared.store_file().exists() {
                return Ok(Index::default());
            }
            let store = shared.store()?;
            Ok(Index {
                collections: store.collections()?,
                store_bytes: store.bytes_on_disk(),
                index_memory_bytes: store.index_memory_bytes(),
            })
        });
        let looked =
            looking.await.map_err(|error| Failure::new(ebb_core::Code::Internal, error.to_string()))?;
        Ok(looked?)
    }

    /// Its calls as a pipeline.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline::new(self.clone())
    }
}

impl Shared {
    /// What a plugin is without its code.
    pub(crate) fn new(models: Arc<dyn Models>, config: PluginConfig) -> Self {
        let PluginConfig { manifest, data_folder, grants, settings } = config;
        let limits = Arc::new(Limits::of(&manifest));
        let log = Log::open(&manifest.id, &data_folder, limits.log_bytes);
        Self {
            models,
            grants: Grants::new(&manifest.id, grants),
            consumption: Arc::default(),
            settings: RwLock::new(settings::that_hold(&manifest, &settings)),
            // Numbers go on where the log ends: a call has one number there.
            requests: AtomicU64::new(log.last_request()),
            log,
            data_folder,
            store: Mutex::new(None),
            ingesting: Arc::default(),
            asking: Arc::new(Semaphore::new(MOST_ASKED)),
            limits,
            manifest,
        }
    }

    /// What it says of itself.
    pub(crate) fn manifest(&self) -> &PluginManifest {
        &self.manifest
    }

    /// A setting as it holds, as JSON.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        settings.get(name).map(ToString::to_string)
    }

    /// A number for the next call.
    pub(crate) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Its store, opened if it is not yet. It may wait for the disk.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub(crate) fn store(&self) -> Result<Store, ebb_store::Error> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*store {
            return Ok(store.clone());
        }
        // Where it cannot be made, opening the store in it says so.
        let _made = std::fs::create_dir_all(&self.data_folder);
        Ok(store.insert(Store::open(&self.store_file(), self.limits.store_bytes)?).clone())
    }

    fn store_file(&self) -> PathBuf {
        self.data_folder.join(STORE)
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("id", &self.shared.manifest.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        fake::{FakeModels, Scene, manifest},
        log::About,
    };
    use ebb_core::operations::LogLevel;

    #[test]
    fn settings_that_another_version_took_go_back_to_their_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let with = |value: serde_json::Value| {
            let settings = BTreeMap::from([("chunk".to_owned(), Json(value))]);
            let config = PluginConfig {
                manifest: manifest(),
                data_folder: folder.path().to_owned(),
                grants: Vec::new(),
                settings,
            };
            Shared::new(Arc::new(FakeModels::default()), config)
        };
        assert_eq!(with(json!(50)).setting("chunk").as_deref(), Some("50"));
        assert_eq!(with(json!("fifty")).setting("chunk").as_deref(), Some("200"));
        assert_eq!(with(json!(1)).setting("no-such"), None);
    }

    #[test]
    fn calls_are_numbered_on_after_a_restart() {
        let scene = Scene::new(Vec::new());
        let request = scene.plugin.next_request();
        scene.plugin.log.line(LogLevel::Info, About { request, model: None }, "one");
        let config = PluginConfig {
            manifest: manifest(),
            data_folder: scene.folder.path().to_owned(),
            grants: Vec::new(),
            settings: BTreeMap::new(),
        };
        assert_eq!(Shared::new(Arc::new(FakeModels::default()), config).next_request(), request + 1);
    }
}
