//! A plugin's component, checked without running it: its world, the version of the contract, its manifest.

use ebb_core::{PluginManifest, PluginWorld};
use sha2::{Digest, Sha256};

use crate::{Error, manifest, shape::Shape};

/// Interfaces of WASI that a guest may bring; it finds them empty.
const WASI: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];

/// What each world may import of `ebb:plugin`, besides types.
fn offered(world: PluginWorld) -> &'static [&'static str] {
    match world {
        PluginWorld::ShrinkPolicy => &["plugin-host", "memory-stats", "types"],
        PluginWorld::RagPipeline => {
            &["plugin-host", "memory-stats", "memory-control", "inference", "store", "documents", "types"]
        }
    }
}

/// A checked plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// What it says of itself.
    pub manifest: PluginManifest,
    /// The world that it fills.
    pub world: PluginWorld,
    /// The version of `ebb:plugin` that it was built for.
    pub contract: String,
    /// Names of what it imports.
    pub imports: Vec<String>,
    /// Names of what it exports; more than its world asks for is fine.
    pub exports: Vec<String>,
    /// Hash of its bytes, in hex.
    pub sha256: String,
    /// Their number.
    pub size_bytes: u64,
    /// Its functions: what compiling takes goes by them.
    pub functions: u64,
}

impl Component {
    /// Reads and checks it.
    ///
    /// # Errors
    /// Where it is no component, fills no world, was built for another version, imports what its world does not offer, or has
    /// no manifest or a wrong one.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let shape = Shape::read(bytes)?;
        let Fit { world, contract } = Fit::of(&shape)?;
        let section = shape.manifest.clone().and_then(|at| bytes.get(at)).ok_or(Error::NoManifest)?;
        let manifest = manifest::from_json(section)?;
        let lies = |said: String, truth: String| Err(Error::ManifestLies { said, truth });
        if manifest.world != world {
            return lies(format!("world {}", manifest.world), format!("fills {world}"));
        }
        if manifest.contract != contract {
            return lies(format!("contract {}", manifest.contract), format!("was built for {contract}"));
        }
        let sha256 = hex(&Sha256::digest(bytes));
        let Shape { imports, exports, functions, manifest: _ } = shape;
        let size_bytes = bytes.len() as u64;
        Ok(Self { manifest, world, contract, imports, exports, sha256, size_bytes, functions })
    }

    /// Whether it brings WASI: a Rust guest for `wasm32-unknown-unknown` does not.
    pub fn brings_wasi(&self) -> bool {
        self.imports.iter().any(|import| import.starts_with("wasi:"))
    }
}

/// How a component fits the contract; what [`Component`] says of one that may have no manifest yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The world that it fills.
    pub world: PluginWorld,
    /// The version of `ebb:plugin` that it was built for.
    pub contract: String,
}

impl Fit {
    /// Finds it out from the names alone.
    ///
    /// # Errors
    /// Where it fills no world, was built for another version, or imports what its world does not offer.
    pub fn of(shape: &Shape) -> Result<Self, Error> {
        let contract = version(shape)?;
        let exports = |interface| shape.exports.iter().any(|name| plugin_name(name) == Some(interface));
        let world = if exports("policy") {
            PluginWorld::ShrinkPolicy
        } else if exports("pipeline") {
            PluginWorld::RagPipeline
        } else {
            return Err(Error::OtherWorld { exports: shape.exports.clone() });
        };
        let fits = |import: &&String| !is_offered(import, world);
        if let Some(import) = shape.imports.iter().find(fits) {
            return Err(Error::Import { import: import.clone(), world });
        }
        Ok(Self { world, contract })
    }
}

/// The newest version of `ebb:plugin` among all names; none is another than the host speaks.
fn version(shape: &Shape) -> Result<String, Error> {
    let mut newest: Option<(u64, &str)> = None;
    for name in shape.imports.iter().chain(&shape.exports) {
        if plugin_name(name).is_none() {
            continue;
        }
        let built_for = name.split_once('@').map_or("", |(_, version)| version);
        let patch =
            spoken_patch(built_for).ok_or_else(|| Error::OtherVersion { built_for: built_for.to_owned() })?;
        if newest.is_none_or(|(most, _)| patch > most) {
            newest = Some((patch, built_for));
        }
    }
    match newest {
        Some((_, version)) => Ok(version.to_owned()),
        None => Err(Error::OtherWorld { exports: shape.exports.clone() }),
    }
}

/// The patch number of a version that this host speaks: 0.1 and any patch.
pub(crate) fn spoken_patch(version: &str) -> Option<u64> {
    version.strip_prefix("0.1.")?.parse().ok()
}

/// `policy` of `ebb:plugin/policy@0.1.0`.
fn plugin_name(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("ebb:plugin/")?;
    Some(rest.split_once('@').map_or(rest, |(interface, _)| interface))
}

fn is_offered(import: &str, world: PluginWorld) -> bool {
    if let Some(interface) = plugin_name(import) {
        return offered(world).contains(&interface);
    }
    let Some(wasi) = import.strip_prefix("wasi:") else { return false };
    let package = wasi.split('/').next().unwrap_or_default();
    WASI.contains(&package) && wasi.contains("@0.2.")
}

/// Bytes in hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
