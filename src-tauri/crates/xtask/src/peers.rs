//! What others wrote and Ebb is tried with: packages for Python and Node, each in the version and with the hash that the
//! lock files beside the tests name.

use std::path::{Path, PathBuf};

use crate::cache::{self, Cache};
use crate::failed::Outcome;
use crate::node;
use crate::python::Python;
use crate::stage::{run, stage};

/// The folder that holds `python/` and `foundry-0.5/`, each for `PYTHONPATH`, and `node/node_modules`. In `locks` lie the
/// lock files.
pub(crate) fn fetched(cache: &Cache, python: &Python, locks: &Path) -> Outcome<PathBuf> {
    let files = ["python.lock", "foundry-0.5.lock", "package.json", "package-lock.json"];
    let files = files.map(|name| locks.join(name));
    let key = format!("{} {}", python.version()?, cache::fingerprint(&files)?);
    let [packages, foundry, for_node @ ..] = files;
    cache.make("tools/peers", &key, |folder| {
        node::needed()?;
        stage("get the peers for Python (185 MB)", || {
            install(python, &packages, &folder.join("python"))?;
            install(python, &foundry, &folder.join("foundry-0.5"))
        })?;
        // Without what is optional: builds of llama.cpp for GPUs. The build for this platform is named in `package.json`.
        stage("get the peers for Node (60 MB)", || {
            node::install_apart(&for_node, &folder.join("node"), &["--omit=optional"])
        })
    })
}

/// In a folder, not a virtual environment: that needs a package more on Debian.
pub(crate) fn install(python: &Python, lock: &Path, folder: &Path) -> Outcome {
    let mut pip = python.pip("install");
    pip.args(["--only-binary=:all:", "--no-compile", "--quiet", "--requirement"]).arg(lock);
    run(pip.arg("--target").arg(folder))
}
