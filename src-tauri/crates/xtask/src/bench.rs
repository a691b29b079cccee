//! `cargo xtask bench`: Ebb's figures, those of the app in its window among them.

use std::ffi::OsString;
use std::slice;

use crate::cache::{self, Cache};
use crate::debian;
use crate::failed::Outcome;
use crate::launch;
use crate::python::Python;
use crate::stage::{run, stage};
use crate::tasks::{Prepared, Profile, cargo, prepare, workspace};

/// What names the app's figures among the others.
const DESKTOP: &str = "desktop";

/// Runs the benchmarks of these names; all, where none is named.
pub(crate) fn bench(names: &[String]) -> Outcome {
    let of_the_app = names.iter().any(|name| name == DESKTOP);
    let others: Vec<&String> = names.iter().filter(|name| *name != DESKTOP).collect();
    let prepared = prepare(Profile::Release)?;
    if names.is_empty() || !others.is_empty() {
        figures(&prepared, &others)?;
    }
    if names.is_empty() || of_the_app { desktop(&prepared) } else { Ok(()) }
}

fn figures(prepared: &Prepared, names: &[&String]) -> Outcome {
    let peer = python_peer(&Cache::open()?)?;
    let mut bench = cargo();
    // What follows is for the benchmarks themselves, not for cargo.
    bench.args(["bench", "--locked", "--package", "ebb-tests", "--bench", "figures", "--"]).args(names);
    stage("bench", || run(bench.envs(prepared.env.clone()).envs(peer)))
}

fn desktop(prepared: &Prepared) -> Outcome {
    debian::needed("the app", &[debian::TO_BUILD, debian::TO_TEST].concat())?;
    launch::built()?;
    let mut bench = cargo();
    // What is measured is the program that was just built; who presses its buttons need not be fast.
    bench.args(["bench", "--locked", "--profile", "dev", "--package", "ebb-desktop", "--bench", "desktop"]);
    stage("bench the app", || run(bench.envs(prepared.env.clone())))
}

/// Python's own onnxruntime, onnxruntime-genai, tokenizers and numpy, which the benchmarks compare with. In a folder, not a virtual
/// environment: that needs a package more on Debian.
fn python_peer(cache: &Cache) -> Outcome<[(&'static str, OsString); 2]> {
    let requirements = workspace().join("src-tauri/crates/xtask/python-peer.txt");
    let python = Python::find()?;
    let key = format!("{} {}", python.version()?, cache::fingerprint(slice::from_ref(&requirements))?);
    let folder = cache.make("tools/python-peer", &key, |folder| {
        stage("get onnxruntime, onnxruntime-genai, numpy and tokenizers for Python (56 MB)", || {
            let mut pip = python.pip("install");
            pip.args(["--only-binary=:all:", "--no-compile", "--requirement"]).arg(&requirements);
            run(pip.arg("--target").arg(folder))
        })
    })?;
    Ok([("PYTHONPATH", folder.into()), ("EBB_PYTHON", python.program().into())])
}
