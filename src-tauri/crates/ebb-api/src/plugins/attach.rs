//! Policies on models: attaching, detaching, and composing what decides for a model.

use std::sync::Arc;

use ebb_core::{
    Code, Failure, LoadOptions, PluginWorld, Policy, ShrinkEvery,
    operations::{AttachPlugin, Attachment, DetachPlugin, ModelState, PluginEntry},
};

use super::{Live, grants};
use crate::Host;

impl Host {
    /// Has a policy decide for a model from now on, or moves it among the model's policies. One that the host detached
    /// because it failed begins anew.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] for a plugin that is no policy; [`Code::Forbidden`] where it was not granted
    /// what it asks for on this model; why it cannot be used.
    pub async fn attach_plugin(&self, id: &str, request: AttachPlugin) -> Result<PluginEntry, Failure> {
        let AttachPlugin { model, position, grant } = request;
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        let kept = plugins.kept(id)?;
        let manifest = &kept.component.manifest;
        if manifest.world != PluginWorld::ShrinkPolicy {
            let why = format!("'{id}' is a plugin of the world {}: it decides nothing", manifest.world);
            return Err(Failure::new(Code::Unsupported, why)
                .hint("plugins of the world shrink-policy can be attached")
                .param("plugin"));
        }
        self.added(&model)?;
        if !grant {
            may_decide(id, &model, &grants::missing_on(manifest, &kept.grants, &model))?;
        }
        let live = self.live_plugin(id).await?;
        if grant {
            let all = grants::all_on(manifest, &model);
            plugins
                .change(id, |kept| all.into_iter().for_each(|grant| grants::add(&mut kept.grants, grant)))?;
            live.plugin.set_grants(plugins.kept(id)?.grants);
        }
        let decided = plugins.registry.read(|registry| registry.deciding(&model));
        plugins.registry.update(|registry| {
            registry.attach(id, &model, position);
            Ok(())
        })?;
        if !decided.iter().any(|plugin| plugin == id) {
            plugins.seats.leave(&model, id);
        }
        tracing::info!(plugin = id, model, "attached");
        self.compose_again(&model).await;
        self.plugin(id).await
    }

    /// Takes a policy off a model. What it was granted stays.
    ///
    /// # Errors
    /// [`Code::NotFound`] where the plugin is not there, or not on this model.
    pub async fn detach_plugin(&self, id: &str, request: DetachPlugin) -> Result<PluginEntry, Failure> {
        let DetachPlugin { model } = request;
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        plugins.kept(id)?;
        if !plugins.registry.update(|registry| Ok(registry.detach(id, &model)))? {
            let models = plugins.registry.read(|registry| registry.models_of(id));
            let models: Vec<String> = models.into_iter().map(|(model, ..)| model).collect();
            let hint = if models.is_empty() {
                "it is attached to no model".to_owned()
            } else {
                format!("it is attached to {}", models.join(", "))
            };
            return Err(Failure::new(
                Code::NotFound,
                format!("'{id}' is not attached to '{}'", model.escape_debug()),
            )
            .hint(hint)
            .param("model"));
        }
        plugins.seats.leave(&model, id);
        tracing::info!(plugin = id, model, "detached");
        self.compose_again(&model).await;
        self.plugin(id).await
    }

    /// The policies of a model that is about to be loaded with these options: they begin anew. A plugin that cannot be used
    /// does not keep its model from loading.
    pub(crate) async fn policies_for(&self, alias: &str, options: &LoadOptions) -> Policies {
        let plugins = &self.inner.plugins;
        plugins.seats.begin(alias, native(options));
        let composed_of = plugins.registry.read(|registry| registry.deciding(alias));
        let wanted = self.wanted(&composed_of).await;
        Policies { policies: plugins.seats.compose(alias, &wanted), composed_of }
    }

    /// What the user did to a model's policies while it was being loaded.
    pub(crate) async fn catch_up(&self, alias: &str, composed_of: &[String]) {
        if self.inner.plugins.registry.read(|registry| registry.deciding(alias)) != composed_of {
            self.compose_again(alias).await;
        }
    }

    /// Has the policies decide that the registry names, where the model is in memory.
    pub(super) async fn compose_again(&self, alias: &str) {
        let plugins = &self.inner.plugins;
        let wanted = plugins.registry.read(|registry| registry.deciding(alias));
        let wanted = self.wanted(&wanted).await;
        if let Some(model) = self.inner.supervisor.model(alias) {
            model.set_policies(plugins.seats.compose(alias, &wanted));
        }
    }

    async fn wanted(&self, ids: &[String]) -> Vec<Arc<Live>> {
        let mut wanted = Vec::new();
        for id in ids {
            // Why one cannot be used is logged, and shown with the plugin.
            wanted.extend(self.live_plugin(id).await.ok());
        }
        wanted
    }

    /// Where a plugin is attached, and what it did there.
    pub(super) fn attachments(&self, id: &str) -> Vec<Attachment> {
        let plugins = &self.inner.plugins;
        let models = plugins.registry.read(|registry| registry.models_of(id));
        let attachment = |(model, position, attached): (String, u32, super::registry::Attached)| {
            let did = plugins.seats.did(&model, id);
            let loaded = self.in_memory(&model).0 == ModelState::Loaded;
            Attachment {
                plugin: id.to_owned(),
                position,
                active: loaded && attached.detached_because.is_none() && plugins.seats.is_taken(&model, id),
                model,
                detached_because: attached.detached_because,
                calls: did.calls,
                decisions: did.decisions,
                failures: did.failures,
                call_us: did.call_us,
            }
        };
        models.into_iter().map(attachment).collect()
    }

    /// A model left the catalogue.
    pub(crate) async fn forget_model_in_plugins(&self, alias: &str) -> Result<(), Failure> {
        let plugins = &self.inner.plugins;
        let _changing = plugins.changing.lock().await;
        plugins.registry.update(|registry| {
            registry.forget_model(alias);
            Ok(())
        })?;
        plugins.seats.forget_model(alias);
        let all: Vec<Arc<Live>> = super::held(&plugins.live).values().cloned().collect();
        for live in all {
            if let Ok(kept) = plugins.kept(live.id()) {
                live.plugin.set_grants(kept.grants);
            }
        }
        Ok(())
    }
}

/// The policies of a model that is about to be loaded.
pub(crate) struct Policies {
    pub(crate) policies: Vec<Box<dyn Policy>>,
    /// The plugins that they were to be made of.
    pub(crate) composed_of: Vec<String>,
}

fn native(options: &LoadOptions) -> Option<Box<dyn Policy>> {
    let every = options.shrink_every.filter(|every| *every > 0)?;
    Some(Box::new(ShrinkEvery::new(every)))
}

fn may_decide(id: &str, model: &str, missing: &[ebb_core::Capability]) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = missing.iter().map(|capability| capability.name()).collect();
    let missing = missing.join(" and ");
    Err(Failure::new(Code::Forbidden, format!("'{id}' was not granted {missing} on '{model}'"))
        .hint(format!("attach it with --grant, or grant it first: `ebb plugin info {id}` says what for"))
        .param("grant"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_native_policy_is_there_where_asked_for() {
        let every = |every| native(&LoadOptions { shrink_every: every, ..LoadOptions::default() }).is_some();
        assert_eq!((every(None), every(Some(0)), every(Some(10))), (false, false, true));
    }
}
