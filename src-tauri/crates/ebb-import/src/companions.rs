//! The files that come along: tokenizer, settings, licence, in the layout of sentence-transformers.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use crate::Error;

/// Files that are copied if they are there. The licence travels with the weights.
const NAMES: &[&str] = &[
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "README.md",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "LICENCE",
    "NOTICE",
    "NOTICE.txt",
];

const MODULES: &str = "modules.json";

/// What lies in a source folder beside the weights.
pub(crate) struct Companions {
    /// Where config, tokenizer and weights are: the source itself, or the folder that modules.json names.
    pub(crate) transformer: PathBuf,
    /// Source file and its place below the destination.
    files: Vec<(PathBuf, PathBuf)>,
    /// modules.json as the destination needs it: the transformer lies at its top.
    modules: Option<Value>,
    /// Bytes of all files.
    pub(crate) size_bytes: u64,
}

impl Companions {
    /// Looks a source folder through. Fails if modules.json asks for modules that the graph and the pooling after it would
    /// leave out.
    pub(crate) fn find(source: &Path) -> Result<Self, Error> {
        let mut companions =
            Self { transformer: source.to_owned(), files: Vec::new(), modules: None, size_bytes: 0 };
        if source.join(MODULES).is_file() {
            companions.read_modules(source)?;
        }
        for name in NAMES {
            let candidates = [companions.transformer.join(name), source.join(name)];
            if let Some(file) = candidates.into_iter().find(|path| path.is_file()) {
                companions.add(file, PathBuf::from(name))?;
            }
        }
        Ok(companions)
    }

    /// Copies everything to `folder`, telling the bytes of each file as it is done. Fails with what `copied` fails with.
    pub(crate) fn copy_to(
        &self,
        folder: &Path,
        mut copied: impl FnMut(u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (file, place) in &self.files {
            let target = folder.join(place);
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).map_err(|source| Error::io(parent, source))?;
            }
            let bytes = fs::read(file).map_err(|source| Error::io(file, source))?;
            // Written anew rather than copied, so that a read-only source does not make a read-only model.
            fs::write(&target, &bytes).map_err(|source| Error::io(&target, source))?;
            copied(bytes.len() as u64)?;
        }
        if let Some(modules) = &self.modules {
            let target = folder.join(MODULES);
            fs::write(&target, format!("{modules:#}\n")).map_err(|source| Error::io(&target, source))?;
        }
        Ok(())
    }

    fn read_modules(&mut self, source: &Path) -> Result<(), Error> {
        let mut modules: Value = read_json(&source.join(MODULES))?;
        for module in modules.as_array_mut().into_iter().flatten() {
            let kind = module["type"].as_str().unwrap_or_default().to_owned();
            let path = plain_path(module["path"].as_str().unwrap_or_default())?;
            match kind.rsplit('.').next().unwrap_or_default() {
                "Transformer" => {
                    self.transformer = source.join(&path);
                    module["path"] = Value::from("");
                }
                "Pooling" | "Normalize" => {
                    let settings = path.join("config.json");
                    if !path.as_os_str().is_empty() && source.join(&settings).is_file() {
                        self.add(source.join(&settings), settings)?;
                    }
                }
                _ => {
                    return Err(Error::UnsupportedSetting {
                        key: "a module in modules.json",
                        value: kind,
                        supported: "Transformer, Pooling, Normalize",
                    });
                }
            }
        }
        self.modules = Some(modules);
        Ok(())
    }

    fn add(&mut self, file: PathBuf, place: PathBuf) -> Result<(), Error> {
        self.size_bytes += fs::metadata(&file).map_err(|source| Error::io(&file, source))?.len();
        self.files.push((file, place));
        Ok(())
    }
}

/// Reads a JSON file as any type.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(|source| Error::io(path, source))?;
    serde_json::from_slice(&bytes).map_err(|source| Error::Json { path: path.to_owned(), source })
}

/// A path from a downloaded file must stay below the folder that it came in.
fn plain_path(path: &str) -> Result<PathBuf, Error> {
    let path = path.trim_end_matches(['/', '\\']);
    if Path::new(path).components().all(|component| matches!(component, Component::Normal(_))) {
        return Ok(PathBuf::from(path));
    }
    Err(Error::UnsupportedSetting {
        key: "a path in modules.json",
        value: path.to_owned(),
        supported: "folders below the model's",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_folder_are_refused() {
        for path in ["../secrets", "/etc", "a/../../b"] {
            assert!(matches!(plain_path(path), Err(Error::UnsupportedSetting { .. })), "{path}");
        }
        assert_eq!(plain_path("1_Pooling/").unwrap(), Path::new("1_Pooling"));
        assert_eq!(plain_path("").unwrap(), Path::new(""));
    }
}
