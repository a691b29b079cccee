//! Values by key, beside the collections.

use rusqlite::OptionalExtension;

use crate::{Error, Store, check};

impl Store {
    /// The value under a key, or none.
    ///
    /// # Errors
    /// [`Error::Name`] where nothing can be called so.
    pub fn kv_get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        check::key(key)?;
        self.0.lock().database.read(|connection| {
            let mut found = connection.prepare_cached("SELECT value FROM pairs WHERE name = ?")?;
            Ok(found.query_row([key], |row| row.get(0)).optional()?)
        })
    }

    /// Keeps a value under a key, in place of what was there.
    ///
    /// # Errors
    /// [`Error::Quota`] where it does not fit: the earlier value stays. [`Error::TooLarge`] for values of more than
    /// [`MAX_VALUE_BYTES`](crate::MAX_VALUE_BYTES).
    pub fn kv_set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        check::key(key)?;
        check::value(value)?;
        let mut inner = self.0.lock();
        // How much more it takes than the value before it is known only then.
        inner.database.grow(0, |transaction| {
            let mut set = transaction.prepare_cached(
                "INSERT INTO pairs (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?;
            set.execute((key, value))?;
            Ok(())
        })
    }

    /// Forgets a key; says nothing where there was none.
    ///
    /// # Errors
    /// [`Error::Name`] where nothing can be called so.
    pub fn kv_delete(&self, key: &str) -> Result<(), Error> {
        check::key(key)?;
        self.0.lock().database.shrink(|transaction| {
            transaction.prepare_cached("DELETE FROM pairs WHERE name = ?")?.execute([key])?;
            Ok(())
        })
    }
}
