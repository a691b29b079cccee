//! A plugin's own store, opened for the first call that needs it. All versions of the plugin have the same one.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ebb_store::Store;

const FILE: &str = "store.sqlite";

pub(crate) struct OwnStore {
    folder: PathBuf,
    state: Mutex<State>,
}

struct State {
    quota_bytes: u64,
    open: Option<Store>,
}

impl OwnStore {
    /// The one in this folder.
    pub(crate) fn new(folder: PathBuf, quota_bytes: u64) -> Self {
        Self { folder, state: Mutex::new(State { quota_bytes, open: None }) }
    }

    /// Opens it if it is not open yet. It may wait for the disk.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub(crate) fn get(&self) -> Result<Store, ebb_store::Error> {
        let mut state = self.state();
        if let Some(open) = &state.open {
            return Ok(open.clone());
        }
        // Where it cannot be made, opening the store in it says so.
        let _made = std::fs::create_dir_all(&self.folder);
        let open = Store::open(&self.file(), state.quota_bytes)?;
        Ok(state.open.insert(open).clone())
    }

    /// As [`Self::get`], but makes none where there is none.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub(crate) fn existing(&self) -> Result<Option<Store>, ebb_store::Error> {
        self.file().exists().then(|| self.get()).transpose()
    }

    /// It may hold so much from now on.
    pub(crate) fn set_quota(&self, quota_bytes: u64) {
        let mut state = self.state();
        state.quota_bytes = quota_bytes;
        if let Some(open) = &state.open {
            open.set_quota(quota_bytes);
        }
    }

    /// What it takes on disk.
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        match &self.state().open {
            Some(store) => store.bytes_on_disk(),
            None => std::fs::metadata(self.file()).map_or(0, |about| about.len()),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
