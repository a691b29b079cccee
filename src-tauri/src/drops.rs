//! Files and folders that the user drops on the window, or starts the app with: the page is told, and calls what fits.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use tauri::{AppHandle, Emitter as _, Runtime};

use crate::window::MAIN;

/// More paths than anybody drops on purpose.
const MOST_PATHS: usize = 256;

/// Paths that the app was started with, until the page is there.
#[derive(Debug, Default)]
pub(crate) struct Given(Mutex<Vec<String>>);

impl Given {
    pub(crate) fn new(paths: Vec<String>) -> Self {
        Self(Mutex::new(paths))
    }

    /// Hands them out, once.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Tells the page.
pub(crate) fn tell<R: Runtime>(app: &AppHandle<R>, paths: Vec<String>) {
    if paths.is_empty() {
        return;
    }
    if let Err(error) = app.emit_to(MAIN, "dropped", paths) {
        tracing::warn!(%error, "the page was not told of what was dropped");
    }
}

/// Paths as the page gets them. What is not Unicode cannot be named to any route.
pub(crate) fn named(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().take(MOST_PATHS).filter_map(|path| Some(path.to_str()?.to_owned())).collect()
}

/// The files and folders among a program's arguments, in full: relative ones are so to `folder`.
pub(crate) fn among(arguments: impl IntoIterator<Item = String>, folder: &Path) -> Vec<String> {
    let paths = arguments.into_iter().filter(|one| !one.starts_with('-'));
    let there: Vec<PathBuf> = paths.map(|path| folder.join(path)).filter(|path| path.exists()).collect();
    named(&there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_there_are_named_in_full() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("minilm")).unwrap();
        let full = folder.path().join("minilm").to_str().unwrap().to_owned();
        let arguments = ["minilm", "--flag", "missing", &full].map(str::to_owned);
        assert_eq!(among(arguments, folder.path()), [full.clone(), full.clone()]);
        let given = Given::new(vec![full.clone()]);
        assert_eq!(given.take(), [full]);
        assert!(given.take().is_empty(), "told once");
    }
}
