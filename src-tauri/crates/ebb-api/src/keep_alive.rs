//! Models that nobody uses are unloaded; the next request loads them again, with the options that they had.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use ebb_core::{Code, KeepAlive};

use crate::{Host, host::Inner};

/// How often it is looked whose time is up.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long requests asked for their models to be kept, by alias: over what the model was loaded with.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<HashMap<String, KeepAlive>>);

impl Kept {
    fn of(&self, alias: &str) -> Option<KeepAlive> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(alias).copied()
    }

    /// What requests asked for is forgotten with the load that they asked it of.
    pub(crate) fn forget(&self, alias: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(alias);
    }
}

impl Host {
    /// Says how long a model is to be kept from now on, over what it was loaded with; `None`: as before. It holds until the
    /// model is unloaded.
    pub fn keep(&self, alias: &str, keep_alive: Option<KeepAlive>) {
        if let Some(keep_alive) = keep_alive {
            let mut kept = self.inner.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(alias.to_owned(), keep_alive);
        }
    }

    /// When the model will be unloaded if nobody uses it, from now; `None`: it stays.
    pub(crate) fn unloads_in(&self, alias: &str) -> Option<Duration> {
        let model = self.serving(alias)?;
        match self.inner.kept.of(alias).or_else(|| model.keep_alive())? {
            KeepAlive::Forever => None,
            // One that works counts from its end on.
            KeepAlive::For(time) => Some(time.saturating_sub(model.idle_for().unwrap_or_default())),
        }
    }

    fn is_due(&self, alias: &str) -> bool {
        let idle = self.serving(alias).is_some_and(|model| model.idle_for().is_some());
        idle && self.unloads_in(alias).is_some_and(|time| time.is_zero())
    }
}

/// Unloads what is due, for as long as the host lives.
pub(crate) async fn unload_idle(host: Weak<Inner>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(inner) = host.upgrade() else { return };
        let host = Host { inner };
        let aliases: Vec<String> =
            host.inner.supervisor.models().into_iter().map(|(alias, _)| alias).collect();
        for alias in aliases {
            if host.is_due(&alias) {
                unload(&host, &alias).await;
            }
        }
    }
}

async fn unload(host: &Host, alias: &str) {
    let name = alias.to_owned();
    match host.unload_in_turn(alias, move |host| host.is_due(&name)).await {
        Ok(Some(report)) => {
            tracing::info!(model = alias, freed_bytes = report.freed_bytes, "unloaded: nobody used it");
        }
        Ok(None) => {}
        Err(failure) if failure.code == Code::NotLoaded => {}
        Err(failure) => tracing::warn!(model = alias, %failure, "could not be unloaded for being idle"),
    }
}

/// Starts the look-out of a host.
pub(crate) fn watch(host: &Host) {
    tokio::spawn(unload_idle(Arc::downgrade(&host.inner)));
}
