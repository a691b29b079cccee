//! Model folders: what a folder or file holds, told from names, configuration and a look at the model file's frame. ONNX
//! Runtime is not needed for it, so that a host which does not link it can ask as well.

mod attention;
mod external;
mod variant;

use std::path::{Path, PathBuf};

use ebb_core::{Inspection, ModelKind};
use serde_json::Value;

use crate::{Error, transcribe::Parts};

pub(crate) use attention::cache_in_place;

/// Files that say that a folder's model takes texts. A tokenizer alone does; so does any trace of sentence-transformers.
const TEXT_MARKS: [&str; 7] = [
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "sentencepiece.bpe.model",
];

/// Looks at a model folder (sentence-transformers, Optimum, onnxruntime-genai) or at a bare `.onnx` or `.ort` file.
/// `variant` chooses among several files of a folder, by a part of the name: `int8`, `q4`, `fp16`, or the whole of it.
///
/// # Errors
/// Where there is no model, where a file that belongs to it is missing, where the file is not an ONNX model or is cut short,
/// and where `variant` fits no file or several.
pub fn inspect(path: &Path, variant: Option<&str>) -> Result<Inspection, Error> {
    let about = fs_err::metadata(path).map_err(|error| {
        Error::invalid_model(path, error.to_string()).hint("name a model folder, or an .onnx or .ort file")
    })?;
    let variant = variant.map(str::trim).filter(|variant| !variant.is_empty());
    if about.is_file() {
        return inspect_file(path, variant);
    }
    if path.join("genai_config.json").is_file() {
        return inspect_genai(path);
    }
    let files = model_files(path)?;
    if let Some(found) = inspect_encoder_decoder(path, &files, variant)? {
        return Ok(found);
    }
    let file = variant::choose(path, &files, variant)?.to_owned();
    let weights_bytes = external::weights_bytes(&file)?;
    let kind = if attention::takes_cache(&file)? { ModelKind::Chat } else { kind_of(path) };
    Ok(Inspection { kind, variants: variant::names(&files), file, weights_bytes })
}

/// A file of the folder's configuration as JSON; `None` where there is no such file.
///
/// # Errors
/// Where it is not JSON.
pub(crate) fn read_json(file: &Path) -> Result<Option<Value>, Error> {
    if !file.is_file() {
        return Ok(None);
    }
    let bytes = fs_err::read(file).map_err(|error| Error::invalid_model(file, error.to_string()))?;
    let value = serde_json::from_slice(&bytes)
        .map_err(|error| Error::invalid_model(file, format!("it is not JSON: {error}")))?;
    Ok(Some(value))
}

fn inspect_file(file: &Path, variant: Option<&str>) -> Result<Inspection, Error> {
    if !is_model_file(file) {
        return Err(Error::invalid_model(file, "it is neither an .onnx nor an .ort file")
            .hint("name a model folder, or an .onnx or .ort file"));
    }
    let file = file.to_owned();
    let files = [file];
    let file = variant::choose(&files[0], &files, variant)?.to_owned();
    let weights_bytes = external::weights_bytes(&file)?;
    Ok(Inspection { kind: ModelKind::Tensors, variants: variant::names(&files), file, weights_bytes })
}

/// onnxruntime-genai names the files of its model in `genai_config.json`.
fn inspect_genai(folder: &Path) -> Result<Inspection, Error> {
    let file = folder.join("genai_config.json");
    let config = read_json(&file)?.unwrap_or_default();
    let model = &config["model"];
    let parts: Vec<PathBuf> = ["decoder", "encoder", "embedding", "vision", "speech"]
        .iter()
        .filter_map(|part| model[part]["filename"].as_str())
        .map(|name| folder.join(name))
        .collect();
    if parts.is_empty() {
        return Err(Error::invalid_model(&file, "it names no model file (model.decoder.filename)"));
    }
    let kind = if model["type"] == "whisper" { ModelKind::Audio } else { ModelKind::Chat };
    of_parts(kind, &parts, &parts)
}

/// Optimum's layout of models of several parts, and of decoders that keep a cache.
fn inspect_encoder_decoder(
    folder: &Path,
    files: &[PathBuf],
    variant: Option<&str>,
) -> Result<Option<Inspection>, Error> {
    let is_decoder = |file: &&PathBuf| variant::stem(file).starts_with("decoder_model");
    let decoders: Vec<PathBuf> = files.iter().filter(is_decoder).cloned().collect();
    let Some(decoder) = decoder(folder, &decoders, variant)? else { return Ok(None) };
    let encoder = files.iter().find(|file| variant::stem(file).starts_with("encoder_model"));
    if encoder.is_some() && hears(folder) {
        let parts = Parts::find(folder, decoder)?;
        return of_parts(ModelKind::Audio, &parts.files(), &decoders).map(Some);
    }
    let parts: Vec<PathBuf> = [decoder].into_iter().chain(encoder).cloned().collect();
    of_parts(ModelKind::Chat, &parts, files).map(Some)
}

/// The decoder that is meant: that of the variant, by the end of its name or the whole of it, else the one without any.
fn decoder<'a>(
    folder: &Path,
    decoders: &'a [PathBuf],
    variant: Option<&str>,
) -> Result<Option<&'a PathBuf>, Error> {
    let stems = ["decoder_model_merged", "decoder_model"];
    let named = |name: &str| decoders.iter().find(|file| variant::stem(file) == name);
    let plain = stems.iter().find_map(|stem| named(stem));
    let Some(variant) = variant else { return Ok(plain) };
    let meant = stems.iter().find_map(|stem| named(&format!("{stem}_{variant}"))).or_else(|| named(variant));
    if meant.is_none() && plain.is_some() {
        let names = variant::names(decoders).join(", ");
        let message = format!("variant '{variant}' fits no decoder of {}: {names}", folder.display());
        return Err(Error::unknown_variant(message));
    }
    Ok(meant)
}

fn of_parts(kind: ModelKind, parts: &[PathBuf], files: &[PathBuf]) -> Result<Inspection, Error> {
    let weights_bytes = parts.iter().map(|part| external::weights_bytes(part)).sum::<Result<u64, Error>>()?;
    Ok(Inspection { kind, file: parts[0].clone(), variants: variant::names(files), weights_bytes })
}

/// Whether a model of encoder and decoder takes speech. One without any configuration does: it is how Moonshine comes.
fn hears(folder: &Path) -> bool {
    let Ok(Some(config)) = read_json(&folder.join("config.json")) else { return true };
    let kind = config["model_type"].as_str().unwrap_or_default();
    ["whisper", "moonshine", "speech"].iter().any(|word| kind.contains(word))
        || folder.join("preprocessor_config.json").is_file()
}

fn kind_of(folder: &Path) -> ModelKind {
    let config = read_json(&folder.join("config.json")).ok().flatten();
    let architecture = config.as_ref().and_then(|config| config["architectures"][0].as_str());
    if architecture.is_some_and(|name| name.ends_with("ForCausalLM")) {
        ModelKind::Chat
    } else if TEXT_MARKS.iter().any(|mark| folder.join(mark).is_file() || folder.join("onnx").join(mark).is_file())
        // A folder of Optimum's that lost its tokenizer: better to miss that than to take it for something else.
        || (config.is_some() && !folder.join("preprocessor_config.json").is_file())
    {
        ModelKind::Embeddings
    } else {
        ModelKind::Tensors
    }
}

/// The model files of a folder, by name: its own, or those of its subfolder `onnx`.
fn model_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut safetensors = false;
    for place in [folder.to_owned(), folder.join("onnx")] {
        if !place.is_dir() {
            continue;
        }
        let unreadable = |error: std::io::Error| Error::invalid_model(&place, error.to_string());
        let mut files = Vec::new();
        for entry in fs_err::read_dir(&place).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            safetensors |= file.extension().is_some_and(|ending| ending == "safetensors");
            if is_model_file(&file) {
                files.push(file);
            }
        }
        if !files.is_empty() {
            files.sort();
            return Ok(files);
        }
    }
    let looked = "looked for model.onnx, onnx/model.onnx, genai_config.json and any other .onnx or .ort file";
    let error = Error::invalid_model(folder, format!("there is no ONNX model in this folder: {looked}"));
    Err(if safetensors {
        error.hint("it holds safetensors weights: `ebb model import` makes an ONNX model of them")
    } else {
        error.hint("name the folder that holds the model file itself")
    })
}

/// By name only: a dangling link is found here too, and told about when it is read. macOS's `._` twins are no models.
fn is_model_file(file: &Path) -> bool {
    let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
    let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && ending.is_some_and(|ending| ending == "onnx" || ending == "ort") && !file.is_dir()
}

#[cfg(test)]
mod tests;
