//! Libraries of ONNX Runtime that lie in Ebb's folders: found by their names, not loaded.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// How deep libraries lie below a folder of runtimes: `onnxruntime-1.31.1/lib/libonnxruntime.so.1.31.1`, or as wheels lay
/// them out.
const DEPTH: u32 = 3;

/// Files that are looked at in all: a folder of runtimes may be anything that somebody put there.
const MOST_FILES: usize = 10_000;

/// A library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    pub(crate) path: PathBuf,
    pub(crate) version: Option<String>,
}

/// Every library below these folders, each once, by path.
pub(crate) fn libraries(folders: &[PathBuf]) -> Vec<Library> {
    let (mut found, mut left) = (Vec::new(), MOST_FILES);
    for folder in folders {
        collect(folder, DEPTH, &mut left, &mut found);
    }
    found.sort();
    // A link to a library is not another one.
    found.dedup_by_key(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    found.into_iter().map(|path| Library { version: version(&path), path }).collect()
}

fn collect(folder: &Path, depth: u32, left: &mut usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, left, found);
            }
        } else if is_library(&entry.file_name().to_string_lossy()) {
            found.push(path);
        }
    }
}

/// Whether a file is ONNX Runtime itself, not one of its providers.
fn is_library(name: &str) -> bool {
    let known = |stem: &str, endings: &[&str]| {
        name.strip_prefix(stem).is_some_and(|rest| {
            endings.iter().any(|ending| rest.starts_with(ending))
                && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
        })
    };
    known("libonnxruntime", &[".so", ".dylib", "."]) || name.eq_ignore_ascii_case("onnxruntime.dll")
}

/// The version that the file's name says, else that of a folder around it.
fn version(path: &Path) -> Option<String> {
    path.ancestors().take(DEPTH as usize + 1).find_map(|part| numbers(&part.file_name()?.to_string_lossy()))
}

/// Three numbers with dots between them.
fn numbers(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.map(|word| word.trim_matches('.')).find(|word| word.split('.').count() == 3).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        for (name, is_one) in [
            ("libonnxruntime.so.1.31.1", true),
            ("libonnxruntime.so", true),
            ("libonnxruntime.1.31.1.dylib", true),
            ("onnxruntime.dll", true),
            ("libonnxruntime_providers_cuda.so", false),
            ("libonnxruntime.so.1.31.1.part", true),
            ("onnxruntime_providers_shared.dll", false),
            ("README.md", false),
        ] {
            assert_eq!(is_library(name), is_one, "{name}");
        }
    }

    #[test]
    fn what_lies_in_the_folders_is_found_once_with_its_version() {
        let home = tempfile::tempdir().unwrap();
        let first = home.path().join("onnxruntime-1.31.1");
        let second = home.path().join("onnxruntime-gpu-1.30.0").join("onnxruntime").join("capi");
        let third = home.path().join("mine");
        for (folder, file) in [
            (&first, "libonnxruntime.so.1.31.1"),
            (&second, "onnxruntime.dll"),
            (&third, "libonnxruntime.so"),
        ] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(file), "").unwrap();
        }
        fs::write(third.join("libonnxruntime_providers_cuda.so"), "").unwrap();
        let nowhere = home.path().join("nowhere");
        let found = libraries(&[home.path().to_owned(), nowhere, home.path().to_owned()]);
        let versions: Vec<Option<&str>> = found.iter().map(|library| library.version.as_deref()).collect();
        assert_eq!(versions, [None, Some("1.31.1"), Some("1.30.0")], "{found:?}");
    }
}
