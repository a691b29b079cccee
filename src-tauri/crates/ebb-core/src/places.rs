//! Where Ebb keeps things. Only names are made here; no file is read or written.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Code, Failure};

/// The folders of one user's Ebb. Every shell, client and worker finds the others through them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Data: `EBB_HOME`, else the platform's data folder with `ebb` in it (`$XDG_DATA_HOME/ebb` on Linux).
    pub home: PathBuf,
    /// What can be made or fetched again: `cache` in `EBB_HOME` where that is set, else the platform's cache folder with
    /// `ebb` in it.
    pub cache: PathBuf,
}

impl Places {
    /// The places that the environment names. Where `EBB_HOME` is relative, it is so to the current folder.
    ///
    /// # Errors
    /// [`Code::Storage`] where `EBB_HOME` is something other than a folder, or is not set and the user has no home folder.
    pub fn from_env() -> Result<Self, Failure> {
        if let Some(home) = std::env::var_os("EBB_HOME").filter(|home| !home.is_empty()) {
            return Self::within(Path::new(&home));
        }
        let dirs = directories::BaseDirs::new().ok_or_else(|| {
            Failure::new(Code::Storage, "this user has no home folder")
                .hint("set EBB_HOME to a folder for Ebb's data")
        })?;
        Ok(Self { home: dirs.data_dir().join("ebb"), cache: dirs.cache_dir().join("ebb") })
    }

    /// The places of a home that `EBB_HOME` names. Host and workers stand in other folders: they need it in full.
    fn within(home: &Path) -> Result<Self, Failure> {
        let refused = |why: String| {
            Failure::new(Code::Storage, format!("EBB_HOME ({}) {why}", home.display()))
                .hint("set EBB_HOME to a folder for Ebb's data; it is made where there is none")
                .param("EBB_HOME")
        };
        let full = std::path::absolute(home).map_err(|error| refused(format!("cannot be found: {error}")))?;
        if full.exists() && !full.is_dir() {
            return Err(refused("is not a folder".to_owned()));
        }
        Ok(Self { cache: full.join("cache"), home: full })
    }

    /// Who the running host is: [`crate::Endpoint`] as JSON, readable by the user alone.
    pub fn endpoint_file(&self) -> PathBuf {
        self.home.join("run").join("host.json")
    }

    /// Locked by the running host.
    pub fn lock_file(&self) -> PathBuf {
        self.home.join("run").join("host.lock")
    }

    /// The host's log.
    pub fn log_file(&self) -> PathBuf {
        self.home.join("run").join("host.log")
    }

    /// The models that were added.
    pub fn models_file(&self) -> PathBuf {
        self.home.join("models.json")
    }

    /// The models that were loaded, with their options.
    pub fn state_file(&self) -> PathBuf {
        self.home.join("state.json")
    }

    /// The keys of apps, as hashes.
    pub fn keys_file(&self) -> PathBuf {
        self.home.join("keys.json")
    }

    /// Models that Ebb itself fetched or made.
    pub fn models_folder(&self) -> PathBuf {
        self.home.join("models")
    }

    /// Profiles, one TOML file each.
    pub fn profiles_folder(&self) -> PathBuf {
        self.home.join("profiles")
    }

    /// What the user installed, granted and attached.
    pub fn plugins_file(&self) -> PathBuf {
        self.home.join("plugins.json")
    }

    /// Installed plugins and what they keep: a folder each, named by its id.
    pub fn plugins_folder(&self) -> PathBuf {
        self.home.join("plugins")
    }

    /// Compiled plugins, which can be made again.
    pub fn compiled_plugins_folder(&self) -> PathBuf {
        self.cache.join("plugins")
    }

    /// Folders whose subfolders hold ONNX Runtime libraries, best first.
    pub fn runtime_folders(&self) -> Vec<PathBuf> {
        vec![self.home.join("runtimes"), self.cache.join("runtimes")]
    }
}

/// Who the running host is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Its address: `http://127.0.0.1:4770`.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// What every request must carry, as `Authorization: Bearer …`.
    pub token: String,
    /// Its version of Ebb.
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_named_in_full_and_is_a_folder() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(Places::within(Path::new("not-there")).unwrap().home, here.join("not-there"));
        let error = Places::within(Path::new("Cargo.toml")).unwrap_err();
        assert_eq!(error.code, Code::Storage);
        assert_eq!(error.message, "EBB_HOME (Cargo.toml) is not a folder");
    }
}
