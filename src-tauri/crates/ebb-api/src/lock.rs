//! One host per user: a lock that the system frees even if the host is killed, and the endpoint file beside it, by which
//! clients find the host and prove that they may call it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ebb_core::{Code, Endpoint, Failure, Places};

use crate::atomic;

/// Held by the one running host.
#[derive(Debug)]
pub(crate) struct HostLock {
    /// Freed by the system when it is closed.
    _file: File,
    endpoint_file: PathBuf,
}

impl HostLock {
    /// Becomes the one host.
    ///
    /// # Errors
    /// [`Code::Conflict`] where another host runs, with its address; [`Code::Storage`].
    pub(crate) fn take(places: &Places) -> Result<Self, Failure> {
        let path = places.lock_file();
        let endpoint_file = places.endpoint_file();
        if let Some(folder) = path.parent() {
            atomic::make_private_folder(folder)?;
            keep_private(folder)?;
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| atomic::refused("open the lock file", &path, &error))?;
        lock(&file, &path, &endpoint_file)?;
        // What a killed host left behind would send clients to nobody, or to a stranger on its port.
        remove(&endpoint_file)?;
        Ok(Self { _file: file, endpoint_file })
    }

    /// Tells clients where the host is.
    ///
    /// # Errors
    /// [`Code::Storage`].
    pub(crate) fn publish(&self, endpoint: &Endpoint) -> Result<(), Failure> {
        let json = serde_json::to_vec_pretty(endpoint)
            .map_err(|error| Failure::new(Code::Internal, format!("cannot write the endpoint: {error}")))?;
        atomic::write(&self.endpoint_file, &json)
    }

    /// Tells clients that the host is going.
    ///
    /// # Errors
    /// [`Code::Storage`].
    pub(crate) fn withdraw(&self) -> Result<(), Failure> {
        remove(&self.endpoint_file)
    }
}

impl Drop for HostLock {
    fn drop(&mut self) {
        // Nobody is left to tell, and the next host removes it anyway.
        let _ = self.withdraw();
    }
}

/// Waits a moment where a host holds the lock and says nothing: of two that start at once, the winner is about to say
/// where it is, and one that ends is about to let go.
fn lock(file: &File, path: &Path, endpoint_file: &Path) -> Result<(), Failure> {
    for _ in 0..20 {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(atomic::refused("lock", path, &error)),
            Err(TryLockError::WouldBlock) => match published(endpoint_file) {
                Some(endpoint) => return Err(runs_already(&endpoint, endpoint_file)),
                None => thread::sleep(Duration::from_millis(50)),
            },
        }
    }
    Err(Failure::new(Code::Conflict, "another host is starting or ending")
        .hint("try again in a moment")
        .param(path.display().to_string()))
}

/// The endpoint that the running host published, if one did.
fn published(endpoint_file: &Path) -> Option<Endpoint> {
    serde_json::from_slice(&fs::read(endpoint_file).ok()?).ok()
}

fn runs_already(endpoint: &Endpoint, endpoint_file: &Path) -> Failure {
    let Endpoint { url, pid, version, .. } = endpoint;
    Failure::new(Code::Conflict, format!("a host already runs at {url} (process {pid}, Ebb {version})"))
        .hint("use that one, or end it with `ebb server stop`")
        .param(endpoint_file.display().to_string())
        .detail("pid", u64::from(*pid))
}

fn remove(file: &Path) -> Result<(), Failure> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(atomic::refused("remove", file, &error))
        }
        _ => Ok(()),
    }
}

/// The folder holds the token: an older or looser mode is put right.
#[cfg(unix)]
fn keep_private(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .map_err(|error| atomic::refused("make private", folder, &error))
}

#[cfg(not(unix))]
fn keep_private(_folder: &Path) -> Result<(), Failure> {
    // The user's data folder is private by its inherited access list.
    Ok(())
}

/// A token that cannot be guessed: 32 random bytes in hex.
///
/// # Errors
/// [`Code::Internal`] where the system has no randomness to give.
pub(crate) fn new_token() -> Result<String, Failure> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Code::Internal, format!("the system gave no random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path) -> Places {
        Places { home: folder.join("Ebb für mich"), cache: folder.join("cache") }
    }

    fn endpoint() -> Endpoint {
        Endpoint {
            url: "http://127.0.0.1:4770".into(),
            pid: 7,
            token: new_token().unwrap(),
            version: "0.1.0".into(),
        }
    }

    #[test]
    fn the_second_host_is_told_where_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let first = HostLock::take(&places).unwrap();
        first.publish(&endpoint()).unwrap();
        let failure = HostLock::take(&places).unwrap_err();
        assert_eq!(failure.code, Code::Conflict);
        assert!(failure.message.contains("http://127.0.0.1:4770"), "{failure}");
        assert_eq!(failure.details["pid"], 7);
        drop(first);
        assert!(!places.endpoint_file().exists(), "removed with the host");
        HostLock::take(&places).unwrap();
    }

    #[test]
    fn one_of_many_that_start_at_once_wins() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let start = std::sync::Barrier::new(4);
        let locks: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        HostLock::take(&places).inspect(|lock| lock.publish(&endpoint()).unwrap())
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(locks.iter().filter(|lock| lock.is_ok()).count(), 1);
        for failure in locks.into_iter().filter_map(Result::err) {
            assert!(failure.message.contains("http://127.0.0.1:4770"), "{failure}");
        }
    }

    #[test]
    fn what_a_killed_host_left_is_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        atomic::write(&places.endpoint_file(), b"{\"stale\": true}").unwrap();
        let lock = HostLock::take(&places).unwrap();
        assert!(!places.endpoint_file().exists());
        lock.publish(&endpoint()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&places.endpoint_file()), 0o600);
            assert_eq!(mode(places.endpoint_file().parent().unwrap()), 0o700);
        }
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, two) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, two);
    }
}
