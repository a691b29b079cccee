//! What the plugins hear of models: a policy that failed too often, a model that a policy unloaded.

use std::sync::Weak;

use ebb_core::{Event, EventKind};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::{Host, host::Inner};

/// Hears what happens to models, for as long as the host lives.
pub(super) async fn hear(host: Weak<Inner>, mut events: broadcast::Receiver<Event>) {
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "events were missed: policies that failed may be shown as attached");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        let Some(inner) = host.upgrade() else { return };
        let host = Host { inner };
        match event.kind {
            EventKind::Detached { policy, reason: Some(reason) } => {
                host.note_detached(&policy, &event.model, &reason)
            }
            // In a task: it waits for its turn.
            EventKind::Unloaded { .. } => drop(tokio::spawn(host.note_unloaded(event.model))),
            _ => {}
        }
    }
}

impl Host {
    /// A policy failed too often: it stays off the model until the user attaches it again.
    fn note_detached(&self, policy: &str, model: &str, reason: &str) {
        let plugins = &self.inner.plugins;
        let noted = plugins.registry.update(|registry| {
            registry.detached(policy, model, reason);
            Ok(())
        });
        if let Err(failure) = noted {
            tracing::warn!(plugin = policy, model, %failure, "after a restart it will be attached again");
        }
        plugins.seats.retire(model, policy);
    }

    /// A model is gone from memory. One that a policy unloaded is loaded again by the next request for it, and not by a
    /// restart: that would undo what the policy did.
    async fn note_unloaded(self, alias: String) {
        let turn = self.turn(&alias);
        let _turn = turn.take().await;
        if self.is_in_memory(&alias) {
            return;
        }
        // A host that ends unloads its models, to load them again when it comes back.
        if self.check_open().is_ok() && self.inner.supervisor.unloaded_by_policy(&alias) {
            self.inner.kept.forget(&alias);
            if let Err(failure) = self.inner.state.set_unloaded(&alias) {
                tracing::warn!(model = alias, %failure, "a restart will load it again");
            }
        }
        self.inner.plugins.seats.end(&alias);
    }
}
