//! Rust: cargo makes a Wasm module, and `wit-component` a component of it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use wit_component::ComponentEncoder;

use super::target::{self, TARGET};
use crate::Error;

pub(super) fn component(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<Vec<u8>, Error> {
    let mut cargo = cargo(folder);
    target::prepare(folder, &mut cargo, tell)?;
    tell("cargo builds");
    // Its messages for people go to stderr as they come; those for programs name what it made.
    cargo.args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    cargo.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|source| Error::Start { tool: "cargo".to_owned(), source })?;
    if !output.status.success() {
        return Err(Error::Tool { tool: "cargo build".to_owned(), said: String::new() });
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let module = module(&messages, folder).ok_or_else(|| Error::NoModule { folder: folder.to_owned() })?;
    encode(&crate::folder::read(&module)?)
}

/// The cargo that runs this, if one does, else the one on the PATH.
fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    cargo
}

/// The module that the package in `folder` became, by what cargo said.
fn module(messages: &str, folder: &Path) -> Option<PathBuf> {
    let own = folder.join("Cargo.toml").canonicalize().ok()?;
    let of_folder = |message: &Value| {
        let path = message["manifest_path"].as_str().map(Path::new);
        path.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == own)
    };
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["reason"] == "compiler-artifact" && of_folder(message))
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|name| name.as_str().map(PathBuf::from))
        .find(|path| path.extension().is_some_and(|end| end == "wasm"))
}

fn encode(module: &[u8]) -> Result<Vec<u8>, Error> {
    let encoded =
        ComponentEncoder::default().validate(true).module(module).and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| Error::Componentise(format!("{error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_of_this_package_is_found_among_those_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("Cargo.toml");
        std::fs::write(&own, "").unwrap();
        let artifact = |manifest: &Path, file: &str| {
            serde_json::json!({"reason": "compiler-artifact", "manifest_path": manifest, "filenames": ["/t/x.rlib", file]})
                .to_string()
        };
        let other = artifact(Path::new("/other/Cargo.toml"), "/t/other.wasm");
        let lines = [other.clone(), "not JSON".into(), artifact(&own, "/t/own.wasm")].join("\n");
        assert_eq!(module(&lines, folder.path()), Some("/t/own.wasm".into()));
        assert_eq!(module(&other, folder.path()), None);
    }

    #[test]
    fn a_module_that_says_nothing_of_the_contract_is_no_component_of_it() {
        let error = encode(b"\0asm\x01\0\0\0 and so on").unwrap_err();
        assert!(matches!(error, Error::Componentise(_)), "{error}");
    }
}
