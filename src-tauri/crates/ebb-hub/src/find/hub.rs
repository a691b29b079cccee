//! The cache of the Hub's programs: `models--ORG--NAME/{refs,blobs,snapshots/COMMIT}`, the snapshots made of links.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{FoundModel, Source, folder, named, walk::Walk};

/// Folders of a repository are rarely nested deeper.
const DEPTH: usize = 4;

pub(super) fn models(walk: &mut Walk, root: &Path) -> Vec<FoundModel> {
    let mut found = Vec::new();
    for repo in walk.list(root) {
        let Some(name) = repo.name.strip_prefix("models--") else { continue };
        let name = name.replacen("--", "/", 1);
        let Some(snapshot) = snapshot(walk, &repo.path) else { continue };
        let held = folder::models(walk, &snapshot, DEPTH);
        found.extend(held.into_iter().map(|held| named(Source::HuggingFace, &name, &snapshot, held)));
    }
    found
}

/// The snapshot of the main branch, else the newest.
fn snapshot(walk: &mut Walk, repo: &Path) -> Option<PathBuf> {
    let snapshots = walk.list(&repo.join("snapshots"));
    let main = fs::read_to_string(repo.join("refs/main")).unwrap_or_default();
    let modified =
        |path: &Path| fs::metadata(path).and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    snapshots
        .into_iter()
        .filter(|entry| entry.is_folder)
        .max_by_key(|entry| (entry.name == main.trim(), modified(&entry.path)))
        .map(|entry| entry.path)
}
