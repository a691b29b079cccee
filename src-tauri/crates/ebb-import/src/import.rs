use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    Error, bert,
    companions::Companions,
    onnx::{Model, Storage},
    staging::Staging,
    weights::Weights,
};

const MODEL_FILE: &str = "model.onnx";
const WEIGHTS_FILE: &str = "model.safetensors";

/// How an import behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Replace a destination that holds something.
    pub force: bool,
}

/// What an import is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Reading config and headers, checking that everything is there.
    Checking,
    /// Converting and writing weights.
    Weights,
    /// Copying tokenizer and settings.
    Files,
    /// The folder is in its place.
    Done,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checking => "checking",
            Self::Weights => "converting weights",
            Self::Files => "copying files",
            Self::Done => "done",
        })
    }
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// Bytes written so far.
    pub done_bytes: u64,
    /// Bytes to write in all; 0 while checking.
    pub total_bytes: u64,
}

/// What an import made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The new model folder.
    pub folder: PathBuf,
    /// The model's class, as its config names it.
    pub architecture: String,
    /// Values in each vector.
    pub hidden_size: u64,
    /// Layers of the encoder.
    pub layers: u64,
    /// Numbers that the model learned.
    pub parameters: u64,
    /// Bytes of `model.onnx` and its data file.
    pub model_bytes: u64,
}

/// Makes an ONNX model folder at `dest` from whatever `src` is, if that can be imported.
///
/// The folder appears whole or not at all. `progress` is called a few hundred times at most.
pub fn import(
    src: &Path,
    dest: &Path,
    options: Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, Error> {
    recognise(src)?;
    import_bert(src, dest, options, progress)
}

/// Makes an ONNX embedding model from a folder of the BERT family with safetensors weights.
pub fn import_bert(
    src: &Path,
    dest: &Path,
    options: Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, Error> {
    progress(Progress { stage: Stage::Checking, done_bytes: 0, total_bytes: 0 });
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
    let total_bytes = weights_bytes + companions.size_bytes;
    let mut done_bytes = 0;

    let storage = Storage::for_weights(weights_bytes);
    let model_bytes = model.write(&staging.folder().join(MODEL_FILE), storage, |index, weight, sink| {
        progress(Progress { stage: Stage::Weights, done_bytes, total_bytes });
        done_bytes += weight.size_bytes;
        sources.fill(index, &mut weights, sink)
    })?;
    companions.copy_to(staging.folder(), |bytes| {
        progress(Progress { stage: Stage::Files, done_bytes, total_bytes });
        done_bytes += bytes;
    })?;
    let folder = staging.publish()?;
    progress(Progress { stage: Stage::Done, done_bytes: total_bytes, total_bytes });
    tracing::info!(folder = %folder.display(), model_bytes, "model imported");

    Ok(Imported {
        folder,
        architecture: config.architecture().to_owned(),
        hidden_size: config.hidden_size as u64,
        layers: config.num_hidden_layers as u64,
        parameters: weights_bytes / 4,
        model_bytes,
    })
}

/// Refuses sources of other kinds by their name.
fn recognise(src: &Path) -> Result<(), Error> {
    let unsupported = |kind| Err(Error::UnsupportedSource { path: src.to_owned(), kind });
    if has_extension(src, "gguf") {
        return unsupported("a GGUF file");
    }
    if !src.is_dir() {
        return Err(Error::NotAFolder(src.to_owned()));
    }
    if src.join("config.json").is_file() && src.join(WEIGHTS_FILE).is_file()
        || src.join("modules.json").is_file()
    {
        return Ok(());
    }
    let holds = |extension| {
        let entries = src.read_dir().map_err(|source| Error::io(src, source))?;
        Ok(entries.flatten().any(|entry| has_extension(&entry.path(), extension)))
    };
    if holds("gguf")? {
        return unsupported("a folder of GGUF files");
    }
    if holds("onnx")? || src.join("onnx").join(MODEL_FILE).is_file() {
        return Err(Error::AlreadyOnnx(src.to_owned()));
    }
    Ok(())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
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
