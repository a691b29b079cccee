//! Plugins that ship with Ebb.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use ebb_core::operations::PluginOrigin;

use super::{
    grants,
    registry::{Component, Kept},
    source::{self, Read},
};

/// What lies in the folder of bundled plugins; looked at when it is first asked for.
#[derive(Debug)]
pub(super) struct Bundled {
    folder: Option<PathBuf>,
    found: OnceLock<BTreeMap<String, (PathBuf, Component)>>,
}

impl Bundled {
    /// Those of a folder; where none is given, `plugins` beside this executable, else what `EBB_PLUGINS` names.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, found: OnceLock::new() }
    }

    /// Their ids.
    pub(super) fn ids(&self) -> Vec<String> {
        self.found().keys().cloned().collect()
    }

    /// What is known of a plugin, given what was kept of it: what the user installed under its id goes before what ships; to
    /// that belong the grants and settings that were kept, as far as this version asks for them.
    pub(super) fn merged(&self, id: &str, kept: Option<Kept>) -> Option<Kept> {
        let bundled = self.found().get(id);
        match (kept, bundled) {
            (Some(kept), _) if kept.origin != PluginOrigin::Bundled => Some(kept),
            (kept, Some((path, component))) => {
                let mut merged = Kept::new(PluginOrigin::Bundled, path.clone(), component.clone());
                if let Some(kept) = kept {
                    merged.grants = grants::still_asked(kept.grants, &component.manifest);
                    merged.settings = kept.settings;
                }
                Some(merged)
            }
            // Ebb does not ship it any more, or not here.
            (_, None) => None,
        }
    }

    fn found(&self) -> &BTreeMap<String, (PathBuf, Component)> {
        self.found.get_or_init(|| {
            let folder = self.folder.clone().or_else(find_folder);
            folder.map(|folder| read(&folder)).unwrap_or_default()
        })
    }
}

fn find_folder() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name("plugins"));
    let named = std::env::var_os("EBB_PLUGINS").filter(|path| !path.is_empty()).map(PathBuf::from);
    beside.filter(|folder| folder.is_dir()).or(named)
}

fn read(folder: &Path) -> BTreeMap<String, (PathBuf, Component)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return BTreeMap::new();
    };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension() == Some(OsStr::new("wasm"))).collect();
    // Of two with one id the same one wins each time.
    files.sort();
    let mut found = BTreeMap::new();
    for path in files {
        match source::read(&path) {
            Ok(Read { component, .. }) => {
                let id = component.manifest.id.clone();
                found.entry(id).or_insert((path, component));
            }
            Err(failure) => {
                tracing::warn!(file = %path.display(), %failure, "a bundled plugin cannot be read");
            }
        }
    }
    found
}
