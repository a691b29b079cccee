//! What the user installed, granted, set and attached: the content of `plugins.json`.

use std::{collections::BTreeMap, path::PathBuf};

use ebb_core::{
    Json, PluginManifest,
    operations::{Grant, PluginOrigin},
};
use serde::{Deserialize, Serialize};

/// The content of `plugins.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Registry {
    /// By id. Bundled plugins stand here once something was granted to them or set.
    pub(crate) plugins: BTreeMap<String, Kept>,
    /// The policies of each model, by its alias, in the order in which they are asked.
    pub(crate) policies: BTreeMap<String, Vec<Attached>>,
}

/// What is kept of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) origin: PluginOrigin,
    /// Its component; the folder of one under development.
    pub(crate) path: PathBuf,
    #[serde(flatten)]
    pub(crate) component: Component,
    #[serde(default)]
    pub(crate) grants: Vec<Grant>,
    /// What the user set, over the defaults in the manifest.
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, Json>,
}

/// What is known of a component without its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Component {
    pub(crate) manifest: PluginManifest,
    pub(crate) size_bytes: u64,
    /// In hex.
    pub(crate) sha256: String,
}

/// A policy on a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attached {
    pub(crate) plugin: String,
    /// Why the host detached it. It then decides nothing until the user attaches it again.
    #[serde(default)]
    pub(crate) detached_because: Option<String>,
}

impl Kept {
    /// A plugin to which nothing was granted yet.
    pub(crate) fn new(origin: PluginOrigin, path: PathBuf, component: Component) -> Self {
        Self { origin, path, component, grants: Vec::new(), settings: BTreeMap::new() }
    }
}

impl Registry {
    /// Puts a policy at its place on a model, where it decides from now on; the last place where none is given.
    pub(crate) fn attach(&mut self, plugin: &str, model: &str, position: Option<u32>) {
        let policies = self.policies.entry(model.to_owned()).or_default();
        policies.retain(|attached| attached.plugin != plugin);
        let last = policies.len();
        let at = position.map_or(last, |position| (position as usize).min(last));
        policies.insert(at, Attached { plugin: plugin.to_owned(), detached_because: None });
    }

    /// Takes a policy off a model; says whether it was there.
    pub(crate) fn detach(&mut self, plugin: &str, model: &str) -> bool {
        let Some(policies) = self.policies.get_mut(model) else {
            return false;
        };
        let before = policies.len();
        policies.retain(|attached| attached.plugin != plugin);
        let was_there = policies.len() < before;
        if policies.is_empty() {
            self.policies.remove(model);
        }
        was_there
    }

    /// Notes that the host detached a policy.
    pub(crate) fn detached(&mut self, plugin: &str, model: &str, because: &str) {
        let policies = self.policies.get_mut(model).into_iter().flatten();
        for attached in policies.filter(|attached| attached.plugin == plugin) {
            attached.detached_because = Some(because.to_owned());
        }
    }

    /// The policies that decide for a model, in order.
    pub(crate) fn deciding(&self, model: &str) -> Vec<String> {
        let policies = self.policies.get(model).into_iter().flatten();
        let deciding = policies.filter(|attached| attached.detached_because.is_none());
        deciding.map(|attached| attached.plugin.clone()).collect()
    }

    /// The models that a policy is attached to, with its place and state on each.
    pub(crate) fn models_of(&self, plugin: &str) -> Vec<(String, u32, Attached)> {
        let mut found = Vec::new();
        for (model, policies) in &self.policies {
            let places = policies.iter().zip(0..).filter(|(attached, _)| attached.plugin == plugin);
            found.extend(places.map(|(attached, place)| (model.clone(), place, attached.clone())));
        }
        found
    }

    /// Forgets a plugin; says on which models it was.
    pub(crate) fn forget_plugin(&mut self, id: &str) -> Vec<String> {
        self.plugins.remove(id);
        self.detach_everywhere(id)
    }

    /// Takes a policy off every model; says off which.
    pub(crate) fn detach_everywhere(&mut self, id: &str) -> Vec<String> {
        let models: Vec<String> = self.models_of(id).into_iter().map(|(model, ..)| model).collect();
        for model in &models {
            self.detach(id, model);
        }
        models
    }

    /// Forgets a model: another one that takes its alias later inherits neither its policies nor what was granted on it.
    pub(crate) fn forget_model(&mut self, alias: &str) {
        self.policies.remove(alias);
        for kept in self.plugins.values_mut() {
            for grant in &mut kept.grants {
                grant.models.retain(|model| model != alias);
            }
            kept.grants.retain(|grant| !grant.capability.is_of_models() || !grant.models.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::Capability;

    use super::*;

    fn order(registry: &Registry) -> Vec<String> {
        registry.deciding("m")
    }

    #[test]
    fn policies_stand_in_the_users_order() {
        let mut registry = Registry::default();
        for id in ["a", "b", "c"] {
            registry.attach(id, "m", None);
        }
        assert_eq!(order(&registry), ["a", "b", "c"]);
        registry.attach("c", "m", Some(0));
        assert_eq!(order(&registry), ["c", "a", "b"]);
        registry.attach("c", "m", Some(99));
        assert_eq!(order(&registry), ["a", "b", "c"]);
        assert!(registry.detach("b", "m") && !registry.detach("b", "m"));
        assert_eq!(registry.models_of("c")[0].1, 1);
    }

    #[test]
    fn what_the_host_detached_keeps_its_place_and_comes_back_when_it_is_attached_again() {
        let mut registry = Registry::default();
        registry.attach("a", "m", None);
        registry.attach("b", "m", None);
        registry.detached("a", "m", "it failed");
        assert_eq!(order(&registry), ["b"]);
        let (_, position, attached) = registry.models_of("a").remove(0);
        assert_eq!((position, attached.detached_because.as_deref()), (0, Some("it failed")));
        registry.attach("a", "m", Some(position));
        assert_eq!(order(&registry), ["a", "b"]);
    }

    #[test]
    fn a_model_that_is_removed_leaves_nothing_for_the_next_of_its_name() {
        let manifest = serde_json::from_str(
            r#"{"id": "a", "name": "A", "version": "1.0.0", "description": "d", "author": "me", "licence": "MIT",
            "world": "shrink-policy", "contract": "0.1.0"}"#,
        )
        .unwrap();
        let component = Component { manifest, size_bytes: 1, sha256: String::new() };
        let mut kept = Kept::new(PluginOrigin::Installed, "/p".into(), component);
        let grant = |capability, models: &[&str]| Grant {
            capability,
            models: models.iter().map(|m| (*m).into()).collect(),
            paths: vec![],
        };
        kept.grants = vec![
            grant(Capability::MemoryRead, &["m"]),
            grant(Capability::MemoryControl, &["m", "n"]),
            grant(Capability::Store, &[]),
        ];
        let mut registry = Registry::default();
        registry.plugins.insert("a".into(), kept);
        registry.attach("a", "m", None);
        registry.forget_model("m");
        assert!(registry.policies.is_empty());
        let left: Vec<_> = registry.plugins["a"].grants.iter().map(|grant| grant.capability).collect();
        assert_eq!(left, [Capability::MemoryControl, Capability::Store]);
        let json = serde_json::to_string(&registry).unwrap();
        assert_eq!(serde_json::from_str::<Registry>(&json).unwrap(), registry);
    }
}
