//! What models a folder holds, told from the names in it.

use std::path::{Path, PathBuf};

use super::walk::{Entry, Walk};
use crate::{
    Format,
    format::{IMPORTED_TYPES, ends_in, is_data_of, is_onnx, is_projector},
};

/// A model in a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) path: PathBuf,
    pub(super) kind: Format,
    pub(super) bytes: u64,
    pub(super) unusable: Option<String>,
}

/// The models in a folder and in those below it, `depth` levels down.
pub(super) fn models(walk: &mut Walk, folder: &Path, depth: usize) -> Vec<Held> {
    let entries = walk.list(folder);
    let (folders, files): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| entry.is_folder);
    let named = |name: &str| files.iter().any(|file| file.name == name);
    let held = |kind, bytes| Held { path: folder.to_owned(), kind, bytes, unusable: None };
    if named("genai_config.json") && files.iter().any(|file| is_onnx(&file.name)) {
        return vec![held(Format::Genai, files.iter().map(|file| file.bytes).sum())];
    }
    let mut models = Vec::new();
    // The usual place for ONNX files beside other weights.
    let below = folders.iter().find(|entry| entry.name == "onnx").map(|entry| walk.list(&entry.path));
    let onnx_bytes = [&files, &below.unwrap_or_default()].into_iter().map(|files| onnx_bytes(files)).sum();
    if onnx_bytes > 0 {
        models.push(held(Format::Onnx, onnx_bytes));
    } else if let (Some(weights), true) =
        (files.iter().find(|file| file.name == "model.safetensors"), named("config.json"))
    {
        let unusable = not_imported(walk, &folder.join("config.json"));
        models.push(Held { unusable, ..held(Format::Safetensors, weights.bytes) });
    }
    for file in files.iter().filter(|file| ends_in(&file.name, "gguf") && !is_projector(&file.name)) {
        if walk.is_gguf(&file.path) {
            let (path, bytes) = (file.path.clone(), file.bytes);
            models.push(Held { path, kind: Format::Gguf, bytes, unusable: None });
        }
    }
    if depth > 0 {
        // What hides is no model: `.cache`, `.locks`.
        for below in folders.iter().filter(|below| below.name != "onnx" && !below.name.starts_with('.')) {
            models.extend(self::models(walk, &below.path, depth - 1));
        }
    }
    models
}

/// Size of the ONNX models among these files, their data included.
fn onnx_bytes(files: &[Entry]) -> u64 {
    let models: Vec<&str> =
        files.iter().map(|file| file.name.as_str()).filter(|name| is_onnx(name)).collect();
    let counts = |name: &str| is_onnx(name) || models.iter().any(|model| is_data_of(name, model));
    files.iter().filter(|file| counts(&file.name)).map(|file| file.bytes).sum()
}

/// Why weights in safetensors cannot be imported; `None` where they can.
fn not_imported(walk: &mut Walk, config: &Path) -> Option<String> {
    let config = walk.json(config)?;
    let kind = config["model_type"].as_str().unwrap_or("unknown");
    let imported = IMPORTED_TYPES.contains(&kind);
    (!imported).then(|| format!("safetensors of the kind '{}' are not imported", kind.escape_debug()))
}
