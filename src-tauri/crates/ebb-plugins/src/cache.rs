//! Compiled code on disk. A file is loaded only if its keyed hash fits: compiled code is run as it is.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use fs_err as fs;
use sha2::{Digest, Sha256};
use wasmtime::Engine;

use crate::component::hex;

/// Length of a key, and of a keyed hash.
const HASH_BYTES: usize = 32;

/// The folder holds no more than this; what was used least recently goes. An interpreter takes 40 MB.
const MAX_FOLDER_BYTES: u64 = 512 << 20;

const EXTENSION: &str = "code";

/// Compiled code whose hash fits.
pub(crate) struct Verified {
    file: Vec<u8>,
}

impl Verified {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.file.get(HASH_BYTES..).unwrap_or_default()
    }
}

/// Compiled code of one engine in one folder.
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; HASH_BYTES],
    /// Of wasmtime's version, its set-up and the processor.
    engine: u64,
}

impl Cache {
    /// Opens the folder, which is made where there is none.
    ///
    /// # Errors
    /// Where it cannot be made or its key cannot be read.
    pub(crate) fn open(folder: &Path, engine: &Engine) -> io::Result<Self> {
        make_private(folder)?;
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Ok(Self { folder: folder.to_owned(), key: key(folder)?, engine: hasher.finish() })
    }

    fn path(&self, component: &str) -> PathBuf {
        self.folder.join(format!("{component}-{:016x}.{EXTENSION}", self.engine))
    }

    /// What was compiled of the component of this hash, if it is there and whole.
    pub(crate) fn get(&self, component: &str) -> Option<Verified> {
        let path = self.path(component);
        let file = fs::read(&path).ok()?;
        let (told, code) = file.split_at_checked(HASH_BYTES)?;
        if told != self.keyed_hash(component, code) {
            tracing::warn!(path = %path.display(), "compiled code of a plugin is damaged; it is compiled again");
            // It is written anew in any case.
            let _removed = fs::remove_file(&path);
            return None;
        }
        // So that the files used least recently go first.
        let _touched = fs::File::open(&path).and_then(|file| file.file().set_modified(SystemTime::now()));
        Some(Verified { file })
    }

    /// Keeps what was compiled, at once or not at all.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn put(&self, component: &str, code: &[u8]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&self.keyed_hash(component, code))?;
        file.write_all(code)?;
        file.persist(self.path(component))?;
        self.prune()
    }

    /// Binds the code to the component and the engine, with a key that only this user has. The inner hash has a fixed length
    /// and is secret, so nothing can be appended.
    fn keyed_hash(&self, component: &str, code: &[u8]) -> [u8; HASH_BYTES] {
        let inner = Sha256::new().chain_update(self.key).chain_update([0]).chain_update(Sha256::digest(code));
        let inner = inner.chain_update(self.engine.to_le_bytes()).chain_update(component).finalize();
        Sha256::new().chain_update(self.key).chain_update([1]).chain_update(inner).finalize().into()
    }

    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if entry.path().extension().is_some_and(|extension| extension == EXTENSION) {
                files.push((about.modified()?, about.len(), entry.path()));
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        // The newest stays, however large it is.
        let older = files.len().saturating_sub(1);
        for (_, bytes, path) in files.into_iter().take(older) {
            if total <= MAX_FOLDER_BYTES {
                break;
            }
            fs::remove_file(path)?;
            total -= bytes;
        }
        Ok(())
    }
}

/// The folder's key; a new one where there is none.
fn key(folder: &Path) -> io::Result<[u8; HASH_BYTES]> {
    let path = folder.join("key");
    if let Some(key) = fs::read(&path).ok().and_then(|key| key.try_into().ok()) {
        return Ok(key);
    }
    let mut key = [0; HASH_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    // Made for the user alone.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&key)?;
    file.persist(&path)?;
    Ok(key)
}

/// Makes a folder that only the user can enter.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// The hash that a component's code is kept under.
pub(crate) fn name(component: &[u8]) -> String {
    hex(&Sha256::digest(component))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path) -> Cache {
        Cache::open(folder, &Engine::default()).unwrap()
    }

    #[test]
    fn what_was_kept_comes_back_and_what_was_changed_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        assert!(cache.get("a").is_none());
        cache.put("a", b"machine code").unwrap();
        assert_eq!(cache.get("a").unwrap().bytes(), b"machine code");
        let path = cache.path("a");
        let whole = fs::read(&path).unwrap();
        for changed in [&whole[..10], &whole[..whole.len() - 1], &[&whole[..], b"!"].concat()] {
            fs::write(&path, changed).unwrap();
            assert!(cache.get("a").is_none());
        }
        for at in [0, HASH_BYTES, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert!(cache.get("a").is_none(), "byte {at}");
            assert!(!path.exists());
        }
    }

    #[test]
    fn code_of_another_component_engine_or_user_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = cache(folder.path());
        cache.put("a", b"code").unwrap();
        fs::copy(cache.path("a"), cache.path("b")).unwrap();
        assert!(cache.get("b").is_none());
        let file = fs::read(cache.path("a")).unwrap();
        cache.engine += 1;
        fs::write(cache.path("a"), &file).unwrap();
        assert!(cache.get("a").is_none());
        cache.engine -= 1;
        cache.key[0] ^= 1;
        assert!(cache.get("a").is_none());
    }

    #[test]
    fn the_key_stays_and_the_folder_is_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("compiled");
        cache(&inner).put("a", b"code").unwrap();
        assert_eq!(cache(&inner).get("a").unwrap().bytes(), b"code");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&inner), mode(&inner.join("key"))), (0o700, 0o600));
        }
    }
}
