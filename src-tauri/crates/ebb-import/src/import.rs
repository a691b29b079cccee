mod bert;
mod gguf;
mod steps;

use std::{
    fmt,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use ebb_core::ModelKind;
use serde::{Deserialize, Serialize};

pub use bert::import_bert;
pub use gguf::import_gguf;

use crate::{Error, gguf::Gguf};

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
    /// Reading the model back and comparing it with what was written.
    Verifying,
    /// Writing tokenizer and settings.
    Files,
    /// The folder is in its place.
    Done,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checking => "checking",
            Self::Weights => "converting weights",
            Self::Verifying => "checking the result",
            Self::Files => "writing files",
            Self::Done => "done",
        })
    }
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// Bytes written and read back so far.
    pub done_bytes: u64,
    /// Bytes to write and read back in all; 0 while checking.
    pub total_bytes: u64,
}

/// Hears how far an import is, and ends it with [`ControlFlow::Break`]: nothing is left of it then.
pub type OnProgress<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// What an import made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The new model folder.
    pub folder: PathBuf,
    /// What the model is for.
    pub kind: ModelKind,
    /// The model's class, as its config names it.
    pub architecture: String,
    /// Values of a token between the layers; of a vector that an embedding model gives.
    pub hidden_size: u64,
    /// Layers.
    pub layers: u64,
    /// Numbers that the model learned.
    pub parameters: u64,
    /// Bytes of `model.onnx` and its data file.
    pub model_bytes: u64,
    /// In what it differs from its source, for people.
    pub notes: Vec<String>,
}

/// Makes an ONNX model folder at `dest` from whatever `src` is, if that can be imported.
///
/// The folder appears whole or not at all. `progress` is called a few times for each weight.
pub fn import(
    src: &Path,
    dest: &Path,
    options: Options,
    progress: &mut OnProgress<'_>,
) -> Result<Imported, Error> {
    if src.is_file() && (Gguf::is_one(src) || has_extension(src, "gguf")) {
        return import_gguf(src, dest, options, progress);
    }
    recognise(src)?;
    import_bert(src, dest, options, progress)
}

/// Refuses sources of other kinds by their name.
fn recognise(src: &Path) -> Result<(), Error> {
    if !src.exists() {
        return Err(Error::Nothing(src.to_owned()));
    }
    if !src.is_dir() {
        return Err(Error::NotAFolder(src.to_owned()));
    }
    if src.join("config.json").is_file() && src.join(WEIGHTS_FILE).is_file() {
        return Ok(());
    }
    let holds = |extension| {
        let entries = src.read_dir().map_err(|source| Error::io(src, source))?;
        Ok(entries.flatten().any(|entry| has_extension(&entry.path(), extension)))
    };
    let is_onnx = holds("onnx")? || holds("ort")? || src.join("onnx").join(MODEL_FILE).is_file();
    // What is ONNX already may still have the list of modules of what it was made of.
    if src.join("modules.json").is_file() && !is_onnx {
        return Ok(());
    }
    if is_onnx {
        return Err(Error::AlreadyOnnx(src.to_owned()));
    }
    if src.join("config.json").is_file() || holds("safetensors")? {
        // What it lacks is named by whoever needs it.
        return Ok(());
    }
    if holds("gguf")? {
        Err(Error::FolderOfGguf(src.to_owned()))
    } else {
        Err(Error::NoModel(src.to_owned()))
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
