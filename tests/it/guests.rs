//! Guests that misbehave (`tests/guests`): each is contained, the reason is told, and others go on.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod components;
mod pipeline;
mod policy;

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use ebb_core::{Capability, operations::Grant};
use ebb_plugins::{Compiled, Models, Plugin, PluginConfig, Sandbox, SandboxConfig};
use ebb_tests::plugins::FakeModels;
pub(crate) use ebb_tests::plugins::sample;

/// Built once for all tests of this program.
struct Guests {
    /// Where what was compiled of them is kept.
    compiled: tempfile::TempDir,
    policy: Vec<u8>,
    pipeline: Vec<u8>,
}

static GUESTS: LazyLock<Guests> = LazyLock::new(|| {
    let built = |name| std::fs::read(ebb_tests::plugins::hostile(name)).unwrap();
    Guests { compiled: tempfile::tempdir().unwrap(), policy: built("policy"), pipeline: built("pipeline") }
});

/// A sandbox with models that need no worker.
struct Scene {
    home: tempfile::TempDir,
    models: Arc<FakeModels>,
    sandbox: Sandbox,
}

impl Scene {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let models = Arc::new(FakeModels::default());
        // Compiled once for all: the folder is shared.
        let config = SandboxConfig { compiled_folder: GUESTS.compiled.path().to_owned() };
        let sandbox = Sandbox::new(config, Arc::clone(&models) as Arc<dyn Models>).unwrap();
        Self { home, models, sandbox }
    }

    fn compiled(&self, component: &[u8]) -> Compiled {
        self.sandbox.compile(component, &mut |_| {}).unwrap()
    }

    /// The plugin, with all that it asks for granted on the models named.
    fn plugin(&self, component: &[u8], models: &[&str], paths: Vec<PathBuf>) -> Plugin {
        let manifest = ebb_plugins::Component::read(component).unwrap().manifest;
        let granted = |capability: Capability| Grant {
            capability,
            models: if capability.is_of_models() {
                models.iter().map(ToString::to_string).collect()
            } else {
                Vec::new()
            },
            paths: if capability == Capability::Documents { paths.clone() } else { Vec::new() },
        };
        let config = PluginConfig {
            grants: manifest.capabilities.iter().map(|asked| granted(asked.capability)).collect(),
            data_folder: self.home.path().join(&manifest.id),
            manifest,
            settings: std::collections::BTreeMap::new(),
        };
        Plugin::new(&self.sandbox, self.compiled(component), config).unwrap()
    }
}
