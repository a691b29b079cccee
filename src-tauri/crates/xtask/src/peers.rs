//! What others wrote and Ebb is tried with: packages for Python and Node, each in the version and with the hash that the
//! lock files beside the tests name.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Cache};
use crate::failed::{Failed, Outcome, While};
use crate::python::Python;
use crate::stage::{run, stage, succeeds};

const NO_NODE: &str = "Node 20 or later and npm are needed for the peers: install them (Debian and Ubuntu: \
    `apt install nodejs npm`; elsewhere your system's package manager) and run this again";

/// The folder that holds `python/` and `foundry-0.5/`, each for `PYTHONPATH`, and `node/node_modules`. In `locks` lie the
/// lock files.
pub(crate) fn fetched(cache: &Cache, python: &Python, locks: &Path) -> Outcome<PathBuf> {
    let files = ["python.lock", "foundry-0.5.lock", "package.json", "package-lock.json"];
    let files = files.map(|name| locks.join(name));
    let key = format!("{} {}", python.version()?, cache::fingerprint(&files)?);
    let [packages, foundry, node @ ..] = files;
    cache.make("tools/peers", &key, |folder| {
        needs_npm()?;
        stage("get the peers for Python (185 MB)", || {
            install(python, &packages, &folder.join("python"))?;
            install(python, &foundry, &folder.join("foundry-0.5"))
        })?;
        // Without what is optional: builds of llama.cpp for GPUs. The build for this platform is named in `package.json`.
        stage("get the peers for Node (60 MB)", || {
            install_node(&node, &folder.join("node"), &["--omit=optional"])
        })
    })
}

/// In a folder, not a virtual environment: that needs a package more on Debian.
pub(crate) fn install(python: &Python, lock: &Path, folder: &Path) -> Outcome {
    let mut pip = python.pip("install");
    pip.args(["--only-binary=:all:", "--no-compile", "--quiet", "--requirement"]).arg(lock);
    run(pip.arg("--target").arg(folder))
}

/// What `files`, a `package.json` and its lock file, name.
pub(crate) fn install_node(files: &[PathBuf], folder: &Path, options: &[&str]) -> Outcome {
    let failed = || format!("could not write to {}", folder.display());
    std::fs::create_dir(folder).while_doing(failed)?;
    for file in files {
        std::fs::copy(file, folder.join(file.file_name().unwrap_or_default())).while_doing(failed)?;
    }
    let quiet = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(npm().args(quiet).args(options).current_dir(folder))
}

/// Fails where there is no npm.
pub(crate) fn needs_npm() -> Outcome {
    if succeeds(npm().arg("--version")) { Ok(()) } else { Err(Failed::new(NO_NODE)) }
}

fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}
