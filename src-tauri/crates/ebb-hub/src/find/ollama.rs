//! Ollama's store: `manifests/HOST/OWNER/MODEL/TAG` are JSON files that name blobs by their hash.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{FoundModel, Source, walk::Walk};
use crate::Format;

/// The layer that holds the weights.
const WEIGHTS: &str = "application/vnd.ollama.image.model";
/// The owner of Ollama's own models, whom nobody names.
const LIBRARY: &str = "library";

pub(super) fn models(walk: &mut Walk, root: &Path) -> Vec<FoundModel> {
    let mut found = Vec::new();
    for host in walk.list(&root.join("manifests")) {
        for owner in walk.list(&host.path) {
            for model in walk.list(&owner.path) {
                for tag in walk.list(&model.path).into_iter().filter(|tag| !tag.is_folder) {
                    let name = name(&host.name, &owner.name, &model.name, &tag.name);
                    found.extend(of_manifest(walk, root, name, &tag.path));
                }
            }
        }
    }
    found
}

/// As one types it to Ollama: its own registry and its own models go without saying.
fn name(host: &str, owner: &str, model: &str, tag: &str) -> String {
    match (host.starts_with("registry."), owner) {
        (true, LIBRARY) => format!("{model}:{tag}"),
        (true, _) => format!("{owner}/{model}:{tag}"),
        (false, _) => format!("{host}/{owner}/{model}:{tag}"),
    }
}

fn of_manifest(walk: &mut Walk, root: &Path, name: String, manifest: &Path) -> Option<FoundModel> {
    let json = walk.json(manifest)?;
    let path = match weights(&json) {
        Some(digest) => root.join("blobs").join(blob_name(digest)?),
        None => {
            walk.skip(manifest, "it names no weights");
            return None;
        }
    };
    let bytes = match std::fs::metadata(&path) {
        Ok(about) => about.len(),
        Err(error) => {
            walk.skip(&path, error.to_string());
            return None;
        }
    };
    walk.is_gguf(&path).then_some(FoundModel {
        source: Source::Ollama,
        name,
        path,
        kind: Format::Gguf,
        bytes,
        unusable: None,
    })
}

fn weights(manifest: &Value) -> Option<&str> {
    let layers = manifest.get("layers")?.as_array()?;
    let layer = layers.iter().find(|layer| layer["mediaType"] == WEIGHTS)?;
    layer["digest"].as_str()
}

/// `sha256:…` as the blob's file is called; `None` for anything that is no such hash, a path say.
fn blob_name(digest: &str) -> Option<PathBuf> {
    let hex = digest.strip_prefix("sha256:")?;
    let is_hash = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| format!("sha256-{hex}").into())
}
