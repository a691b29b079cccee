//! What is told of a plugin.

use ebb_core::{
    Capability, Failure,
    operations::{CapabilityState, PluginEntry, PluginList, PluginSettings},
};
use ebb_plugins::{Limits, Usage};

use super::{Live, held, registry::Kept};
use crate::Host;

impl Host {
    /// Every plugin, by id: those that ship with Ebb and those that the user installed.
    ///
    /// # Errors
    /// None today.
    pub async fn plugins(&self) -> Result<PluginList, Failure> {
        let ids = self.inner.plugins.ids();
        // One that is removed meanwhile is not told of.
        Ok(PluginList { plugins: ids.iter().filter_map(|id| self.plugin_entry(id).ok()).collect() })
    }

    /// One plugin.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`].
    pub async fn plugin(&self, id: &str) -> Result<PluginEntry, Failure> {
        self.plugin_entry(id)
    }

    /// Changes settings of a plugin; those that are not named stay. It holds from the next call on.
    ///
    /// # Errors
    /// [`ebb_core::Code::NotFound`]; [`ebb_core::Code::InvalidValue`] for a setting that the plugin does not have, or a value that
    /// does not fit.
    pub async fn set_plugin_settings(
        &self,
        id: &str,
        request: PluginSettings,
    ) -> Result<PluginEntry, Failure> {
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let Kept { component, mut settings, .. } = plugins.kept(id)?;
        for (name, value) in request.settings {
            if value.0.is_null() {
                ebb_plugins::check_setting(&component.manifest, &name, None)?;
                settings.remove(&name);
            } else {
                ebb_plugins::check_setting(&component.manifest, &name, Some(&value))?;
                settings.insert(name, value);
            }
        }
        plugins.change(id, |kept| kept.settings = settings.clone())?;
        if let Some(live) = plugins.live_now(id) {
            live.plugin.set_settings(settings)?;
        }
        self.plugin_entry(id)
    }

    fn plugin_entry(&self, id: &str) -> Result<PluginEntry, Failure> {
        let plugins = &self.inner.plugins;
        let kept = plugins.kept(id)?;
        let live = plugins.live_now(id);
        let usage = live.as_ref().map(|live| live.plugin.usage()).unwrap_or_default();
        let manifest = kept.component.manifest.clone();
        Ok(PluginEntry {
            capabilities: Capability::ALL
                .into_iter()
                .filter_map(|one| capability(one, &kept, &usage))
                .collect(),
            attachments: self.attachments(id),
            settings: ebb_plugins::settings_that_hold(&manifest, &kept.settings),
            limits: Limits::of(&manifest).told(),
            store_bytes: plugins.store_bytes(id, live.as_deref()),
            memory_bytes: live.as_ref().map_or(0, |live| live.plugin.memory_bytes()),
            cpu_us: live.as_ref().map_or(0, |live| live.plugin.cpu_us()),
            compiling_percent: held(&plugins.compiling).get(id).copied(),
            broken: held(&plugins.broken).get(id).cloned().or_else(|| missing(&kept)),
            origin: kept.origin,
            path: kept.path,
            size_bytes: kept.component.size_bytes,
            sha256: kept.component.sha256,
            manifest,
        })
    }
}

impl super::Plugins {
    /// What a plugin's store takes on disk, also where it is not open.
    fn store_bytes(&self, id: &str, live: Option<&Live>) -> u64 {
        if let Some(live) = live {
            return live.plugin.store_bytes();
        }
        std::fs::metadata(self.folder_of(id).join("store.sqlite")).map_or(0, |metadata| metadata.len())
    }
}

/// A capability that a plugin asks for, was granted, or tried to use.
fn capability(capability: Capability, kept: &Kept, usage: &[Usage]) -> Option<CapabilityState> {
    let asked = kept.component.manifest.capabilities.iter().find(|asked| asked.capability == capability);
    let granted = kept.grants.iter().find(|grant| grant.capability == capability).cloned();
    let used = usage.iter().find(|used| used.capability == capability).filter(|used| used.calls > 0);
    if asked.is_none() && granted.is_none() && used.is_none() {
        return None;
    }
    Some(CapabilityState {
        capability,
        asked: asked.map(|asked| asked.reason.clone()),
        meaning: capability.meaning().to_owned(),
        granted,
        calls: used.map_or(0, |used| used.calls),
        refused: used.map_or(0, |used| used.refused),
        last_used_at_ms: used.and_then(|used| used.last_used_at_ms),
    })
}

/// Why a plugin that was not tried yet cannot be used: its files are gone.
fn missing(kept: &Kept) -> Option<String> {
    (!kept.path.exists()).then(|| format!("{} is gone", kept.path.display()))
}
