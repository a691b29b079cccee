//! Plugins under development are read again whenever they were built anew.

use std::{path::PathBuf, sync::Weak, time::Duration};

use ebb_core::{Failure, operations::PluginOrigin};
use tokio::time::sleep;

use super::{
    held,
    source::{self, Stamp},
};
use crate::{Host, host::Inner};

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks out for plugins that were built anew, for as long as the host lives.
pub(super) async fn watch(host: Weak<Inner>) {
    loop {
        sleep(LOOK_EVERY).await;
        let Some(inner) = host.upgrade() else { return };
        let host = Host { inner };
        for (id, stamp) in host.in_development().await {
            let read = held(&host.inner.plugins.read).insert(id.clone(), stamp);
            // One that was not read yet is read when it is needed.
            if read.is_some_and(|read| read != stamp) {
                host.renew(&id).await;
            }
        }
    }
}

impl Host {
    /// The plugins under development that were read before, and what their files are now.
    async fn in_development(&self) -> Vec<(String, Stamp)> {
        let read = held(&self.inner.plugins.read).clone();
        let folders: Vec<(String, PathBuf)> = self.inner.plugins.registry.read(|registry| {
            let developed = registry
                .plugins
                .iter()
                .filter(|(id, kept)| kept.origin == PluginOrigin::Development && read.contains_key(*id));
            developed.map(|(id, kept)| (id.clone(), kept.path.clone())).collect()
        });
        if folders.is_empty() {
            return Vec::new();
        }
        let stamped = tokio::task::spawn_blocking(move || {
            let stamped = folders.into_iter().map(|(id, folder)| {
                let stamp = source::stamp(&folder, &id);
                (id, stamp)
            });
            stamped.collect()
        });
        stamped.await.unwrap_or_default()
    }

    /// Takes the new version of a plugin, if it is one: policies begin anew on their models, calls of pipelines that go on end
    /// with the version that they began with. Where it is none, the version before goes on.
    async fn renew(&self, id: &str) {
        let renewed = self.renewed(id).await;
        self.inner.plugins.note_broken(id, renewed.as_ref().err());
        match renewed {
            Ok(()) => tracing::info!(plugin = id, "read again"),
            Err(failure) => {
                tracing::warn!(plugin = id, %failure, "what was built is not used");
            }
        }
    }

    async fn renewed(&self, id: &str) -> Result<(), Failure> {
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let kept = plugins.kept(id)?;
        let path = kept.path.clone();
        let prepared = self.prepare(move || source::read(&path)).await?;
        prepared.read.component.check_same(&kept.component)?;
        plugins.change(id, |kept| kept.renew(prepared.read.component.clone()))?;
        self.enliven(id, prepared.compiled)?;
        self.compose_again_where(id).await;
        Ok(())
    }
}
