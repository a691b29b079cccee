//! Keys for apps: named, with scopes, each shown once. The host keeps only their hashes.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use ebb_core::{
    Code, Failure,
    operations::{AddKey, AddedKey, KeyEntry, KeyList, KeyScope},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Host, lock};

/// What every key begins with, so that one that leaked is recognised for what it is.
const PREFIX: &str = "ebb-";

/// Longest name of a key.
const MAX_NAME_LEN: usize = 64;

/// The content of `keys.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Keys {
    keys: BTreeMap<String, Kept>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// Of the whole key, in hexadecimal. A key is random and long: a plain hash of it tells nothing.
    sha256: String,
    scopes: Vec<KeyScope>,
    created_at_ms: u64,
}

impl Kept {
    fn entry(&self, name: &str) -> KeyEntry {
        KeyEntry { name: name.to_owned(), scopes: self.scopes.clone(), created_at_ms: self.created_at_ms }
    }
}

impl Host {
    /// Makes a key. It is in the answer, and never shown again.
    ///
    /// # Errors
    /// [`Code::AlreadyExists`]; [`Code::InvalidRequest`] for a name that is empty, too long, or has control characters;
    /// [`Code::Storage`].
    pub async fn add_key(&self, request: AddKey) -> Result<AddedKey, Failure> {
        let AddKey { name, mut scopes } = request;
        check_name(&name)?;
        if scopes.is_empty() {
            scopes.push(KeyScope::Infer);
        }
        scopes.sort();
        scopes.dedup();
        let key = format!("{PREFIX}{}", lock::new_token()?);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let created_at_ms = u64::try_from(now).unwrap_or(u64::MAX);
        let kept = Kept { sha256: hash(&key), scopes: scopes.clone(), created_at_ms };
        self.inner.keys.update(|keys| {
            if keys.keys.contains_key(&name) {
                return Err(Failure::new(Code::AlreadyExists, format!("there is a key '{name}' already"))
                    .hint(format!("choose another name, or remove it first: `ebb key remove {name}`"))
                    .param("name"));
            }
            keys.keys.insert(name.clone(), kept);
            Ok(())
        })?;
        tracing::info!(key = name, ?scopes, "a key was made");
        Ok(AddedKey { name, key, scopes })
    }

    /// Every key, without its secret.
    ///
    /// # Errors
    /// None today.
    pub async fn keys(&self) -> Result<KeyList, Failure> {
        let keys = self.inner.keys.get().keys;
        Ok(KeyList { keys: keys.iter().map(|(name, kept)| kept.entry(name)).collect() })
    }

    /// Removes a key: it opens nothing from here on.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::Storage`].
    pub async fn remove_key(&self, name: &str) -> Result<KeyEntry, Failure> {
        let removed = self.inner.keys.update(|keys| {
            keys.keys.remove(name).ok_or_else(|| {
                Failure::new(Code::NotFound, format!("there is no key '{name}'"))
                    .hint("see `ebb key list`")
                    .param("name")
            })
        })?;
        tracing::info!(key = name, "a key was removed");
        Ok(removed.entry(name))
    }

    /// What the holder of this key may do; `None` where it is none.
    pub fn scopes_of_key(&self, key: &str) -> Option<Vec<KeyScope>> {
        if !key.starts_with(PREFIX) {
            return None;
        }
        // Hashes are compared, so the time of the comparison tells nothing of a key.
        let sha256 = hash(key);
        self.inner.keys.read(|keys| {
            keys.keys.values().find(|kept| kept.sha256 == sha256).map(|kept| kept.scopes.clone())
        })
    }
}

fn hash(key: &str) -> String {
    Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_name(name: &str) -> Result<(), Failure> {
    let fits = !name.trim().is_empty() && name.len() <= MAX_NAME_LEN && !name.chars().any(char::is_control);
    let plain = !name.contains(['/', '\\']) && !matches!(name, "." | "..");
    if fits && plain {
        return Ok(());
    }
    Err(Failure::new(Code::InvalidRequest, format!("'{}' is no name for a key", name.escape_debug()))
        .hint(format!("use 1 to {MAX_NAME_LEN} characters without slashes: the app that it is for"))
        .param("name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn host(folder: &tempfile::TempDir) -> Host {
        let places = ebb_core::Places { home: folder.path().into(), cache: folder.path().into() };
        Host::open(places, Settings::default()).unwrap()
    }

    fn add(name: &str, scopes: &[KeyScope]) -> AddKey {
        AddKey { name: name.to_owned(), scopes: scopes.to_vec() }
    }

    #[tokio::test]
    async fn a_key_opens_until_it_is_removed_and_its_secret_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(&folder);
        let added = host.add_key(add("rag app", &[])).await.unwrap();
        assert_eq!(added.scopes, [KeyScope::Infer]);
        assert_eq!(host.scopes_of_key(&added.key), Some(vec![KeyScope::Infer]));
        assert_eq!(host.scopes_of_key(&added.key[..added.key.len() - 1]), None);
        let file = std::fs::read_to_string(folder.path().join("keys.json")).unwrap();
        assert!(!file.contains(&added.key[PREFIX.len()..]), "the secret is on the disk");
        let both = host.add_key(add("ops", &[KeyScope::Control, KeyScope::Infer])).await.unwrap();
        assert_eq!(both.scopes, [KeyScope::Infer, KeyScope::Control]);
        let names: Vec<String> = host.keys().await.unwrap().keys.into_iter().map(|key| key.name).collect();
        assert_eq!(names, ["ops", "rag app"]);
        host.remove_key("rag app").await.unwrap();
        assert_eq!(host.scopes_of_key(&added.key), None);
        assert_eq!(host.remove_key("rag app").await.unwrap_err().code, Code::NotFound);
    }

    #[tokio::test]
    async fn names_are_unique_and_plain() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(&folder);
        host.add_key(add("a", &[])).await.unwrap();
        assert_eq!(host.add_key(add("a", &[])).await.unwrap_err().code, Code::AlreadyExists);
        for name in ["", "  ", "a/b", "..", "a\nb", &"x".repeat(65)] {
            assert_eq!(
                host.add_key(add(name, &[])).await.unwrap_err().code,
                Code::InvalidRequest,
                "{name:?}"
            );
        }
    }
}
