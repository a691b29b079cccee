//! One installed plugin, and everything that its instances share.

use std::{
    collections::BTreeMap,
    fmt,
    ops::Deref,
    path::PathBuf,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use ebb_core::{
    Failure, Json, PluginManifest,
    operations::{CollectionState, Grant},
};
use tokio::sync::Semaphore;

use crate::{
    Compiled, Error, Log, Models, Pipeline, Sandbox, Usage,
    grants::Grants,
    limits::{Consumption, Limits},
    own_store::OwnStore,
    settings,
};

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

/// What another version of a plugin is made with: where it keeps its store and its log stays.
#[derive(Debug, Clone)]
pub struct PluginVersion {
    /// What it says of itself.
    pub manifest: PluginManifest,
    /// What is granted now.
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

/// What the instances of one version of a plugin share.
pub(crate) struct Shared {
    manifest: PluginManifest,
    /// What it is held to.
    pub(crate) limits: Arc<Limits>,
    /// Its settings as they hold, by name.
    pub(crate) settings: RwLock<BTreeMap<String, Json>>,
    lasting: Arc<Lasting>,
}

/// What all versions of a plugin share.
pub(crate) struct Lasting {
    /// The models that there are.
    pub(crate) models: Arc<dyn Models>,
    /// What it was granted, and what it used.
    pub(crate) grants: Grants,
    /// What its instances take.
    pub(crate) consumption: Arc<Consumption>,
    /// Its log.
    pub(crate) log: Log,
    /// Its store.
    pub(crate) store: OwnStore,
    /// Held by the ingest that goes on.
    pub(crate) ingesting: Arc<tokio::sync::Mutex<()>>,
    /// Places for questions.
    pub(crate) asking: Arc<Semaphore>,
    requests: AtomicU64,
}

impl Deref for Shared {
    type Target = Lasting;

    fn deref(&self) -> &Lasting {
        &self.lasting
    }
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

    /// Another version of this plugin: what it used, its log and its store go on. Calls of this one that go on end with the
    /// code and the settings that they began with; what is granted now holds for them too.
    pub fn renewed(&self, compiled: Compiled, version: PluginVersion) -> Self {
        Self { sandbox: self.sandbox.clone(), compiled, shared: Arc::new(self.shared.renewed(version)) }
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
        self.shared.store.bytes_on_disk()
    }

    /// What its store holds.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub async fn index(&self) -> Result<Index, Failure> {
        let shared = Arc::clone(&self.shared);
        let looking = tokio::task::spawn_blocking(move || -> Result<Index, ebb_store::Error> {
            let Some(store) = shared.store.existing()? else { return Ok(Index::default()) };
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
        let limits = Limits::of(&manifest);
        let log = Log::open(&manifest.id, &data_folder, limits.log_bytes);
        let lasting = Lasting {
            models,
            grants: Grants::new(&manifest.id, grants),
            consumption: Arc::default(),
            // Numbers go on where the log ends: a call has one number there.
            requests: AtomicU64::new(log.last_request()),
            log,
            store: OwnStore::new(data_folder, limits.store_bytes),
            ingesting: Arc::default(),
            asking: Arc::new(Semaphore::new(MOST_ASKED)),
        };
        Self::version(manifest, limits, &settings, Arc::new(lasting))
    }

    /// Another version.
    fn renewed(&self, version: PluginVersion) -> Self {
        let PluginVersion { manifest, grants, settings } = version;
        let limits = Limits::of(&manifest);
        self.grants.set(grants);
        self.log.set_most_bytes(limits.log_bytes);
        self.store.set_quota(limits.store_bytes);
        Self::version(manifest, limits, &settings, Arc::clone(&self.lasting))
    }

    fn version(
        manifest: PluginManifest,
        limits: Limits,
        settings: &BTreeMap<String, Json>,
        lasting: Arc<Lasting>,
    ) -> Self {
        let settings = RwLock::new(settings::that_hold(&manifest, settings));
        Self { limits: Arc::new(limits), settings, manifest, lasting }
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
        fake::{FakeModels, Scene, grant, manifest},
        log::About,
    };
    use ebb_core::{Capability, operations::LogLevel};

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

    #[test]
    fn another_version_has_the_same_log_the_same_store_and_what_was_used() {
        let scene = Scene::new(Vec::new());
        let former = &scene.plugin;
        assert!(former.grants.check(Capability::Store, None).is_err());
        let request = former.next_request();
        former.store.get().unwrap().kv_set("key", b"value").unwrap();
        let mut heard = former.log.follow();

        let mut manifest = PluginManifest { version: "2.0.0".to_owned(), ..manifest() };
        (manifest.limits.store_bytes, manifest.limits.log_bytes) = (Some(100 << 10), Some(600));
        let settings = BTreeMap::from([("chunk".to_owned(), Json(json!(50)))]);
        let renewed =
            former.renewed(PluginVersion { manifest, grants: vec![grant(Capability::Store, &[])], settings });

        assert_eq!(
            (former.manifest().version.as_str(), renewed.manifest().version.as_str()),
            ("1.0.0", "2.0.0")
        );
        assert_eq!(
            (former.setting("chunk").unwrap(), renewed.setting("chunk").unwrap()),
            ("200".into(), "50".into())
        );
        assert!(renewed.grants.check(Capability::Store, None).is_ok());
        assert!(former.grants.check(Capability::Store, None).is_ok(), "also for calls that go on");
        let used =
            former.grants.usage().into_iter().find(|used| used.capability == Capability::Store).unwrap();
        assert_eq!((used.calls, used.refused), (3, 1));
        assert_eq!(renewed.next_request(), request + 1);

        // One store: what the one holds the other finds, and the new quota is the store's.
        let store = renewed.store.get().unwrap();
        assert_eq!(store.kv_get("key").unwrap().unwrap(), b"value");
        let full = former.store.get().unwrap().kv_set("large", &[7; 200 << 10]).unwrap_err();
        assert!(matches!(full, ebb_store::Error::Quota { quota_bytes: 102_400, .. }), "{full}");

        // One log: its lines are numbered through, whoever writes, and it is held to what the new version asks for.
        for plugin in [former.as_ref(), &renewed, former.as_ref()] {
            plugin.log.line(LogLevel::Info, About { request, model: None }, &"x".repeat(100));
        }
        assert_eq!(
            [heard.try_recv(), heard.try_recv(), heard.try_recv()].map(|line| line.unwrap().seq),
            [1, 2, 3]
        );
        let on_disk =
            |name: &str| std::fs::metadata(scene.folder.path().join(name)).map_or(0, |file| file.len());
        assert!(on_disk("log.1.jsonl") > 0 && on_disk("log.jsonl") + on_disk("log.1.jsonl") <= 600);
    }
}
