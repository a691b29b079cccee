//! Node and npm: what installs packages of JavaScript, each in the version and with the hash that a lock file names.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failed::{Failed, Outcome, While};
use crate::stage::{run, succeeds};

const NO_NODE: &str = "Node 20.19 or later and npm are needed for this: install them (your system's package manager may have \
    an older one; the site of Node has packages for every system) and run this again";

/// Fails where there is no npm, or its Node is too old.
pub(crate) fn needed() -> Outcome {
    let major = "const [major, minor] = process.versions.node.split('.').map(Number); \
                 process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)";
    let there = succeeds(npm().arg("--version")) && succeeds(Command::new("node").args(["-e", major]));
    if there { Ok(()) } else { Err(Failed::new(NO_NODE)) }
}

/// Installs into `folder` itself what its `package.json` and lock file name, in place of what is there.
pub(crate) fn install(folder: &Path, options: &[&str]) -> Outcome {
    // Packages run nothing of their own while they are installed.
    let quiet = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(npm().args(quiet).args(options).current_dir(folder))
}

/// Installs what `files`, a `package.json` and its lock file, name into a new folder.
pub(crate) fn install_apart(files: &[PathBuf], folder: &Path, options: &[&str]) -> Outcome {
    let failed = || format!("could not write to {}", folder.display());
    std::fs::create_dir(folder).while_doing(failed)?;
    for file in files {
        std::fs::copy(file, folder.join(file.file_name().unwrap_or_default())).while_doing(failed)?;
    }
    install(folder, options)
}

/// npm, for arguments.
pub(crate) fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}
