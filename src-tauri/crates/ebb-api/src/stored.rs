//! A value that lives in a JSON file: read once, written whole at each change.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use ebb_core::{Code, Failure};
use serde::{Serialize, de::DeserializeOwned};

use crate::atomic;

/// The value and its file. What is in memory is what the file holds.
#[derive(Debug)]
pub(crate) struct Stored<T> {
    path: PathBuf,
    value: Mutex<T>,
}

impl<T: Default + Clone + PartialEq + Serialize + DeserializeOwned> Stored<T> {
    /// Reads the file; the default value where there is none.
    ///
    /// # Errors
    /// [`Code::Storage`], naming the file, and the place in it where it is broken.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Failure> {
        let value = read(&path)?.unwrap_or_default();
        Ok(Self { path, value: Mutex::new(value) })
    }

    /// As [`Self::open`], but a broken file is set aside under a name ending in `.broken`, and said in the log.
    ///
    /// # Errors
    /// [`Code::Storage`] where it cannot be set aside.
    pub(crate) fn open_or_set_aside(path: PathBuf) -> Result<Self, Failure> {
        let failure = match Self::open(path.clone()) {
            Ok(stored) => return Ok(stored),
            Err(failure) => failure,
        };
        let mut aside = path.clone().into_os_string();
        aside.push(".broken");
        let aside = PathBuf::from(aside);
        fs::rename(&path, &aside).map_err(|error| atomic::refused("set aside", &path, &error))?;
        tracing::error!(
            file = %path.display(),
            set_aside_as = %aside.display(),
            error = %failure,
            "a broken file was set aside; starting without it"
        );
        Ok(Self { path, value: Mutex::default() })
    }

    /// The value as it is now.
    pub(crate) fn get(&self) -> T {
        self.lock().clone()
    }

    /// A part of the value.
    pub(crate) fn read<R>(&self, part: impl FnOnce(&T) -> R) -> R {
        part(&self.lock())
    }

    /// Changes the value and writes it. Where `change` or the writing fails, value and file stay as they were.
    ///
    /// # Errors
    /// What `change` says; [`Code::Storage`], naming the file.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> Result<R, Failure>) -> Result<R, Failure> {
        // Held while writing, so that changes reach the file in the order in which they were made.
        let mut value = self.lock();
        let mut changed = value.clone();
        let result = change(&mut changed)?;
        if changed != *value {
            let mut json = serde_json::to_vec_pretty(&changed)
                .map_err(|error| Failure::new(Code::Internal, format!("cannot write as JSON: {error}")))?;
            json.push(b'\n');
            atomic::write(&self.path, &json)?;
            *value = changed;
        }
        Ok(result)
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        // A change is made on a copy, so a panic in one cannot have left the value half changed.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(atomic::refused("read", path, &error)),
    };
    serde_json::from_slice(&content).map(Some).map_err(|error| {
        Failure::new(Code::Storage, format!("{} is broken: {error}", path.display()))
            .hint("repair the file, or move it away to start without it")
            .param(path.display().to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Names = Vec<String>;

    #[test]
    fn a_change_survives_and_a_failed_one_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.json");
        let names = Stored::<Names>::open(path.clone()).unwrap();
        let add = |names: &mut Names| {
            names.push("one".into());
            Ok(())
        };
        names.update(add).unwrap();
        let refused = names.update(|names| {
            names.push("two".into());
            Err::<(), _>(Failure::new(Code::Conflict, "no"))
        });
        assert_eq!(refused.unwrap_err().code, Code::Conflict);
        assert_eq!(names.get(), ["one"]);
        assert_eq!(Stored::<Names>::open(path).unwrap().get(), ["one"]);
    }

    #[test]
    fn what_cannot_be_written_is_not_in_memory_either() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let names = Stored::<Names> { path: file.join("names.json"), value: Mutex::default() };
        let add = |names: &mut Names| {
            names.push("one".into());
            Ok(())
        };
        let failure = names.update(add).unwrap_err();
        assert_eq!(failure.code, Code::Storage);
        assert!(failure.message.contains(&file.display().to_string()), "{failure}");
        assert!(names.get().is_empty());
    }

    #[test]
    fn a_broken_file_is_named_or_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::write(&path, "[\"one\",").unwrap();
        let failure = Stored::<Names>::open(path.clone()).unwrap_err();
        assert!(failure.message.contains("state.json") && failure.message.contains("line 1"), "{failure}");
        assert!(Stored::<Names>::open_or_set_aside(path.clone()).unwrap().get().is_empty());
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(folder.path().join("state.json.broken")).unwrap(), "[\"one\",");
    }
}
