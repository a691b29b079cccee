//! What ONNX Runtime offers here, remembered: asking takes a process, and a window asks every second.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ebb_core::{Failure, Probe};
use tokio::time::Instant;

use crate::{
    Host,
    runtimes::{self, Library},
};

/// For so long an answer holds; then it is still given, and asked for anew meanwhile.
const HOLDS_FOR: Duration = Duration::from_secs(300);

/// What failed is tried again sooner: something may have been installed.
const FAILURE_HOLDS_FOR: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) probe: Result<Probe, Failure>,
    /// Libraries that lie in Ebb's folders.
    pub(crate) libraries: Vec<Library>,
    pub(crate) at: Instant,
}

/// The answer that holds.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    found: Mutex<Option<Arc<Found>>>,
    /// Held while it is asked: never twice at once.
    asking: tokio::sync::Mutex<()>,
}

impl Probed {
    fn now(&self) -> Option<Arc<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over an answer.
    pub(crate) fn note(&self, found: Found) -> Arc<Found> {
        let found = Arc::new(found);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
        found
    }
}

impl Found {
    /// For tests: this, found now.
    #[cfg(test)]
    pub(crate) fn of(probe: Probe) -> Self {
        Self { probe: Ok(probe), libraries: Vec::new(), at: Instant::now() }
    }

    fn holds(&self) -> bool {
        let time = if self.probe.is_ok() { HOLDS_FOR } else { FAILURE_HOLDS_FOR };
        self.at.elapsed() < time
    }
}

impl Host {
    /// What ONNX Runtime offers here. Only the first who asks waits for it.
    pub(crate) async fn found(&self) -> Arc<Found> {
        match self.inner.probed.now() {
            Some(found) if found.holds() => found,
            Some(found) => {
                if self.inner.probed.asking.try_lock().is_ok() {
                    let host = self.clone();
                    tokio::spawn(async move { host.find().await });
                }
                found
            }
            None => self.find().await,
        }
    }

    /// As [`found`](Self::found), where that was asked before: it waits for nobody.
    pub(crate) fn found_before(&self) -> Option<Arc<Found>> {
        self.inner.probed.now()
    }

    /// Asks the worker program, whatever is remembered.
    pub(crate) async fn find_anew(&self) -> Arc<Found> {
        let folders = self.inner.places.runtime_folders();
        let library = self.inner.settings.runtime_library.as_deref();
        let probe = self.inner.supervisor.probe(library, &folders).await;
        let looking = tokio::task::spawn_blocking(move || runtimes::libraries(&folders));
        let libraries = looking.await.unwrap_or_default();
        self.inner.probed.note(Found { probe, libraries, at: Instant::now() })
    }

    async fn find(&self) -> Arc<Found> {
        let _asking = self.inner.probed.asking.lock().await;
        match self.inner.probed.now() {
            Some(found) if found.holds() => found,
            _ => self.find_anew().await,
        }
    }
}
