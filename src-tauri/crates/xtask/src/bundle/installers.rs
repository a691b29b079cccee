//! Installers for Windows and macOS, by Tauri's own bundler. Written from its documentation; not run yet.

use std::fs;

use super::Parts;
use crate::failed::{Outcome, While};
use crate::node;
use crate::stage::run;
use crate::tasks::{program, workspace};
use std::process::Command;

/// The bundler, in the version that fits the app's.
const BUNDLER: &str = "@tauri-apps/cli@2.12.5";

/// Puts what is to be bundled where `tauri.bundle.conf.json` looks for it, and makes the installers.
pub(super) fn made(parts: &Parts) -> Outcome {
    let source = workspace().join("src-tauri");
    let place = source.join("bundled");
    let failed = || format!("could not write to {}", place.display());
    if place.exists() {
        fs::remove_dir_all(&place).while_doing(failed)?;
    }
    fs::create_dir_all(place.join("runtime")).while_doing(failed)?;
    fs::create_dir_all(place.join("plugins")).while_doing(failed)?;
    let triple = triple()?;
    for name in ["ebb", "ebb-worker"] {
        fs::copy(parts.program(name), place.join(program(&format!("{name}-{triple}"))))
            .while_doing(failed)?;
    }
    let library = parts.library.file_name().unwrap_or_default();
    fs::copy(&parts.library, place.join("runtime").join(library)).while_doing(failed)?;
    for entry in fs::read_dir(&parts.plugins).while_doing(failed)?.filter_map(Result::ok) {
        if entry.path().extension().is_some_and(|end| end == "wasm") {
            fs::copy(entry.path(), place.join("plugins").join(entry.file_name())).while_doing(failed)?;
        }
    }
    fs::write(place.join("third-party-licences.txt"), &parts.licences).while_doing(failed)?;
    let mut bundle = node::npm();
    bundle.args(["exec", "--yes", "--package", BUNDLER, "--", "tauri", "build", "--ci"]);
    run(bundle.args(["--config", "tauri.bundle.conf.json"]).current_dir(source))
}

/// What rustc calls this platform; the bundler wants it in the names of programs.
fn triple() -> Outcome<String> {
    let output = Command::new("rustc").args(["--print", "host-tuple"]).output();
    let output = output.while_doing(|| "could not start rustc".to_owned())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
