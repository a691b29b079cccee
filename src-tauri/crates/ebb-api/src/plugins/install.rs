//! Installing and removing.

use std::{fs, io, path::PathBuf, time::Duration};

use ebb_core::{
    Code, Failure,
    operations::{InstallPlugin, PluginEntry, PluginOrigin},
};

use super::{
    held,
    live::Prepared,
    registry::{Component, Kept},
    source::{self, Read},
};
use crate::{Host, atomic};

/// A plugin that is removed while it runs is given so long to let go of its files.
const CALLS_END_WITHIN: Duration = Duration::from_secs(5);

/// An installed component, in its plugin's folder.
const COMPONENT: &str = "plugin.wasm";

impl Host {
    /// Installs a plugin: a file is checked, compiled and copied; a folder under development is used where it lies, and read
    /// again whenever its component changes. It is granted nothing yet.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::Storage`]; [`Code::Conflict`] where there is a plugin of this id and it is not to be replaced;
    /// what is wrong with the component or its manifest.
    pub async fn install_plugin(&self, request: InstallPlugin) -> Result<PluginEntry, Failure> {
        let InstallPlugin { path, replace } = request;
        if !path.is_absolute() {
            // The host's current folder is not the caller's.
            let why = format!("{} is not an absolute path", path.display());
            return Err(Failure::new(Code::InvalidRequest, why).hint("give the whole path").param("path"));
        }
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let read = {
            let (host, path) = (self.clone(), path.clone());
            move || {
                let read = source::read(&path)?;
                // Before it is compiled, which may take seconds.
                host.check_free(&read.component, replace)?;
                Ok(read)
            }
        };
        let prepared = self.prepare(read).await?;
        let id = prepared.read.component.manifest.id.clone();
        self.install(&id, path, prepared).await?;
        tracing::info!(plugin = id, "installed");
        self.plugin(&id).await
    }

    /// Removes a plugin with all that it kept: it is taken off every model, and its calls end.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Conflict`] for a plugin that ships with Ebb; [`Code::Storage`] where its folder cannot be removed.
    pub async fn remove_plugin(&self, id: &str) -> Result<PluginEntry, Failure> {
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let entry = self.plugin(id).await?;
        if entry.origin == PluginOrigin::Bundled {
            return Err(Failure::new(Code::Conflict, format!("'{id}' ships with Ebb and cannot be removed"))
                .hint(format!(
                    "detach it from its models, or revoke what it was granted: `ebb plugin revoke {id}`"
                ))
                .param("plugin"));
        }
        let models = plugins.registry.update(|registry| Ok(registry.forget_plugin(id)))?;
        held(&plugins.live).remove(id);
        plugins.note_broken(id, None);
        for model in models {
            plugins.seats.leave(&model, id);
            self.compose_again(&model).await;
        }
        plugins.calls.end(Some(id));
        if tokio::time::timeout(CALLS_END_WITHIN, plugins.calls.ended(id)).await.is_err() {
            tracing::warn!(plugin = id, "calls of a plugin that is removed do not end");
        }
        let folder = plugins.folder_of(id);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(atomic::refused("remove", &folder, &error));
            }
            _ => {}
        }
        tracing::info!(plugin = id, "removed");
        Ok(entry)
    }

    /// Refuses a plugin whose id is taken, unless it is to take it over.
    fn check_free(&self, component: &Component, replace: bool) -> Result<(), Failure> {
        let id = &component.manifest.id;
        let Ok(kept) = self.inner.plugins.kept(id) else {
            return Ok(());
        };
        if replace {
            return Ok(());
        }
        let (name, version) = (&kept.component.manifest.name, &kept.component.manifest.version);
        let ships = if kept.origin == PluginOrigin::Bundled { ", which ships with Ebb" } else { "" };
        let why = format!("there is a plugin '{id}' already: {name} {version}{ships}");
        Err(Failure::new(Code::Conflict, why)
            .hint("replace it with --replace, or give yours another id in plugin.toml")
            .param("id"))
    }

    async fn install(&self, id: &str, path: PathBuf, prepared: Prepared) -> Result<(), Failure> {
        let plugins = &self.inner.plugins;
        let Prepared { read: Read { bytes, component, .. }, compiled } = prepared;
        let (origin, path) = if path.is_dir() {
            (PluginOrigin::Development, path)
        } else {
            let file = plugins.folder_of(id).join(COMPONENT);
            atomic::write(&file, &bytes)?;
            (PluginOrigin::Installed, file)
        };
        drop(bytes);
        let mut kept = Kept::new(origin, path, component.clone());
        let former = plugins.kept(id).ok();
        let other_world =
            former.as_ref().is_some_and(|former| former.component.manifest.world != component.manifest.world);
        if let Some(former) = former {
            (kept.grants, kept.settings) = (former.grants, former.settings);
            kept.renew(component);
        }
        plugins.registry.update(|registry| {
            registry.plugins.insert(id.to_owned(), kept);
            if other_world {
                registry.detach_everywhere(id);
            }
            Ok(())
        })?;
        let live = self.enliven(id, compiled);
        plugins.note_broken(id, live.as_ref().err());
        live?;
        self.compose_again_where(id).await;
        Ok(())
    }

    /// Has the policies of all models that a plugin decides for composed again: it has changed.
    pub(super) async fn compose_again_where(&self, id: &str) {
        let decides: Vec<String> =
            self.inner.supervisor.models().into_iter().map(|(model, _)| model).collect();
        for model in decides {
            let wanted = self.inner.plugins.registry.read(|registry| registry.deciding(&model));
            if wanted.iter().any(|plugin| plugin == id) || self.inner.plugins.seats.is_taken(&model, id) {
                self.compose_again(&model).await;
            }
        }
    }
}
