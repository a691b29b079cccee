//! Reading folders that others wrote: never without end, and what cannot be read is noted.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::Skipped;

/// Entries that are looked at in all: a home folder with a million files takes no minutes.
const MOST_ENTRIES: usize = 200_000;
/// A manifest or configuration is small; what is larger is none.
const LARGEST_JSON: u64 = 4 << 20;

/// One search.
pub(super) struct Walk {
    entries_left: usize,
    seen: HashSet<PathBuf>,
    skipped: Vec<Skipped>,
}

/// An entry of a folder. Links are followed; one that leads nowhere is no entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
    pub(super) bytes: u64,
}

impl Default for Walk {
    fn default() -> Self {
        Self { entries_left: MOST_ENTRIES, seen: HashSet::new(), skipped: Vec::new() }
    }
}

impl Walk {
    /// What is in a folder, by name. Nothing where it does not exist, cannot be read, or was listed before.
    pub(super) fn list(&mut self, folder: &Path) -> Vec<Entry> {
        let listed = folder.canonicalize().and_then(|real| {
            // A folder that links to one above itself would be walked for ever.
            if self.seen.insert(real) { self.entries(folder) } else { Ok(Vec::new()) }
        });
        match listed {
            Ok(mut entries) => {
                entries.sort_by(|one, other| one.name.cmp(&other.name));
                entries
            }
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                    self.skip(folder, error.to_string());
                }
                Vec::new()
            }
        }
    }

    fn entries(&mut self, folder: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let Some(left) = self.entries_left.checked_sub(1) else {
                self.skip(folder, format!("more than {MOST_ENTRIES} files were looked at"));
                break;
            };
            self.entries_left = left;
            // A name that is not text belongs to no model; a link that leads nowhere is a download that never ended.
            if let (Ok(name), Ok(about)) = (entry.file_name().into_string(), fs::metadata(entry.path())) {
                entries.push(Entry {
                    name,
                    path: entry.path(),
                    is_folder: about.is_dir(),
                    bytes: about.len(),
                });
            }
        }
        Ok(entries)
    }

    /// A small JSON file; `None`, and noted, where it is none.
    pub(super) fn json(&mut self, path: &Path) -> Option<Value> {
        small_json(path).map_err(|error| self.skip(path, error.to_string())).ok()
    }

    /// Whether a file begins as a GGUF file does; where not, that is noted.
    pub(super) fn is_gguf(&mut self, path: &Path) -> bool {
        let mut magic = [0; 4];
        match File::open(path).and_then(|mut file| file.read_exact(&mut magic)) {
            Ok(()) if magic == *b"GGUF" => return true,
            Ok(()) => self.skip(path, "it does not begin as a GGUF file does"),
            Err(error) => self.skip(path, error.to_string()),
        }
        false
    }

    pub(super) fn skip(&mut self, path: &Path, reason: impl Into<String>) {
        const MOST: usize = 100;
        if self.skipped.len() < MOST {
            self.skipped.push(Skipped { path: path.to_owned(), reason: reason.into() });
        }
    }

    pub(super) fn into_skipped(self) -> Vec<Skipped> {
        self.skipped
    }
}

/// A JSON file that is not large.
pub(super) fn small_json(path: &Path) -> io::Result<Value> {
    let mut text = Vec::new();
    File::open(path)?.take(LARGEST_JSON + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST_JSON {
        return Err(io::Error::other("it is too large for what it should be"));
    }
    Ok(serde_json::from_slice(&text)?)
}
