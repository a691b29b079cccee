//! Where a download is put together, and what is kept of how it went.

use std::{
    ffi::OsString,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{Plan, PlannedFile, Pulled, PulledFile};
use crate::{Error, Format, pull::listing::is_safe};

/// In the model's folder: what was pulled, so that it need not be pulled again.
const RECORD: &str = "ebb-pull.json";
const LOCK: &str = "ebb-pull.lock";
/// A record is small; what is larger is none.
const LARGEST_RECORD: u64 = 4 << 20;

/// A hidden folder beside the model's own. It stays when a download ends early: the next one goes on from there.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    destination: PathBuf,
    lock: File,
}

impl Place {
    /// Makes the folder, or takes it up again. Another download into it is not disturbed.
    pub(super) fn open(destination: &Path, force: bool) -> Result<Self, Error> {
        if !force && holds_something(destination)? {
            return Err(Error::Exists(destination.to_owned()));
        }
        let folder = beside(destination, "pulling");
        fs::create_dir_all(&folder).map_err(|source| Error::io(&folder, source))?;
        let path = folder.join(LOCK);
        let lock = File::create(&path).map_err(|source| Error::io(&path, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, destination: destination.to_owned(), lock }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse(destination.to_owned())),
            Err(TryLockError::Error(source)) => Err(Error::io(&path, source)),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a file lies once it is whole and checked.
    pub(super) fn whole(&self, file: &PlannedFile) -> PathBuf {
        self.folder.join(&file.local)
    }

    /// Where it lies until then. What it will be is in its name, so what came of another version is never taken for it.
    pub(super) fn part(&self, file: &PlannedFile) -> PathBuf {
        let mut name = self.whole(file).into_os_string();
        name.push(format!(".{}.part", file.hash.word()));
        name.into()
    }

    /// What is here of a file.
    pub(super) fn held_bytes(&self, file: &PlannedFile) -> u64 {
        let size = |path: PathBuf| fs::metadata(path).ok().map(|about| about.len());
        size(self.whole(file)).or_else(|| size(self.part(file))).unwrap_or(0)
    }

    /// Moves the folder to where it belongs. What was there goes only once the new one is in its place.
    pub(super) fn publish(self) -> Result<PathBuf, Error> {
        let Self { folder, destination, lock } = self;
        drop(lock);
        let failed = |source| Error::io(&destination, source);
        fs::remove_file(folder.join(LOCK)).map_err(failed)?;
        let previous = beside(&destination, "replaced");
        match fs::rename(&destination, &previous) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        fs::rename(&folder, &destination).map_err(failed)?;
        if let Err(error) = fs::remove_dir_all(&previous)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(folder = %previous.display(), %error, "the replaced model could not be removed");
        }
        Ok(destination)
    }
}

fn holds_something(folder: &Path) -> Result<bool, Error> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(folder, error)),
    }
}

fn beside(destination: &Path, purpose: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(destination.file_name().unwrap_or_default());
    name.push(format!(".{purpose}"));
    destination.with_file_name(name)
}

/// What was pulled into a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    repo: String,
    commit: String,
    format: Format,
    files: Vec<PulledFile>,
}

impl Record {
    pub(super) fn new(plan: &Plan, files: Vec<PulledFile>) -> Self {
        Self { repo: plan.repo.clone(), commit: plan.commit.clone(), format: plan.format, files }
    }

    /// That of a folder; `None` where there is none that can be read.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let path = folder.join(RECORD);
        let small = fs::metadata(&path).ok()?.len() <= LARGEST_RECORD;
        serde_json::from_slice(&fs::read(path).ok().filter(|_| small)?).ok()
    }

    /// Whether the folder holds what the plan would fetch. Files were checked when they came; now their sizes must do.
    pub(super) fn is_of(&self, plan: &Plan, folder: &Path) -> bool {
        let here = |file: &PulledFile| {
            let path = folder.join(&file.path);
            is_safe(&file.path) && fs::metadata(path).is_ok_and(|about| about.len() == file.bytes)
        };
        let wanted = |file: &PlannedFile| {
            self.files.iter().any(|one| one.path == file.local && one.bytes == file.bytes)
        };
        let same = self.repo == plan.repo && self.commit == plan.commit && self.format == plan.format;
        same && plan.files.iter().all(wanted) && self.files.iter().all(here)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(RECORD);
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text)).map_err(|source| Error::io(&path, source))
    }

    pub(super) fn into_pulled(self, folder: PathBuf) -> Pulled {
        let Self { repo, commit, format, files } = self;
        Pulled { repo, commit, format, folder, files, already_there: true, downloaded_bytes: 0 }
    }
}
