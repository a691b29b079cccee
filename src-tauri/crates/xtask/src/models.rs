//! The demo's models, as folders that Ebb loads: made by `ebb model import` from weights, or put together from the files of
//! packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Cache};
use crate::failed::{Outcome, While};
use crate::fetch;
use crate::pins::{MINILM, MOONSHINE, Package, SILERO, SMOLLM2};
use crate::stage::{run, stage};

/// The folders of the models, by their aliases in the demo.
#[derive(Debug)]
pub(crate) struct Models {
    pub(crate) minilm: PathBuf,
    pub(crate) smollm2: PathBuf,
    pub(crate) moonshine: PathBuf,
}

/// The files of the weights, fetched if they are missing.
#[derive(Debug)]
pub(crate) struct Sources {
    minilm: PathBuf,
    smollm2: PathBuf,
    moonshine: PathBuf,
    silero: PathBuf,
}

impl Sources {
    pub(crate) fn fetched(cache: &Cache) -> Outcome<Self> {
        Ok(Self {
            minilm: fetch::package(cache, &MINILM)?,
            smollm2: fetch::package(cache, &SMOLLM2)?,
            moonshine: fetch::package(cache, &MOONSHINE)?,
            silero: fetch::package(cache, &SILERO)?,
        })
    }

    /// Makes the folders that are missing, broken, or made by another importer than the one whose sources lie in
    /// `importer`.
    pub(crate) fn made(&self, cache: &Cache, ebb: &Path, importer: &Path) -> Outcome<Models> {
        let import = |place: &str, what: &str, package: &Package, source: &Path| {
            let key = format!("{} {}", sha256(package), importer_key(importer)?);
            make(cache, place, &key, &format!("import the {what}"), |folder| {
                // The importer makes its folder itself.
                fs::remove_dir(folder).while_doing(|| format!("could not use {}", folder.display()))?;
                run(Command::new(ebb).args(["model", "import"]).arg(source).arg(folder))
            })
        };
        Ok(Models {
            minilm: import("models/minilm", "embedding model", &MINILM, &self.minilm)?,
            smollm2: import("models/smollm2", "chat model", &SMOLLM2, &self.smollm2.join(SMOLLM2_FILE))?,
            moonshine: self.moonshine(cache)?,
        })
    }

    /// Moonshine's own files, the voice detector that cuts long audio for it, and something to transcribe.
    fn moonshine(&self, cache: &Cache) -> Outcome<PathBuf> {
        let key = format!("{} {}", sha256(&MOONSHINE), sha256(&SILERO));
        make(cache, "models/moonshine", &key, "put the speech model together", |folder| {
            let files = [&self.moonshine, &self.silero].map(|source| cache::files_below(source));
            for file in files.into_iter().collect::<Result<Vec<_>, _>>().while_doing(failed)?.concat() {
                let name = file.file_name().unwrap_or_default();
                if !name.to_string_lossy().starts_with('.') {
                    fs::copy(&file, folder.join(name)).while_doing(failed)?;
                }
            }
            Ok(())
        })
    }
}

/// The file of the chat model in its package.
const SMOLLM2_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

fn failed() -> String {
    "could not put the speech model together".to_owned()
}

fn sha256(package: &Package) -> &'static str {
    package.wheels.first().map_or("", |wheel| wheel.sha256)
}

fn importer_key(importer: &Path) -> Outcome<String> {
    let sources =
        cache::files_below(importer).while_doing(|| format!("could not read {}", importer.display()))?;
    cache::fingerprint(&sources)
}

fn make(
    cache: &Cache,
    place: &str,
    key: &str,
    name: &str,
    fill: impl FnOnce(&Path) -> Outcome,
) -> Outcome<PathBuf> {
    let folder = cache.path(place);
    if cache::is_whole(&folder, key) {
        return Ok(folder);
    }
    stage(name, || cache.make(place, key, fill))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::Scratch;

    #[test]
    fn a_model_is_made_once_and_again_for_another_importer() {
        let scratch = Scratch::new("models");
        let importer = scratch.0.path("importer");
        fs::create_dir(&importer).unwrap();
        let import = |from: &str| {
            fs::write(importer.join("bert.rs"), from).unwrap();
            let key = importer_key(&importer).unwrap();
            let folder = make(&scratch.0, "models/m", &key, "make", |folder| {
                fs::write(folder.join("model.onnx"), format!("made by {from}")).unwrap();
                Ok(())
            });
            fs::read_to_string(folder.unwrap().join("model.onnx")).unwrap()
        };
        assert_eq!(import("one"), "made by one");
        fs::write(scratch.0.path("models/m/model.onnx"), "kept by one").unwrap();
        assert_eq!(import("one"), "kept by one", "a whole folder is not made again");
        assert_eq!(import("two"), "made by two");
    }

    #[test]
    fn the_speech_model_is_put_together_from_its_packages() {
        let scratch = Scratch::new("speech");
        let source = |name: &str, files: &[&str]| {
            let folder = scratch.0.path(name);
            fs::create_dir(&folder).unwrap();
            files.iter().for_each(|file| fs::write(folder.join(file), file).unwrap());
            folder
        };
        let sources = Sources {
            minilm: PathBuf::new(),
            smollm2: PathBuf::new(),
            moonshine: source("m", &["encoder_model.ort", ".stamp"]),
            silero: source("s", &["silero_vad.onnx"]),
        };
        let folder = sources.moonshine(&scratch.0).unwrap();
        let names: Vec<_> = cache::files_below(&folder)
            .unwrap()
            .iter()
            .map(|file| file.file_name().unwrap().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.'))
            .collect();
        assert_eq!(names, ["encoder_model.ort", "silero_vad.onnx"]);
    }
}
