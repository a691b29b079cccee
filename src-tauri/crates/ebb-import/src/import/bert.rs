use std::path::{Path, PathBuf};

use ebb_core::ModelKind;

use super::{Imported, MODEL_FILE, OnProgress, Options, Stage, WEIGHTS_FILE, steps::Steps};
use crate::{Error, bert, companions::Companions, onnx::Model, staging::Staging, weights::Weights};

/// Makes an ONNX embedding model from a folder of the BERT family with safetensors weights.
pub fn import_bert(
    src: &Path,
    dest: &Path,
    options: Options,
    progress: &mut OnProgress<'_>,
) -> Result<Imported, Error> {
    let mut steps = Steps::new(progress);
    steps.enter(Stage::Checking)?;
    if !src.is_dir() {
        return Err(Error::NotAFolder(src.to_owned()));
    }
    let companions = Companions::find(src)?;
    let folder = &companions.transformer;
    let config = bert::Config::read(&require(folder, "config.json", "it says what the model is")?)?;
    require(folder, "tokenizer.json", "save the tokenizer in its fast form, which every current model has")?;
    let mut weights = Weights::open(&require_weights(folder)?)?;
    let (graph, sources) = bert::build(&config, &weights)?;
    let model = Model::new(graph, bert::OPSET);
    let weights_bytes = model.weights_bytes();
    let staging = Staging::beside(dest, src, options.force)?;
    steps.plan(weights_bytes, companions.size_bytes);
    staging.check_space(weights_bytes + companions.size_bytes)?;

    let model_bytes = steps.write_model(model, &staging.folder().join(MODEL_FILE), |index, sink| {
        sources.fill(index, &mut weights, sink)
    })?;
    companions.copy_to(staging.folder(), |bytes| steps.advance(Stage::Files, bytes))?;
    let folder = staging.publish()?;
    steps.finish();
    tracing::info!(folder = %folder.display(), model_bytes, "model imported");

    Ok(Imported {
        folder,
        kind: ModelKind::Embeddings,
        architecture: config.architecture().to_owned(),
        hidden_size: config.hidden_size as u64,
        layers: config.num_hidden_layers as u64,
        parameters: weights_bytes / 4,
        model_bytes,
        notes: Vec::new(),
    })
}

fn require(folder: &Path, file: &'static str, hint: &'static str) -> Result<PathBuf, Error> {
    let path = folder.join(file);
    if path.is_file() { Ok(path) } else { Err(Error::MissingFile { folder: folder.to_owned(), file, hint }) }
}

fn require_weights(folder: &Path) -> Result<PathBuf, Error> {
    let hint = if folder.join("model.safetensors.index.json").is_file() {
        "weights in several parts are not supported; save the model as one file"
    } else if folder.join("pytorch_model.bin").is_file() {
        "weights in pytorch_model.bin are not supported; save the model as safetensors"
    } else {
        "it holds the weights; check that the download is complete"
    };
    require(folder, WEIGHTS_FILE, hint)
}
