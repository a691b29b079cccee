//! Small models to begin with, one of each kind.

use std::path::{Path, PathBuf};

use ebb_core::{
    Failure, ModelKind,
    operations::{DemoModel, DemoModelList},
};

use crate::{Host, folders};

/// What is known of a demo model.
struct Known {
    alias: &'static str,
    name: &'static str,
    kind: ModelKind,
    description: &'static str,
    licence: &'static str,
    /// Of the download, about.
    bytes: u64,
    /// What to pull.
    pull: &'static str,
}

/// The models of the demo. Under their aliases `cargo xtask setup` puts them into Ebb's cache.
const KNOWN: [Known; 3] = [
    Known {
        alias: "minilm",
        name: "all-MiniLM-L6-v2",
        kind: ModelKind::Embeddings,
        description: "Turns texts into vectors of 384 numbers, to find those that mean alike",
        licence: "Apache-2.0",
        bytes: 91_000_000,
        pull: "hf:sentence-transformers/all-MiniLM-L6-v2",
    },
    Known {
        alias: "smollm2",
        name: "SmolLM2-135M-Instruct",
        kind: ModelKind::Chat,
        description: "A small chat model in English: quick on any machine, and not to be trusted with facts",
        licence: "Apache-2.0",
        bytes: 145_000_000,
        pull: "hf:HuggingFaceTB/SmolLM2-135M-Instruct:int8",
    },
    Known {
        alias: "moonshine",
        name: "Moonshine tiny",
        kind: ModelKind::Audio,
        description: "Turns English speech into text",
        licence: "MIT",
        bytes: 110_000_000,
        pull: "hf:onnx-community/moonshine-tiny-ONNX",
    },
];

impl Host {
    /// Small models to begin with: where each lies on this machine, or what to pull.
    ///
    /// # Errors
    /// None today.
    pub async fn demo_models(&self) -> Result<DemoModelList, Failure> {
        let catalogue = self.models().await?.models;
        let places = &self.inner.places;
        let models = KNOWN.iter().map(|known| {
            let path = Some(places.cache.join("models").join(known.alias)).filter(|path| is_whole(path));
            let is_it = |at: &Path| path.as_deref() == Some(at) || pulled(known, at, &places.models_folder());
            let added = catalogue.iter().find(|entry| is_it(&entry.path));
            DemoModel {
                alias: known.alias.to_owned(),
                name: known.name.to_owned(),
                kind: known.kind,
                description: known.description.to_owned(),
                bytes: path.as_deref().map_or(known.bytes, folders::size),
                licence: known.licence.to_owned(),
                added: added.map(|entry| entry.alias.clone()),
                path,
                pull: Some(known.pull.to_owned()),
            }
        });
        Ok(DemoModelList { models: models.collect() })
    }
}

/// Whether a folder holds more than an interrupted set-up leaves.
fn is_whole(folder: &Path) -> bool {
    folder.join(".stamp").is_file() || folder.join("model.onnx").is_file()
}

/// Whether a model is this one, pulled.
fn pulled(known: &Known, at: &Path, models: &Path) -> bool {
    let Ok(reference) = known.pull.parse::<ebb_hub::Reference>() else { return false };
    let start = reference.repo().replace('/', "--");
    let name: Option<PathBuf> = at.strip_prefix(models).ok().map(Path::to_owned);
    name.is_some_and(|name| name.to_string_lossy().starts_with(&start))
}

#[cfg(test)]
mod tests {
    use ebb_core::Places;

    use super::*;
    use crate::{Settings, models::Added};

    #[tokio::test]
    async fn a_demo_model_is_found_where_it_lies_and_known_again_once_it_was_added() {
        let home = tempfile::tempdir().unwrap();
        let places = Places { home: home.path().join("data"), cache: home.path().join("cache") };
        let lies = places.cache.join("models").join("minilm");
        std::fs::create_dir_all(&lies).unwrap();
        std::fs::create_dir_all(places.cache.join("models").join("smollm2")).unwrap();
        std::fs::write(lies.join("model.onnx"), [0; 70]).unwrap();
        let settings = Settings { worker_program: Some("/no/worker".into()), ..Settings::default() };
        let host = Host::open(places.clone(), settings).unwrap();
        let [minilm, smollm2, _] = host.demo_models().await.unwrap().models.try_into().unwrap();
        assert_eq!((minilm.path, minilm.bytes, minilm.added), (Some(lies.clone()), 70, None));
        assert_eq!((smollm2.path, smollm2.bytes), (None, 145_000_000), "an empty folder is no model");

        let added = |path: &Path| Added { path: path.to_owned(), kind: ModelKind::Chat, weights_bytes: 1 };
        let pulled = places.models_folder().join("HuggingFaceTB--SmolLM2-135M-Instruct--int8");
        host.inner.catalogue.update(|catalogue| catalogue.add("mine", added(&lies))).unwrap();
        host.inner.catalogue.update(|catalogue| catalogue.add("small", added(&pulled))).unwrap();
        let added: Vec<_> =
            host.demo_models().await.unwrap().models.into_iter().map(|one| one.added).collect();
        assert_eq!(added, [Some("mine".to_owned()), Some("small".to_owned()), None]);
    }

    #[test]
    fn what_is_to_be_pulled_can_be_pulled() {
        for known in KNOWN {
            let reference: ebb_hub::Reference = known.pull.parse().unwrap();
            assert_eq!(reference.to_string(), known.pull);
        }
    }
}
