//! A model as it may be typed: by its alias, or by its path.

use std::path::{Path, PathBuf};

use ebb_client::{Client, Model};
use ebb_core::operations::AddModel;

use crate::error::{Result, storage};

/// A model to work with.
pub(super) struct Named {
    pub(super) model: Model,
    /// Whether it was taken into the catalogue for this call alone.
    added: bool,
}

impl Named {
    /// The model of that alias. A path that exists is looked for in the catalogue, and taken in until [`Named::done`] where
    /// it is not there.
    pub(super) async fn find(client: &Client, typed: &str) -> Result<Self> {
        let Some(path) = path(typed) else { return Ok(Self { model: client.model(typed), added: false }) };
        let path = path.canonicalize().map_err(|error| storage("find", &path, &error))?;
        let known = client.models().await?.models;
        if let Some(entry) = known.iter().find(|entry| entry.path == path) {
            return Ok(Self { model: client.model(&entry.alias), added: false });
        }
        Self::add(client, path, "once").await
    }

    /// Takes a path in under an alias that nobody else has.
    pub(super) async fn add(client: &Client, path: PathBuf, word: &str) -> Result<Self> {
        let alias = format!("{word}-{}", std::process::id());
        let entry = client.add_model(&AddModel { path, alias: Some(alias) }).await?;
        Ok(Self { model: client.model(entry.alias), added: true })
    }

    /// Leaves the catalogue as it was.
    pub(super) async fn done(self) -> Result {
        if self.added {
            self.model.remove().await?;
        }
        Ok(())
    }
}

/// What is typed like a path and is one.
fn path(typed: &str) -> Option<PathBuf> {
    let like_a_path = typed.contains(['/', '\\'])
        || [".onnx", ".ort"].iter().any(|end| typed.ends_with(end))
        || typed.starts_with('.');
    (like_a_path && Path::new(typed).exists()).then(|| PathBuf::from(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_not_taken_for_a_folder_of_that_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(path("src"), None);
        assert_eq!(path("./src"), Some("./src".into()));
        assert_eq!(path("missing.onnx"), None);
        assert!(path(folder.path().to_str().unwrap()).is_some());
    }
}
