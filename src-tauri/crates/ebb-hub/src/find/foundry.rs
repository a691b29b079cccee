//! Foundry Local's cache: `PUBLISHER/MODEL/VERSION/genai_config.json`, with the model's name in a JSON file beside it.

use std::path::Path;

use super::{FoundModel, Source, folder, walk::Walk};
use crate::Format;

const DEPTH: usize = 6;
/// Foundry's own description of a model.
const DESCRIPTION: &str = "inference_model.json";

pub(super) fn models(walk: &mut Walk, root: &Path) -> Vec<FoundModel> {
    let held = folder::models(walk, root, DEPTH);
    let held = held.into_iter().filter(|held| matches!(held.kind, Format::Genai | Format::Onnx));
    let mut found = Vec::new();
    for folder::Held { path, kind, bytes, unusable } in held {
        let name = name(walk, root, &path);
        found.push(FoundModel { source: Source::FoundryLocal, name, path, kind, bytes, unusable });
    }
    found
}

/// As the description says; where there is none, the folder below the publisher's.
fn name(walk: &mut Walk, root: &Path, model: &Path) -> String {
    let places = model.ancestors().take_while(|place| *place != root).take(3);
    for place in places {
        let file = place.join(DESCRIPTION);
        if file.is_file()
            && let Some(name) = walk.json(&file).as_ref().and_then(|json| json["Name"].as_str())
            && !name.is_empty()
        {
            return name.chars().filter(|c| !c.is_control()).collect();
        }
    }
    let parts: Vec<_> = model.strip_prefix(root).unwrap_or(model).iter().collect();
    let part = parts.get(1).or(parts.first());
    part.map_or_else(|| "model".to_owned(), |part| part.to_string_lossy().into_owned())
}
