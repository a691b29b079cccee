//! `build`: a folder becomes one component that says what it is.

mod javascript;
mod python;
mod rust;
mod target;
mod tool;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use ebb_core::PluginManifest;
use ebb_plugins::manifest;
use serde::Serialize;

use crate::{
    Error, Lang, Remark,
    check::{self, Looked},
    files::WIT,
    folder::{component_of, manifest_of, write},
};

pub(crate) use target::{HINT as TARGET_HINT, TARGET};

/// What was built.
#[derive(Debug, Clone, Serialize)]
pub struct BuildReport {
    /// What the component says of itself.
    pub manifest: PluginManifest,
    /// What it is written in.
    pub lang: Lang,
    /// The component.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// From the start to the end.
    pub took_ms: u64,
    /// What its author should know.
    pub warnings: Vec<Remark>,
}

/// Builds the plugin in `folder`, by what lies in it, to `out`, else to `<id>.wasm` in the folder. `tell` hears of each step
/// that takes a while. What the compiler says goes to stderr.
///
/// # Errors
/// Where there is no plugin, a tool is missing or fails, or what was built breaks the contract: then nothing is written.
pub fn build(folder: &Path, out: Option<&Path>, tell: &mut dyn FnMut(&str)) -> Result<BuildReport, Error> {
    let started = Instant::now();
    let manifest = manifest_of(folder)?;
    let lang = Lang::of(folder)?;
    let scratch = Scratch::new()?;
    let component = match lang {
        Lang::Rust => rust::component(folder, tell)?,
        Lang::Python => python::component(folder, manifest.world, &scratch, tell)?,
        Lang::Js => javascript::component(folder, manifest.world, &scratch, tell)?,
    };
    let component = manifest::embed(&component, &manifest)?;
    let Looked { imports, problems, warnings, .. } = check::component(&component);
    if !problems.is_empty() {
        return Err(Error::Problems(problems));
    }
    let path = out.map_or_else(|| component_of(folder, &manifest), Path::to_owned);
    put(&path, &component)?;
    Ok(BuildReport {
        manifest,
        lang,
        path,
        size_bytes: component.len() as u64,
        imports,
        took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        warnings,
    })
}

/// Writes the component in one step: a host that watches the folder never reads half of it.
fn put(path: &Path, component: &[u8]) -> Result<(), Error> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    write(&partial, component)?;
    std::fs::rename(&partial, path).map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// A folder for what the tools write.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Result<Self, Error> {
        let failed = |source| Error::Write { path: std::env::temp_dir(), source };
        Ok(Self(tempfile::Builder::new().prefix("ebb-plugin-").tempdir().map_err(failed)?))
    }

    fn component(&self) -> PathBuf {
        self.0.path().join("component.wasm")
    }

    /// The contract that `folder` is built against: its own `wit/`, else the one of this program.
    fn wit(&self, folder: &Path) -> Result<PathBuf, Error> {
        let own = folder.join("wit");
        if own.is_dir() {
            return std::path::absolute(&own).map_err(|source| Error::Read { path: own, source });
        }
        let wit = self.0.path().join("wit");
        WIT.iter().try_for_each(|(name, text)| write(&wit.join(name), text))?;
        Ok(wit)
    }
}
