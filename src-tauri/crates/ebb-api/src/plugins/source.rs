//! Reading a plugin from where it lies: a component, or a folder under development.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ebb_core::{Code, Failure};

use super::registry::Component;
use crate::atomic;

/// Largest component that is read.
const MAX_COMPONENT_BYTES: u64 = 256 << 20;

/// What a folder under development says of its plugin.
const MANIFEST: &str = "plugin.toml";

/// When the manifest and the component of a folder last changed, and how long they are.
pub(super) type Stamp = [Option<(SystemTime, u64)>; 2];

/// A plugin that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    pub(super) component: Component,
    /// What the files of a folder were, at the latest.
    pub(super) stamp: Option<Stamp>,
}

/// Reads and checks a plugin: a file, or a folder with its manifest and its built component.
///
/// # Errors
/// [`Code::NotFound`], [`Code::Storage`]; what is wrong with the component or its manifest.
pub(super) fn read(path: &Path) -> Result<Read, Failure> {
    let (bytes, stamp) = if path.is_dir() {
        let (bytes, stamp) = from_folder(path)?;
        (bytes, Some(stamp))
    } else {
        (read_file(path)?, None)
    };
    let read = ebb_plugins::Component::read(&bytes)?;
    let component = Component { manifest: read.manifest, size_bytes: read.size_bytes, sha256: read.sha256 };
    Ok(Read { bytes, component, stamp })
}

/// Another value than before means that there is something new to read.
pub(super) fn stamp(folder: &Path, id: &str) -> Stamp {
    let stamp = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let built = built_component(folder, id).ok();
    [stamp(&folder.join(MANIFEST)), built.as_deref().and_then(stamp)]
}

/// The component of a folder with the manifest that lies beside it: the newest of both.
fn from_folder(folder: &Path) -> Result<(Vec<u8>, Stamp), Failure> {
    let file = folder.join(MANIFEST);
    let text = fs::read_to_string(&file).map_err(|error| {
        Failure::new(Code::NotFound, format!("{} cannot be read: {error}", file.display()))
            .hint("name a component (.wasm), or a folder that `ebb plugin new` made")
            .param("path")
    })?;
    let manifest = ebb_plugins::manifest::from_toml(&text)?;
    // Before the component: one that is written meanwhile is seen to be another.
    let stamp = stamp(folder, &manifest.id);
    let component = read_file(&built_component(folder, &manifest.id)?)?;
    Ok((ebb_plugins::manifest::embed(&component, &manifest)?, stamp))
}

/// `<id>.wasm` in the folder, as `ebb plugin build` names it, else the one `.wasm` that lies there.
fn built_component(folder: &Path, id: &str) -> Result<PathBuf, Failure> {
    let named = folder.join(format!("{id}.wasm"));
    if named.is_file() {
        return Ok(named);
    }
    let entries = fs::read_dir(folder).map_err(|error| atomic::refused("read", folder, &error))?;
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut built: Vec<PathBuf> = files.filter(|path| path.extension() == Some(OsStr::new("wasm"))).collect();
    match (built.pop(), built.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(Failure::new(Code::NotFound, format!("{} holds no .wasm yet", folder.display()))
            .hint("build it first: `ebb plugin build`")
            .param("path")),
        (Some(_), false) => {
            let why = format!("{} holds several .wasm files", folder.display());
            Err(Failure::new(Code::InvalidRequest, why)
                .hint(format!("name the one that is to be used {id}.wasm"))
                .param("path"))
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let missing = |error: std::io::Error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { Code::NotFound } else { Code::Storage };
        Failure::new(code, format!("{} cannot be read: {error}", path.display()))
            .hint("see that the file is there and can be read")
            .param("path")
    };
    let len_bytes = fs::metadata(path).map_err(missing)?.len();
    if len_bytes > MAX_COMPONENT_BYTES {
        let why =
            format!("{} has {len_bytes} bytes; a plugin has at most {MAX_COMPONENT_BYTES}", path.display());
        return Err(Failure::new(Code::TooLarge, why)
            .hint("see that this is the plugin's file")
            .param("path"));
    }
    fs::read(path).map_err(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plugin_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let failure = read(path).unwrap_err();
            assert!(failure.hint.is_some(), "{failure:?}");
            (failure.code, failure.message)
        };
        assert_eq!(refused(&folder.path().join("none.wasm")).0, Code::NotFound);
        let (code, message) = refused(folder.path());
        assert_eq!(code, Code::NotFound);
        assert!(message.contains("plugin.toml"), "{message}");
        let text = folder.path().join("text.wasm");
        fs::write(&text, "no wasm").unwrap();
        assert_eq!(refused(&text).0, Code::InvalidRequest);
    }

    #[test]
    fn a_folder_has_one_built_component() {
        let folder = tempfile::tempdir().unwrap();
        let built = || built_component(folder.path(), "mine");
        assert!(built().unwrap_err().hint.unwrap().contains("ebb plugin build"));
        let before = stamp(folder.path(), "mine");
        fs::write(folder.path().join("a.wasm"), "").unwrap();
        assert!(built().unwrap().ends_with("a.wasm"));
        assert_ne!(stamp(folder.path(), "mine"), before);
        fs::write(folder.path().join("b.wasm"), "").unwrap();
        assert_eq!(built().unwrap_err().code, Code::InvalidRequest);
        fs::write(folder.path().join("mine.wasm"), "").unwrap();
        assert!(built().unwrap().ends_with("mine.wasm"));
    }
}
