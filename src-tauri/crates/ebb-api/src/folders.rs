//! How large Ebb's folders are.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ebb_core::{Places, operations::FolderSize};

/// Files that are counted of a folder. A home that holds more is none of Ebb's making, and nobody waits for it.
const MOST_FILES: usize = 200_000;

/// Ebb's folders with the size of what is in them. It reads folders, so it takes a while where there are many files.
pub(crate) fn sizes(places: &Places) -> Vec<FolderSize> {
    let run = places.log_file().parent().map_or_else(|| places.home.join("run"), Path::to_owned);
    let folders = [
        ("models", places.models_folder()),
        ("plugins", places.plugins_folder()),
        ("profiles", places.profiles_folder()),
        ("runtimes", places.home.join("runtimes")),
        ("logs", run),
        ("cache", places.cache.clone()),
    ];
    folders
        .into_iter()
        .map(|(name, path)| FolderSize { name: name.to_owned(), bytes: size(&path), path })
        .collect()
}

/// Bytes of the files below a folder. Links are not followed: what they point to lies elsewhere.
pub(crate) fn size(folder: &Path) -> u64 {
    let (mut bytes, mut counted) = (0_u64, 0);
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            counted += 1;
            if counted > MOST_FILES {
                return bytes;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) if meta.is_file() => bytes = bytes.saturating_add(meta.len()),
                _ => {}
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let places = Places { home: home.path().to_owned(), cache: home.path().join("cache") };
        fs::create_dir_all(places.models_folder().join("a").join("b")).unwrap();
        fs::write(places.models_folder().join("a").join("b").join("model.onnx"), [0; 70]).unwrap();
        fs::write(places.models_folder().join("x"), [0; 7]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(home.path(), places.models_folder().join("round")).unwrap();
        let sizes = sizes(&places);
        let named: Vec<(&str, u64)> = sizes.iter().map(|one| (one.name.as_str(), one.bytes)).collect();
        assert_eq!(&named[..2], [("models", 77), ("plugins", 0)]);
    }
}
