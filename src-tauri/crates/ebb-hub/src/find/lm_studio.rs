//! LM Studio's folders: `PUBLISHER/MODEL/*.gguf`.

use std::path::Path;

use super::{FoundModel, Source, folder, named, walk::Walk};

const DEPTH: usize = 2;

pub(super) fn models(walk: &mut Walk, root: &Path) -> Vec<FoundModel> {
    let mut found = Vec::new();
    for publisher in walk.list(root).into_iter().filter(|entry| entry.is_folder) {
        for model in walk.list(&publisher.path).into_iter().filter(|entry| entry.is_folder) {
            let name = format!("{}/{}", publisher.name, model.name);
            let held = folder::models(walk, &model.path, DEPTH);
            found.extend(held.into_iter().map(|held| named(Source::LmStudio, &name, &model.path, held)));
        }
    }
    found
}
