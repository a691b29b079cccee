//! `check`: what is wrong with a plugin, and what its author should know, without running it.

use std::path::{Path, PathBuf};

use ebb_core::{Capability, Failure, PluginManifest, PluginWorld, format_bytes};
use ebb_plugins::Component;
use serde::Serialize;

use crate::{
    Error,
    folder::{component_of, manifest_of, read},
};

/// A component larger than this is slow to install, whatever it was made with: Python's own take a quarter of it.
const LARGE_BYTES: u64 = 64 << 20;

/// Something to be said of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// For programs.
    pub code: RemarkCode,
    /// For people: what it is.
    pub message: String,
    /// For people: what to do.
    pub hint: Option<String>,
}

/// What a remark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkCode {
    /// The file is no component that could be taken.
    Component,
    /// The manifest is missing or wrong.
    Manifest,
    /// The component fills another world, or none.
    World,
    /// It was built for a version of the contract that this Ebb does not speak.
    Version,
    /// It imports what it does not ask for.
    CapabilityMissing,
    /// It asks for what it does not import.
    CapabilityUnused,
    /// It brings WASI.
    Wasi,
    /// It is large.
    Size,
    /// The folder has no component yet.
    NotBuilt,
    /// The component says other things than `plugin.toml`.
    Stale,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// What was looked at: a folder or a component.
    pub path: PathBuf,
    /// What the plugin says of itself, where that can be read.
    pub manifest: Option<PluginManifest>,
    /// Size of the component, where there is one.
    pub size_bytes: Option<u64>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// What keeps it from being installed or from working.
    pub problems: Vec<Remark>,
    /// What works, but may not be meant.
    pub warnings: Vec<Remark>,
}

/// Looks a folder or a component over.
///
/// # Errors
/// [`Error::Read`] where there is nothing to look at. What is wrong with it stands in the report.
pub fn check(path: &Path) -> Result<CheckReport, Error> {
    let looked = if path.is_dir() { folder(path)? } else { component(&read(path)?) };
    let Looked { manifest, size_bytes, imports, problems, warnings } = looked;
    Ok(CheckReport { path: path.to_owned(), manifest, size_bytes, imports, problems, warnings })
}

/// What was seen of a plugin.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) manifest: Option<PluginManifest>,
    pub(crate) size_bytes: Option<u64>,
    pub(crate) imports: Vec<String>,
    pub(crate) problems: Vec<Remark>,
    pub(crate) warnings: Vec<Remark>,
}

fn folder(folder: &Path) -> Result<Looked, Error> {
    let manifest = match manifest_of(folder) {
        Ok(manifest) => manifest,
        Err(Error::Plugin(error)) => return Ok(Looked { problems: remarks(error), ..Looked::default() }),
        Err(error @ Error::NoManifest { .. }) => {
            let problem = remark(RemarkCode::Manifest, Failure::from(error));
            return Ok(Looked { problems: vec![problem], ..Looked::default() });
        }
        Err(error) => return Err(error),
    };
    let path = component_of(folder, &manifest);
    if !path.is_file() {
        let failure = Failure::from(Error::NotBuilt { folder: folder.to_owned() });
        let warnings = vec![remark(RemarkCode::NotBuilt, failure)];
        return Ok(Looked { manifest: Some(manifest), warnings, ..Looked::default() });
    }
    let mut looked = component(&read(&path)?);
    if looked.manifest.as_ref().is_some_and(|built| *built != manifest) {
        looked.warnings.push(Remark {
            code: RemarkCode::Stale,
            message: "plugin.toml has changed since the component was built".to_owned(),
            hint: Some(format!("build it again: ebb plugin build {}", folder.display())),
        });
    }
    looked.manifest = Some(manifest);
    Ok(looked)
}

/// Looks the bytes of a component over.
pub(crate) fn component(bytes: &[u8]) -> Looked {
    let size_bytes = Some(bytes.len() as u64);
    match Component::read(bytes) {
        Err(error) => Looked { size_bytes, problems: remarks(error), ..Looked::default() },
        Ok(component) => {
            let (problems, warnings) = meant(&component);
            let Component { manifest, imports, .. } = component;
            Looked { manifest: Some(manifest), size_bytes, imports, problems, warnings }
        }
    }
}

/// What a component that would be taken may still not have been meant to be.
fn meant(component: &Component) -> (Vec<Remark>, Vec<Remark>) {
    let (mut problems, mut warnings) = capabilities(component);
    if component.brings_wasi() {
        warnings.push(Remark {
            code: RemarkCode::Wasi,
            message: "it brings WASI, in which it will find nothing: no files, no network, no environment"
                .into(),
            hint: (component.world == PluginWorld::ShrinkPolicy).then(|| {
                "a policy needs none: 'ebb plugin build' leaves it out of Python and JavaScript".to_owned()
            }),
        });
    }
    if component.size_bytes > LARGE_BYTES {
        warnings.push(Remark {
            code: RemarkCode::Size,
            message: format!("it is large: {}", format_bytes(component.size_bytes)),
            hint: Some("build in release, without debug information".to_owned()),
        });
    }
    problems.sort_by_key(|problem| problem.message.clone());
    (problems, warnings)
}

/// Interfaces that only serve who was granted one of some capabilities. `memory-stats` also has the types of samples, so
/// everybody imports it.
const NEEDS: [(&str, &[Capability]); 4] = [
    ("memory-control", &[Capability::MemoryControl]),
    (
        "inference",
        &[Capability::InferenceEmbed, Capability::InferenceGenerate, Capability::InferenceTranscribe],
    ),
    ("store", &[Capability::Store]),
    ("documents", &[Capability::Documents]),
];

/// What it asks for against what it imports: problems and warnings.
fn capabilities(component: &Component) -> (Vec<Remark>, Vec<Remark>) {
    let asks =
        |one: &Capability| component.manifest.capabilities.iter().any(|asked| asked.capability == *one);
    let policy = component.world == PluginWorld::ShrinkPolicy;
    if policy {
        let missing = (!asks(&Capability::MemoryControl)).then(|| Remark {
            code: RemarkCode::CapabilityMissing,
            message: "it does not ask for memory.control, without which it can decide nothing but keep"
                .into(),
            hint: Some("add memory.control to the capabilities in plugin.toml".into()),
        });
        return (vec![], missing.into_iter().collect());
    }
    let imports = |interface: &str| {
        component.imports.iter().any(|import| {
            let name = import.strip_prefix("ebb:plugin/").and_then(|rest| rest.split('@').next());
            name == Some(interface)
        })
    };
    // Python and JavaScript import the whole world, used or not.
    let imports_all = NEEDS.iter().all(|(interface, _)| imports(interface));
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for (interface, capabilities) in NEEDS {
        if !imports(interface) {
            warnings.extend(capabilities.iter().filter(|one| asks(one)).map(|one| unused(*one, interface)));
        } else if !capabilities.iter().any(asks) {
            let list = if imports_all { &mut warnings } else { &mut problems };
            list.push(missing(interface, capabilities));
        }
    }
    (problems, warnings)
}

fn unused(capability: Capability, interface: &str) -> Remark {
    Remark {
        code: RemarkCode::CapabilityUnused,
        message: format!("it asks for {capability}, but does not import {interface}"),
        hint: Some("ask for nothing that is not needed: whoever installs it is shown the list".to_owned()),
    }
}

fn missing(interface: &str, capabilities: &[Capability]) -> Remark {
    let names: Vec<&str> = capabilities.iter().map(|one| one.name()).collect();
    Remark {
        code: RemarkCode::CapabilityMissing,
        message: format!("it imports {interface}, but does not ask for {}", names.join(" or ")),
        hint: Some("add it to the capabilities in plugin.toml, with the reason, or do not use it".to_owned()),
    }
}

/// An error of reading, as remarks.
fn remarks(error: ebb_plugins::Error) -> Vec<Remark> {
    use ebb_plugins::Error as Plugin;
    let code = match &error {
        Plugin::NoManifest | Plugin::Manifest { .. } | Plugin::ManifestLies { .. } => RemarkCode::Manifest,
        Plugin::OtherWorld { .. } | Plugin::Import { .. } => RemarkCode::World,
        Plugin::OtherVersion { .. } => RemarkCode::Version,
        _ => RemarkCode::Component,
    };
    if let Plugin::Manifest { problems } = &error {
        let hint = Some("correct plugin.toml".to_owned());
        return problems
            .iter()
            .map(|problem| Remark { code, message: problem.clone(), hint: hint.clone() })
            .collect();
    }
    vec![remark(code, error.into())]
}

fn remark(code: RemarkCode, failure: Failure) -> Remark {
    Remark { code, message: failure.message, hint: failure.hint }
}

#[cfg(test)]
mod tests;
