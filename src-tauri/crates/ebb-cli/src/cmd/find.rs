//! `ebb model find`

use std::path::Path;

use ebb_core::{Places, operations::ModelEntry};
use ebb_hub::{Caches, FoundModel, Source, find};

use super::import::quoted;
use crate::{
    error::Result,
    host,
    render::{self, Offer, Offers, Out},
};

pub(super) async fn run(places: &Places, out: &mut Out) -> Result {
    let known = host::connect(places).await?.models().await?.models;
    let found =
        tokio::task::spawn_blocking(|| find(&Caches::from_env())).await.map_err(std::io::Error::from)?;
    let models =
        found.models.into_iter().map(|model| offer(model, &known, &places.models_folder())).collect();
    out.show(&Offers { models, skipped: found.skipped }, render::offers)
}

/// A model with what makes it usable, as it can be pasted; nothing where it is usable already, or cannot be used.
fn offer(model: FoundModel, known: &[ModelEntry], models: &Path) -> Offer {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let place = real(&model.path);
    let added = known.iter().find(|entry| real(&entry.path) == place).map(|entry| entry.alias.clone());
    let how = (added.is_none() && model.unusable.is_none()).then(|| {
        let (path, alias) = (quoted(&model.path.display().to_string()), alias_of(&model));
        if model.kind.needs_import() {
            format!("ebb model import {path} {}", quoted(&models.join(alias).display().to_string()))
        } else {
            format!("ebb model add {path} --alias {alias}")
        }
    });
    Offer { model, how, already_added: added }
}

/// A short name: that of the model, with what tells it from others beside it.
fn alias_of(model: &FoundModel) -> String {
    let (name, rest) = model.name.split_once(':').unwrap_or((&model.name, ""));
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    // The name of a GGUF file says it all; Ollama's have none.
    let whole = model.source != Source::Ollama && model.path.extension().is_some_and(|end| end == "gguf");
    ebb_api::alias_of(&match rest {
        "" | "latest" => last(name),
        rest if whole => last(rest),
        rest => format!("{}-{rest}", last(name)),
    })
}

#[cfg(test)]
mod tests {
    use ebb_core::{LoadOptions, ModelKind, operations::ModelState};
    use ebb_hub::Format;

    use super::*;

    fn found(source: Source, name: &str, path: &str, kind: Format) -> FoundModel {
        FoundModel { source, name: name.into(), path: path.into(), kind, bytes: 1, unusable: None }
    }

    #[test]
    fn a_model_comes_with_the_command_that_makes_it_usable() {
        for (model, want) in [
            (
                found(Source::HuggingFace, "org/All-MiniLM", "/hub/snapshots/0a1b", Format::Onnx),
                "ebb model add /hub/snapshots/0a1b --alias all-minilm",
            ),
            (
                found(Source::HuggingFace, "org/Phi:cpu/int4", "/hub/snapshots/0a1b/cpu/int4", Format::Genai),
                "ebb model add /hub/snapshots/0a1b/cpu/int4 --alias phi-cpu-int4",
            ),
            (
                found(Source::LmStudio, "pub/M-GGUF:M-Q8_0", "/lm/pub/M-GGUF/M-Q8_0.gguf", Format::Gguf),
                "ebb model import /lm/pub/M-GGUF/M-Q8_0.gguf /models/m-q8_0",
            ),
            (
                found(Source::Ollama, "llama3.2:latest", "/ollama/blobs/sha256-aa", Format::Gguf),
                "ebb model import /ollama/blobs/sha256-aa /models/llama3.2",
            ),
            (
                found(Source::Ollama, "me/Qwen:0.5b q4", "/my blobs/sha256-aa", Format::Gguf),
                "ebb model import '/my blobs/sha256-aa' /models/qwen-0.5b-q4",
            ),
        ] {
            let offer = offer(model, &[], Path::new("/models"));
            assert_eq!((offer.how.as_deref(), offer.already_added), (Some(want), None));
        }
    }

    #[test]
    fn what_is_in_the_catalogue_is_not_offered() {
        let known = ModelEntry {
            alias: "mine".into(),
            path: "/hub/m".into(),
            kind: ModelKind::Embeddings,
            weights_bytes: 1,
            state: ModelState::Unloaded,
            reason: None,
            info: None,
            options: LoadOptions::default(),
        };
        let model = found(Source::HuggingFace, "org/m", "/hub/m", Format::Onnx);
        let offer = offer(model, &[known], Path::new("/models"));
        assert_eq!((offer.how, offer.already_added.as_deref()), (None, Some("mine")));
    }
}
