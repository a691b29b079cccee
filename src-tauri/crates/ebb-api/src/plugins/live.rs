//! Plugins that were compiled and can be called.

use std::sync::Arc;

use ebb_core::{Code, Failure, operations::PluginOrigin};
use ebb_plugins::{Compiled, Plugin, PluginConfig, PluginVersion, Sandbox, SandboxConfig};

use super::{
    grants, held,
    models::HostModels,
    registry::{Component, Kept},
    source::{self, Read},
};
use crate::{Host, host::failed_task};

/// A version of a plugin that can be called.
pub(crate) struct Live {
    id: String,
    pub(super) plugin: Plugin,
}

impl Live {
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

/// A plugin's bytes, checked and compiled.
pub(super) struct Prepared {
    pub(super) read: Read,
    pub(super) compiled: Compiled,
}

/// Shows how far a compilation is, for as long as it goes on.
struct Compiling<'a> {
    host: &'a Host,
    id: &'a str,
}

impl Compiling<'_> {
    fn is_at(&self, percent: u32) {
        held(&self.host.inner.plugins.compiling).insert(self.id.to_owned(), percent);
    }
}

impl Drop for Compiling<'_> {
    fn drop(&mut self) {
        held(&self.host.inner.plugins.compiling).remove(self.id);
    }
}

impl Host {
    /// The plugin, compiled first where it is not yet.
    pub(super) async fn live_plugin(&self, id: &str) -> Result<Arc<Live>, Failure> {
        let plugins = &self.inner.plugins;
        if let Some(live) = plugins.live_now(id) {
            return Ok(live);
        }
        let _preparing = plugins.preparing.lock().await;
        if let Some(live) = plugins.live_now(id) {
            return Ok(live);
        }
        let kept = plugins.kept(id)?;
        let live = self.revived(id, kept).await;
        plugins.note_broken(id, live.as_ref().err());
        live.inspect_err(|failure| tracing::error!(plugin = id, %failure, "the plugin cannot be used"))
    }

    async fn revived(&self, id: &str, kept: Kept) -> Result<Arc<Live>, Failure> {
        let path = kept.path.clone();
        let prepared = self.prepare(move || source::read(&path)).await?;
        prepared.read.component.check_same(&kept.component)?;
        let sha256 = &prepared.read.component.sha256;
        if kept.origin == PluginOrigin::Installed && *sha256 != kept.component.sha256 {
            // What was granted was granted to what was installed.
            let why = format!("the file of '{id}' is not the one that was installed");
            return Err(Failure::new(Code::Conflict, why)
                .hint("install it again: `ebb plugin install FILE --replace`")
                .param("plugin"));
        }
        if kept.origin == PluginOrigin::Development && *sha256 != kept.component.sha256 {
            self.inner.plugins.change(id, |kept| kept.renew(prepared.read.component.clone()))?;
        }
        self.enliven(id, prepared.compiled)
    }

    /// Reads a plugin with `read`, checks it and compiles it, or takes what was compiled before from the disk.
    pub(super) async fn prepare(
        &self,
        read: impl FnOnce() -> Result<Read, Failure> + Send + 'static,
    ) -> Result<Prepared, Failure> {
        let host = self.clone();
        let preparing = tokio::task::spawn_blocking(move || {
            let read = read()?;
            let id = read.component.manifest.id.clone();
            if let Some(stamp) = read.stamp {
                held(&host.inner.plugins.read).insert(id.clone(), stamp);
            }
            let mut told = 0.0;
            let compiling = Compiling { host: &host, id: &id };
            let compiled = host.sandbox()?.compile(&read.bytes, &mut |done| {
                compiling.is_at((done * 100.0) as u32);
                // A line for each tenth: nothing for what takes no time.
                if done - told >= 0.1 {
                    told = done;
                    tracing::info!(plugin = id, percent = (done * 100.0) as u32, "compiling");
                }
            })?;
            Ok(Prepared { read, compiled })
        });
        preparing.await.map_err(failed_task)?
    }

    /// Makes a plugin of what was compiled, with what is kept of it; it takes the place of the version before, whose log, store
    /// and figures go on.
    pub(super) fn enliven(&self, id: &str, compiled: Compiled) -> Result<Arc<Live>, Failure> {
        let plugins = &self.inner.plugins;
        let Kept { component: Component { manifest, .. }, grants, settings, .. } = plugins.kept(id)?;
        let plugin = match plugins.live_now(id) {
            Some(former) => former.plugin.renewed(compiled, PluginVersion { manifest, grants, settings }),
            None => {
                let data_folder = plugins.folder_of(id);
                let config = PluginConfig { manifest, data_folder, grants, settings };
                Plugin::new(self.sandbox()?, compiled, config)?
            }
        };
        let live = Arc::new(Live { id: id.to_owned(), plugin });
        held(&plugins.live).insert(id.to_owned(), Arc::clone(&live));
        Ok(live)
    }

    fn sandbox(&self) -> Result<&Sandbox, Failure> {
        let plugins = &self.inner.plugins;
        if let Some(sandbox) = plugins.sandbox.get() {
            return Ok(sandbox);
        }
        let config = SandboxConfig { compiled_folder: plugins.compiled_folder.clone() };
        let sandbox = Sandbox::new(config, Arc::new(HostModels(Arc::downgrade(&self.inner))))?;
        // Of two that come first at once one stays.
        Ok(plugins.sandbox.get_or_init(|| sandbox))
    }
}

impl Component {
    /// Refuses what is not another version of a plugin, but another plugin.
    pub(super) fn check_same(&self, former: &Self) -> Result<(), Failure> {
        let (was, is) = (&former.manifest, &self.manifest);
        if is.id == was.id && is.world == was.world {
            return Ok(());
        }
        let why =
            format!("'{}' of the world {} is now '{}' of the world {}", was.id, was.world, is.id, is.world);
        Err(Failure::new(Code::Conflict, why).hint("install it anew: `ebb plugin install`").param("plugin"))
    }
}

impl Kept {
    /// Another version of the plugin: its grants stay as far as it asks for them too, its settings as they are.
    pub(super) fn renew(&mut self, component: Component) {
        self.grants = grants::still_asked(std::mem::take(&mut self.grants), &component.manifest);
        self.component = component;
    }
}
