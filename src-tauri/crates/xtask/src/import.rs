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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::cache::tests::Scratch;

    /// Stands for `ebb`: `model import SOURCE DEST`, where DEST must not be there yet.
    const COPY: &str = "#!/bin/sh\n[ ! -e \"$4\" ] && cp -r \"$3\" \"$4\" && echo >> \"$0.calls\"\n";

    #[test]
    fn the_model_is_made_once_and_again_for_another_importer() {
        let scratch = Scratch::new("import");
        let [source, importer] = ["source", "importer"].map(|name| scratch.0.path(name));
        for folder in [&source, &importer] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "one").unwrap();
        }
        let ebb = scratch.0.path("ebb");
        fs::write(&ebb, COPY).unwrap();
        fs::set_permissions(&ebb, fs::Permissions::from_mode(0o755)).unwrap();
        let calls = || fs::read_to_string(scratch.0.path("ebb.calls")).unwrap().lines().count();

        let folder = minilm(&scratch.0, &source, &ebb, &importer).unwrap();
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "one");
        minilm(&scratch.0, &source, &ebb, &importer).unwrap();
        assert_eq!(calls(), 1);

        fs::write(importer.join("file"), "two").unwrap();
        minilm(&scratch.0, &source, &ebb, &importer).unwrap();
        assert_eq!(calls(), 2);
    }
}
