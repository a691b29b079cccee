//! What the user grants to a plugin, and takes back.

use std::path::{Path, PathBuf};

use ebb_core::{
    Capability, Code, Failure, PluginManifest,
    operations::{Grant, Grants, PluginEntry},
};

use crate::Host;

/// Every model, also those added later.
const EVERY_MODEL: &str = "*";

impl Host {
    /// Grants a plugin something, besides what was granted before. It holds at once, also for calls that go on.
    ///
    /// # Errors
    /// [`Code::NotFound`] for the plugin, a model or a path; [`Code::InvalidRequest`] for what the plugin does not ask for, what
    /// plugins of its world cannot have, or a grant that does not say on what.
    pub async fn grant_plugin(&self, id: &str, grants: Grants) -> Result<PluginEntry, Failure> {
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let kept = plugins.kept(id)?;
        let checked = self.checked(&kept.component.manifest, grants)?;
        plugins.change(id, |kept| checked.into_iter().for_each(|grant| add(&mut kept.grants, grant)))?;
        self.hand_grants_on(id).await
    }

    /// Takes back what a plugin was granted. It holds at once, also for calls that go on.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::InvalidRequest`] where a model is named and the grant is on every model.
    pub async fn revoke_plugin(&self, id: &str, grants: Grants) -> Result<PluginEntry, Failure> {
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let mut left = plugins.kept(id)?.grants;
        for taken in &grants.grants {
            remove(&mut left, taken)?;
        }
        plugins.change(id, |kept| kept.grants = left)?;
        self.hand_grants_on(id).await
    }

    async fn hand_grants_on(&self, id: &str) -> Result<PluginEntry, Failure> {
        let grants = self.inner.plugins.kept(id)?.grants;
        let told: Vec<String> = grants.iter().map(|grant| grant.capability.to_string()).collect();
        tracing::info!(plugin = id, granted = told.join(" "), "grants changed");
        if let Some(live) = self.inner.plugins.live_now(id) {
            live.plugin.set_grants(grants);
        }
        self.plugin(id).await
    }

    /// The grants as they are kept: each of something that the plugin asks for, on models and paths that exist.
    fn checked(&self, manifest: &PluginManifest, grants: Grants) -> Result<Vec<Grant>, Failure> {
        let check = |grant: Grant| {
            let Grant { capability, models, paths } = grant;
            can_have(manifest, capability)?;
            let models = self.checked_models(capability, models)?;
            let paths = checked_paths(capability, paths)?;
            Ok(Grant { capability, models, paths })
        };
        grants.grants.into_iter().map(check).collect()
    }

    fn checked_models(&self, capability: Capability, models: Vec<String>) -> Result<Vec<String>, Failure> {
        if !capability.is_of_models() {
            return if models.is_empty() { Ok(models) } else { Err(not_of(capability, "models")) };
        }
        if models.is_empty() {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("{capability} is granted model by model"),
            )
            .hint("name the models, or '*' for all of them, also those added later")
            .param("models"));
        }
        if models.iter().any(|model| model == EVERY_MODEL) {
            return Ok(vec![EVERY_MODEL.to_owned()]);
        }
        for model in &models {
            self.added(model)?;
        }
        Ok(models)
    }
}

/// Everything that a plugin asks for of a model, on that model alone.
pub(super) fn all_on(manifest: &PluginManifest, model: &str) -> Vec<Grant> {
    asked_of_models(manifest)
        .map(|capability| Grant { capability, models: vec![model.to_owned()], paths: Vec::new() })
        .collect()
}

/// What a plugin asks for of a model and was not granted on it.
pub(super) fn missing_on(manifest: &PluginManifest, grants: &[Grant], model: &str) -> Vec<Capability> {
    let is_granted = |capability: Capability| {
        grants.iter().any(|grant| {
            grant.capability == capability
                && grant.models.iter().any(|granted| granted == model || granted == EVERY_MODEL)
        })
    };
    asked_of_models(manifest).filter(|capability| !is_granted(*capability)).collect()
}

fn asked_of_models(manifest: &PluginManifest) -> impl Iterator<Item = Capability> {
    let asked = manifest.capabilities.iter().map(|asked| asked.capability);
    asked.filter(|capability| capability.is_of_models() && manifest.world.capabilities().contains(capability))
}

/// The grants that hold for another version of a plugin: those of what it still asks for.
pub(super) fn still_asked(grants: Vec<Grant>, manifest: &PluginManifest) -> Vec<Grant> {
    grants.into_iter().filter(|grant| can_have(manifest, grant.capability).is_ok()).collect()
}

/// Adds a grant to those that hold.
pub(super) fn add(grants: &mut Vec<Grant>, new: Grant) {
    let Some(held) = grants.iter_mut().find(|grant| grant.capability == new.capability) else {
        grants.push(new);
        return grants.sort_by_key(|grant| grant.capability);
    };
    held.models.extend(new.models);
    held.paths.extend(new.paths);
    if held.models.iter().any(|model| model == EVERY_MODEL) {
        held.models = vec![EVERY_MODEL.to_owned()];
    }
    held.models.sort();
    held.models.dedup();
    held.paths.sort();
    held.paths.dedup();
}

/// Takes a grant off those that hold: the models and paths that it names, or all of it where it names none.
fn remove(grants: &mut Vec<Grant>, taken: &Grant) -> Result<(), Failure> {
    let Some(at) = grants.iter().position(|grant| grant.capability == taken.capability) else {
        return Ok(());
    };
    if taken.models.is_empty() && taken.paths.is_empty() {
        grants.remove(at);
        return Ok(());
    }
    let held = &mut grants[at];
    let on_every = held.models.iter().any(|model| model == EVERY_MODEL);
    if on_every && taken.models.iter().any(|model| model != EVERY_MODEL) {
        let capability = taken.capability;
        return Err(Failure::new(Code::InvalidRequest, format!("{capability} is granted on every model"))
            .hint("take it back as a whole, then grant it on the models that it is to be kept on")
            .param("models"));
    }
    // A path that is gone cannot be resolved any more: it is taken as it was named.
    let paths: Vec<PathBuf> =
        taken.paths.iter().map(|path| resolved(path).unwrap_or_else(|_| path.clone())).collect();
    held.models.retain(|model| !taken.models.contains(model));
    held.paths.retain(|path| !paths.contains(path) && !taken.paths.contains(path));
    if held.models.is_empty() && held.paths.is_empty() {
        grants.remove(at);
    }
    Ok(())
}

/// Refuses what a plugin does not ask for, or cannot have.
fn can_have(manifest: &PluginManifest, capability: Capability) -> Result<(), Failure> {
    let (id, world) = (&manifest.id, manifest.world);
    let refused = |why: String| Failure::new(Code::InvalidRequest, why).param("capability");
    if !world.capabilities().contains(&capability) {
        let can: Vec<_> = world.capabilities().iter().map(|can| can.name()).collect();
        let why = format!("a plugin of the world {world}, as '{id}' is, cannot be granted {capability}");
        return Err(refused(why).hint(format!("it can be granted {}", can.join(", "))));
    }
    if manifest.capabilities.iter().any(|asked| asked.capability == capability) {
        return Ok(());
    }
    let asked: Vec<_> = manifest.capabilities.iter().map(|asked| asked.capability.name()).collect();
    let asks = if asked.is_empty() { "nothing".to_owned() } else { asked.join(", ") };
    Err(refused(format!("'{id}' does not ask for {capability}")).hint(format!("it asks for {asks}")))
}

fn checked_paths(capability: Capability, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    if capability != Capability::Documents {
        return if paths.is_empty() { Ok(paths) } else { Err(not_of(capability, "paths")) };
    }
    if paths.is_empty() {
        return Err(Failure::new(
            Code::InvalidRequest,
            "documents are granted file by file and folder by folder",
        )
        .hint("name the files and folders that it may read")
        .param("paths"));
    }
    paths.iter().map(|path| resolved(path)).collect()
}

/// The path itself, links on the way followed: what is granted stays what it was when it was granted.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_absolute() {
        // The host's current folder is not the caller's.
        let why = format!("{} is not an absolute path", path.display());
        return Err(Failure::new(Code::InvalidRequest, why).hint("give the whole path").param("paths"));
    }
    std::fs::canonicalize(path).map_err(|error| {
        Failure::new(Code::NotFound, format!("{} cannot be granted: {error}", path.display()))
            .hint("see that the file or folder is there and can be read")
            .param("paths")
    })
}

fn not_of(capability: Capability, what: &str) -> Failure {
    Failure::new(Code::InvalidRequest, format!("{capability} is not granted on {what}"))
        .hint(format!("leave {what} out"))
        .param(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(capability: Capability, models: &[&str]) -> Grant {
        Grant {
            capability,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            paths: Vec::new(),
        }
    }

    fn models(grants: &[Grant]) -> Vec<Vec<&str>> {
        grants.iter().map(|grant| grant.models.iter().map(String::as_str).collect()).collect()
    }

    #[test]
    fn grants_add_up_and_are_taken_back_one_by_one() {
        let mut grants = Vec::new();
        add(&mut grants, grant(Capability::MemoryControl, &["b"]));
        add(&mut grants, grant(Capability::MemoryRead, &["a"]));
        add(&mut grants, grant(Capability::MemoryControl, &["a", "b"]));
        assert_eq!(models(&grants), [vec!["a"], vec!["a", "b"]]);
        remove(&mut grants, &grant(Capability::MemoryControl, &["b"])).unwrap();
        assert_eq!(models(&grants), [["a"], ["a"]]);
        remove(&mut grants, &grant(Capability::MemoryControl, &["a"])).unwrap();
        assert_eq!(grants, [grant(Capability::MemoryRead, &["a"])]);
        remove(&mut grants, &grant(Capability::Store, &[])).unwrap();
        remove(&mut grants, &grant(Capability::MemoryRead, &[])).unwrap();
        assert!(grants.is_empty());
    }

    #[test]
    fn every_model_takes_in_the_others_and_is_taken_back_as_a_whole() {
        let mut grants = vec![grant(Capability::MemoryRead, &["a"])];
        add(&mut grants, grant(Capability::MemoryRead, &["*"]));
        assert_eq!(models(&grants), [["*"]]);
        let refused = remove(&mut grants, &grant(Capability::MemoryRead, &["a"])).unwrap_err();
        assert!(refused.message.contains("memory.read") && refused.hint.is_some(), "{refused}");
        remove(&mut grants, &grant(Capability::MemoryRead, &["*"])).unwrap();
        assert!(grants.is_empty());
    }

    #[test]
    fn only_what_is_asked_for_can_be_granted() {
        let manifest: PluginManifest = serde_json::from_str(
            r#"{"id": "p", "name": "P", "version": "1.0.0", "description": "d", "author": "me", "licence": "MIT",
            "world": "shrink-policy", "contract": "0.1.0",
            "capabilities": [{"capability": "memory.control", "reason": "to shrink"}]}"#,
        )
        .unwrap();
        can_have(&manifest, Capability::MemoryControl).unwrap();
        let said = |capability| can_have(&manifest, capability).unwrap_err();
        assert_eq!(said(Capability::MemoryRead).message, "'p' does not ask for memory.read");
        assert_eq!(said(Capability::MemoryRead).hint.unwrap(), "it asks for memory.control");
        assert!(said(Capability::Documents).message.contains("cannot be granted documents"));
        assert_eq!(missing_on(&manifest, &[], "m"), [Capability::MemoryControl]);
        assert!(missing_on(&manifest, &[grant(Capability::MemoryControl, &["*"])], "m").is_empty());
        assert_eq!(all_on(&manifest, "m"), [grant(Capability::MemoryControl, &["m"])]);
        let held = vec![grant(Capability::MemoryControl, &["m"]), grant(Capability::MemoryRead, &["m"])];
        assert_eq!(still_asked(held, &manifest), [grant(Capability::MemoryControl, &["m"])]);
    }

    #[test]
    fn documents_are_real_paths_in_full() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let paths = |path: &Path| checked_paths(Capability::Documents, vec![path.to_owned()]);
        assert_eq!(paths(&folder.path().join(".")).unwrap(), std::slice::from_ref(&real));
        assert_eq!(paths(Path::new("docs")).unwrap_err().code, Code::InvalidRequest);
        assert_eq!(paths(&folder.path().join("none")).unwrap_err().code, Code::NotFound);
        assert_eq!(checked_paths(Capability::Documents, Vec::new()).unwrap_err().code, Code::InvalidRequest);
        assert_eq!(
            checked_paths(Capability::Store, vec![real.clone()]).unwrap_err().code,
            Code::InvalidRequest
        );
        let mut grants =
            vec![Grant { paths: vec![real, "/gone".into()], ..grant(Capability::Documents, &[]) }];
        remove(
            &mut grants,
            &Grant { paths: vec![folder.path().into()], ..grant(Capability::Documents, &[]) },
        )
        .unwrap();
        assert_eq!(grants[0].paths, [Path::new("/gone")]);
        remove(&mut grants, &Grant { paths: vec!["/gone".into()], ..grant(Capability::Documents, &[]) })
            .unwrap();
        assert!(grants.is_empty());
    }
}
