//! A folder that appears whole or not at all.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::Error;

/// A hidden folder beside the destination, on the same file system so that a rename suffices. Removed unless published.
pub(crate) struct Staging {
    folder: PathBuf,
    destination: PathBuf,
}

impl Staging {
    /// Makes the folder, and the destination's parents. Refuses a destination that holds anything, unless `force` is set,
    /// and one that is or contains `source` even then.
    pub(crate) fn beside(destination: &Path, source: &Path, force: bool) -> Result<Self, Error> {
        let refuse = |reason| Error::BadDestination { path: destination.to_owned(), reason };
        let destination =
            std::path::absolute(destination).map_err(|source| Error::io(destination, source))?;
        if destination.exists() {
            if !destination.is_dir() {
                return Err(refuse("it is a file"));
            }
            if !force && !is_empty(&destination)? {
                return Err(Error::DestinationExists(destination));
            }
            if contains(&destination, source)? {
                return Err(refuse("replacing it would delete the source"));
            }
        }
        let (Some(parent), Some(name)) = (destination.parent(), destination.file_name()) else {
            return Err(refuse("it has no parent folder"));
        };
        fs::create_dir_all(parent).map_err(|source| Error::io(parent, source))?;
        let folder = parent.join(hidden_name(name, "importing"));
        fs::create_dir(&folder).map_err(|source| Error::io(&folder, source))?;
        Ok(Self { folder, destination })
    }

    /// Where to write.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fails if the disk has no space for so many bytes more. Where that cannot be told, writing will.
    pub(crate) fn check_space(&self, needed_bytes: u64) -> Result<(), Error> {
        match fs4::available_space(&self.folder) {
            Ok(free_bytes) if free_bytes < needed_bytes => {
                Err(Error::NotEnoughSpace { path: self.destination.clone(), needed_bytes, free_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Moves the folder to its destination. What was there goes only once the new folder is in its place.
    pub(crate) fn publish(self) -> Result<PathBuf, Error> {
        let destination = &self.destination;
        let failed = |source| Error::io(destination, source);
        if !destination.exists() {
            fs::rename(&self.folder, destination).map_err(failed)?;
            return Ok(destination.clone());
        }
        let name = destination.file_name().unwrap_or_default();
        let previous = destination.with_file_name(hidden_name(name, "replaced"));
        fs::rename(destination, &previous).map_err(failed)?;
        if let Err(source) = fs::rename(&self.folder, destination) {
            fs::rename(&previous, destination).map_err(failed)?;
            return Err(failed(source));
        }
        if let Err(error) = fs::remove_dir_all(&previous) {
            tracing::warn!(folder = %previous.display(), %error, "the replaced model could not be removed");
        }
        Ok(destination.clone())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Gone already after publishing; and on failure there is nobody left to tell.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_empty(folder: &Path) -> Result<bool, Error> {
    Ok(fs::read_dir(folder).map_err(|source| Error::io(folder, source))?.next().is_none())
}

fn contains(outer: &Path, inner: &Path) -> Result<bool, Error> {
    let canonical = |path: &Path| fs::canonicalize(path).map_err(|source| Error::io(path, source));
    Ok(canonical(inner)?.starts_with(canonical(outer)?))
}

/// Unique among processes by the pid, within this one by a count.
fn hidden_name(name: &std::ffi::OsStr, purpose: &str) -> OsString {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{purpose}-{}-{count}", std::process::id()));
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_larger_than_the_disk_is_told_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let staging = Staging::beside(&folder.path().join("model"), folder.path(), false).unwrap();
        staging.check_space(1).unwrap();
        let Err(Error::NotEnoughSpace { needed_bytes, free_bytes, .. }) = staging.check_space(u64::MAX)
        else {
            panic!("no disk is so large");
        };
        assert!(needed_bytes == u64::MAX && free_bytes > 0);
        let hidden = staging.folder().to_owned();
        drop(staging);
        assert!(!hidden.exists());
    }
}
