//! The demo's model as an ONNX folder, made by `ebb model import` from the weights.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Cache};
use crate::failed::{Outcome, While};
use crate::pins::MINILM;
use crate::stage::{run, stage};

const PLACE: &str = "models/minilm";

/// The folder of the model, made by `ebb` from the weights in `source` if it is missing, broken, or made by another
/// importer than the one whose sources lie in `importer`.
pub(crate) fn minilm(cache: &Cache, source: &Path, ebb: &Path, importer: &Path) -> Outcome<PathBuf> {
    make(cache, importer, |folder| run(Command::new(ebb).args(["model", "import"]).arg(source).arg(folder)))
}

fn make(cache: &Cache, importer: &Path, import: impl FnOnce(&Path) -> Outcome) -> Outcome<PathBuf> {
    let sha256 = MINILM.wheels.first().map_or("", |wheel| wheel.sha256);
    let sources =
        cache::files_below(importer).while_doing(|| format!("could not read {}", importer.display()))?;
    let key = format!("{sha256} {}", cache::fingerprint(&sources)?);
    let folder = cache.path(PLACE);
    if cache::is_whole(&folder, &key) {
        return Ok(folder);
    }
    stage("import the embedding model", || {
        cache.make(PLACE, &key, |folder| {
            // The importer makes its folder itself.
            std::fs::remove_dir(folder).while_doing(|| format!("could not use {}", folder.display()))?;
            import(folder)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cache::tests::Scratch;

    #[test]
    fn the_model_is_made_once_and_again_for_another_importer() {
        let scratch = Scratch::new("import");
        let importer = scratch.0.path("importer");
        fs::create_dir(&importer).unwrap();
        let import = |from: &str| {
            fs::write(importer.join("bert.rs"), from).unwrap();
            let folder = make(&scratch.0, &importer, |folder| {
                fs::create_dir(folder).unwrap();
                fs::write(folder.join("model.onnx"), format!("made by {from}")).unwrap();
                Ok(())
            });
            fs::read_to_string(folder.unwrap().join("model.onnx")).unwrap()
        };
        assert_eq!(import("one"), "made by one");
        fs::write(scratch.0.path("models/minilm/model.onnx"), "kept by one").unwrap();
        assert_eq!(import("one"), "kept by one", "a whole folder is not made again");
        assert_eq!(import("two"), "made by two");
    }
}
