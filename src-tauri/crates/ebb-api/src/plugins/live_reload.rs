//! Plugins under development are read again whenever they were built anew.

use std::{collections::BTreeMap, path::PathBuf, sync::Weak, time::Duration};

use ebb_core::{Failure, operations::PluginOrigin};
use tokio::time::sleep;

use super::source::{self, Stamp};
use crate::{Host, host::Inner};

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks out for plugins that were built anew, for as long as the host lives.
pub(super) async fn watch(host: Weak<Inner>) {
    let mut seen: BTreeMap<String, (PathBuf, Stamp)> = BTreeMap::new();
    loop {
        sleep(LOOK_EVERY).await;
        let Some(inner) = host.upgrade() else { return };
        let host = Host { inner };
        let now = host.in_development().await;
        for (id, at) in &now {
            // One that was just installed was just read.
            if seen.get(id).is_some_and(|before| before.0 == at.0 && before.1 != at.1) {
                host.renew(id).await;
            }
        }
        seen = now;
    }
}

impl Host {
    /// The plugins under development, with their folders and when those changed.
    async fn in_development(&self) -> BTreeMap<String, (PathBuf, Stamp)> {
        let folders: Vec<(String, PathBuf)> = self.inner.plugins.registry.read(|registry| {
            let developed =
                registry.plugins.iter().filter(|(_, kept)| kept.origin == PluginOrigin::Development);
            developed.map(|(id, kept)| (id.clone(), kept.path.clone())).collect()
        });
        if folders.is_empty() {
            return BTreeMap::new();
        }
        let stamped = tokio::task::spawn_blocking(move || {
            let stamped = folders.into_iter().map(|(id, folder)| {
                let stamp = source::stamp(&folder, &id);
                (id, (folder, stamp))
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
        prepared.component.check_same(&kept.component)?;
        plugins.change(id, |kept| kept.renew(prepared.component.clone()))?;
        self.enliven(id, prepared.compiled)?;
        self.compose_again_where(id).await;
        Ok(())
    }
}
