//! Vectors that nobody searches do not stay in memory.

use std::{
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use crate::store::{Inner, Shared};

/// How long vectors stay in memory after a search.
pub(crate) const IDLE: Duration = Duration::from_secs(300);

/// Sees that the vectors are given back once nobody searched for [`IDLE`]. The thread ends with them, and does not keep the
/// store open.
pub(crate) fn watch(shared: &Arc<Shared>, inner: &mut Inner) {
    if inner.watched {
        return;
    }
    let shared = Arc::downgrade(shared);
    let thread = thread::Builder::new().name("ebb-store-idle".to_owned());
    let look_again = move || {
        let mut wait = Some(IDLE);
        while let Some(time) = wait {
            thread::sleep(time);
            wait = look(&shared, IDLE);
        }
    };
    match thread.spawn(look_again) {
        Ok(_) => inner.watched = true,
        Err(error) => tracing::warn!(%error, "no thread gives idle vectors back"),
    }
}

/// Gives the vectors back where the last search is `idle` ago; else says when to look again.
fn look(shared: &Weak<Shared>, idle: Duration) -> Option<Duration> {
    let shared = shared.upgrade()?;
    let mut inner = shared.lock();
    let left = idle.checked_sub(inner.searched_at.elapsed()).filter(|left| !left.is_zero());
    if inner.indexes.is_empty() || left.is_none() {
        inner.watched = false;
        let freed_bytes = inner.drop_indexes();
        tracing::info!(store = %inner.database.path().display(), freed_bytes, "idle vectors given back");
        return None;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, tests::filled};

    #[test]
    fn vectors_go_once_nobody_searches_and_come_back_with_a_search() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.sqlite"), 1 << 24).unwrap();
        let collection = filled(&store, 10);
        let search = || collection.search(&crate::tests::near(3)).unwrap()[0].document.clone();
        assert_eq!(search(), "3");
        let held = store.index_memory_bytes();
        assert!(held > 0);

        let weak = Arc::downgrade(&store.0);
        assert!(look(&weak, IDLE).is_some_and(|wait| wait <= IDLE), "it looks again when they can be idle");
        assert_eq!(store.index_memory_bytes(), held, "they were searched just now");
        assert_eq!(look(&weak, Duration::ZERO), None);
        assert_eq!(store.index_memory_bytes(), 0);

        assert_eq!(search(), "3");
        assert_eq!(store.index_memory_bytes(), held);
        drop((collection, store));
        assert_eq!(look(&weak, IDLE), None, "a store that was closed is not watched");
    }
}
