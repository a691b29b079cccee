//! The folder of a plugin in the making: in which language it is written, and what it says of itself.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use ebb_core::PluginManifest;
use ebb_plugins::manifest;
use serde::Serialize;

use crate::Error;

/// What `plugin.toml` is called in every folder.
pub(crate) const MANIFEST: &str = "plugin.toml";

/// What a plugin is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// Rust, with the SDK: the smallest and fastest components.
    Rust,
    /// Python, by componentize-py.
    Python,
    /// JavaScript, by jco on QuickJS.
    Js,
}

impl Lang {
    /// Every language.
    pub const ALL: [Self; 3] = [Self::Rust, Self::Python, Self::Js];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Js => "js",
        }
    }

    /// The file that tells that a folder is of this language.
    fn sign(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::Python => "app.py",
            Self::Js => "app.js",
        }
    }

    /// The language that `folder` is written in.
    pub(crate) fn of(folder: &Path) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|lang| folder.join(lang.sign()).is_file());
        found.ok_or_else(|| Error::NoSource { folder: folder.to_owned() })
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Lang {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|lang| lang.name() == name)
            .ok_or_else(|| format!("plugins are written in {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// What the folder says of itself.
pub(crate) fn manifest_of(folder: &Path) -> Result<PluginManifest, Error> {
    let path = folder.join(MANIFEST);
    if !path.is_file() {
        return Err(Error::NoManifest { folder: folder.to_owned() });
    }
    Ok(manifest::from_toml(&read_text(&path)?)?)
}

/// Where the component of a folder lies unless somebody says otherwise.
pub(crate) fn component_of(folder: &Path, manifest: &PluginManifest) -> PathBuf {
    folder.join(format!("{}.wasm", manifest.id))
}

/// The component that `path` means: the file itself, or the one that was built in the folder.
pub(crate) fn built(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let component = component_of(path, &manifest_of(path)?);
    if component.is_file() { Ok(component) } else { Err(Error::NotBuilt { folder: path.to_owned() }) }
}

pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    let parent = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    parent
        .and_then(|()| std::fs::write(path, content))
        .map_err(|source| Error::Write { path: path.to_owned(), source })
}
