//! The catalogue: models that were added, by alias.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ebb_core::{
    Code, EventKind, Failure, ModelKind,
    operations::{AddModel, ModelEntry, ModelList, ModelState},
};
use serde::{Deserialize, Serialize};

use crate::{Host, names};

/// The content of `models.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Catalogue {
    models: BTreeMap<String, Added>,
}

/// A model that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Added {
    /// Its folder or file.
    pub(crate) path: PathBuf,
    /// What it is for.
    pub(crate) kind: ModelKind,
    /// Size of its weights on disk when it was added.
    pub(crate) weights_bytes: u64,
}

impl Catalogue {
    /// Every alias, sorted.
    pub(crate) fn aliases(&self) -> Vec<String> {
        self.models.keys().cloned().collect()
    }

    /// Aliases of the models of a kind, sorted.
    fn of_kind(&self, kind: ModelKind) -> Vec<String> {
        self.models.iter().filter(|(_, added)| added.kind == kind).map(|(alias, _)| alias.clone()).collect()
    }

    /// Every alias, sorted, with what it is for.
    pub(crate) fn kinds(&self) -> Vec<(String, ModelKind)> {
        self.models.iter().map(|(alias, added)| (alias.clone(), added.kind)).collect()
    }

    pub(crate) fn add(&mut self, alias: &str, added: Added) -> Result<(), Failure> {
        if self.models.contains_key(alias) {
            return Err(taken(alias));
        }
        self.models.insert(alias.to_owned(), added);
        Ok(())
    }
}

impl Host {
    /// Adds a model to the catalogue: its folder or file is looked at, not loaded.
    ///
    /// # Errors
    /// [`Code::InvalidRequest`] for a path that is not absolute or an alias that is not plain, [`Code::AlreadyExists`],
    /// [`Code::InvalidModel`], [`Code::Storage`].
    pub async fn add_model(&self, request: AddModel) -> Result<ModelEntry, Failure> {
        let AddModel { path, alias } = request;
        if !path.is_absolute() {
            // The host's current folder is not the caller's.
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("{} is not an absolute path", path.display()),
            )
            .hint("give the whole path of the model's folder or file")
            .param("path"));
        }
        let alias = match alias {
            Some(alias) => alias,
            None => default_alias(&path)?,
        };
        names::check_alias(&alias)?;
        // Looked at before the folder is inspected, which takes a process; and again as it is added.
        if self.inner.catalogue.read(|catalogue| catalogue.models.contains_key(&alias)) {
            return Err(taken(&alias));
        }
        let found =
            self.inner.supervisor.inspect(&path, None).await.map_err(|failure| failure.param("path"))?;
        let added = Added { path, kind: found.kind, weights_bytes: found.weights_bytes };
        self.inner.catalogue.update(|catalogue| catalogue.add(&alias, added))?;
        self.inner.supervisor.tell(&alias, EventKind::Added { kind: found.kind });
        tracing::info!(model = alias, kind = ?found.kind, "added");
        self.model(&alias).await
    }

    /// Every model of the catalogue, by alias.
    ///
    /// # Errors
    /// None today.
    pub async fn models(&self) -> Result<ModelList, Failure> {
        let catalogue = self.inner.catalogue.get();
        Ok(ModelList {
            models: catalogue.models.into_iter().map(|(alias, added)| self.entry(alias, added)).collect(),
        })
    }

    /// One model of the catalogue.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub async fn model(&self, alias: &str) -> Result<ModelEntry, Failure> {
        Ok(self.entry(alias.to_owned(), self.added(alias)?))
    }

    /// Removes a model from the catalogue, unloading it first. Its files stay where they are.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::Storage`].
    pub async fn remove_model(&self, alias: &str) -> Result<ModelEntry, Failure> {
        self.added(alias)?;
        let turn = self.turn(alias);
        turn.give_up_loads();
        let _turn = turn.take().await;
        let entry = self.model(alias).await?;
        if self.is_in_memory(alias) {
            self.inner.supervisor.unload(alias).await?;
        }
        self.inner.catalogue.update(|catalogue| {
            catalogue.models.remove(alias);
            Ok(())
        })?;
        self.inner.supervisor.tell(alias, EventKind::Removed);
        self.inner.state.forget(alias)?;
        self.forget_model_in_plugins(alias).await?;
        tracing::info!(model = alias, "removed");
        Ok(ModelEntry { state: ModelState::Unloaded, info: None, ..entry })
    }

    /// Refuses work for a model of another kind before one is loaded for it.
    pub(crate) fn expect_kind(&self, alias: &str, wanted: ModelKind) -> Result<(), Failure> {
        let kind = self.added(alias)?.kind;
        if kind == wanted {
            return Ok(());
        }
        let fitting = self.inner.catalogue.read(|catalogue| catalogue.of_kind(wanted));
        let hint = if fitting.is_empty() {
            format!("add a model that {}: `ebb model add PATH`", does(wanted))
        } else {
            format!("models that do: {}", fitting.join(", "))
        };
        let message = format!("'{alias}' {}; this needs a model that {}", does(kind), does(wanted));
        Err(Failure::new(Code::Unsupported, message).hint(hint).param("model"))
    }

    /// What the catalogue holds on a model.
    pub(crate) fn added(&self, alias: &str) -> Result<Added, Failure> {
        self.inner.catalogue.read(|catalogue| catalogue.models.get(alias).cloned()).ok_or_else(|| {
            let known = self.inner.catalogue.read(Catalogue::aliases);
            let hint = if known.is_empty() {
                "no model was added yet: `ebb model add PATH`".to_owned()
            } else {
                format!("there are: {}", known.join(", "))
            };
            Failure::new(Code::NotFound, format!("there is no model '{}'", alias.escape_debug()))
                .hint(hint)
                .param("model")
        })
    }

    fn entry(&self, alias: String, added: Added) -> ModelEntry {
        let (state, reason, info) = self.in_memory(&alias);
        ModelEntry {
            options: self.inner.state.of(&alias).options,
            alias,
            path: added.path,
            kind: added.kind,
            weights_bytes: added.weights_bytes,
            state,
            reason,
            info,
        }
    }
}

fn taken(alias: &str) -> Failure {
    Failure::new(Code::AlreadyExists, format!("there is a model '{alias}' already"))
        .hint("choose another alias with --alias, or remove that model first")
        .param("alias")
}

/// What a model of this kind does.
fn does(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Embeddings => "embeds texts",
        ModelKind::Chat => "generates text",
        ModelKind::Audio => "transcribes speech",
        ModelKind::Tensors => "takes tensors",
    }
}

/// The folder's name, or the file's without its ending; a file named `model` says nothing, so its folder counts.
fn default_alias(path: &Path) -> Result<String, Failure> {
    let folder = |path: &Path| path.parent().and_then(Path::file_name).map(ToOwned::to_owned);
    let is_model_file = path.extension().is_some_and(|ending| ending == "onnx" || ending == "ort");
    let name = match path.file_stem() {
        Some(stem) if is_model_file && stem == "model" => folder(path),
        Some(stem) if is_model_file => Some(stem.to_owned()),
        _ => path.file_name().map(ToOwned::to_owned),
    };
    name.and_then(|name| names::plain_name(&name.to_string_lossy())).ok_or_else(|| {
        Failure::new(Code::InvalidRequest, format!("no alias can be made of {}", path.display()))
            .hint("choose one with --alias")
            .param("alias")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alias_follows_from_the_path() {
        for (path, want) in [
            ("/models/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
            ("/models/all-MiniLM-L6-v2/", "all-MiniLM-L6-v2"),
            ("/models/v1.5", "v1.5"),
            ("/models/Mein Modell", "Mein-Modell"),
            ("/models/tiny/model.onnx", "tiny"),
            ("/models/silero_vad.onnx", "silero_vad"),
        ] {
            assert_eq!(default_alias(Path::new(path)).unwrap(), want, "{path}");
        }
        assert_eq!(default_alias(Path::new("/")).unwrap_err().param.as_deref(), Some("alias"));
        assert_eq!(default_alias(Path::new("/模型")).unwrap_err().code, Code::InvalidRequest);
    }

    #[test]
    fn an_alias_is_taken_once() {
        let added = Added { path: "/m".into(), kind: ModelKind::Embeddings, weights_bytes: 1 };
        let mut catalogue = Catalogue::default();
        catalogue.add("m", added.clone()).unwrap();
        assert_eq!(catalogue.add("m", added).unwrap_err().code, Code::AlreadyExists);
    }
}
