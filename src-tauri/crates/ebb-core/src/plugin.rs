//! What a plugin is, as it says itself: the manifest that travels inside its component.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Json;

/// Something that a plugin may do only where it was granted. Logging, settings and progress are always granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Capability {
    /// Read what loaded models hold.
    #[serde(rename = "memory.read")]
    MemoryRead,
    /// Shrink, reload and unload models, set run options.
    #[serde(rename = "memory.control")]
    MemoryControl,
    /// Make vectors of texts.
    #[serde(rename = "inference.embed")]
    InferenceEmbed,
    /// Generate text.
    #[serde(rename = "inference.generate")]
    InferenceGenerate,
    /// Write down speech.
    #[serde(rename = "inference.transcribe")]
    InferenceTranscribe,
    /// Keep data of its own on disk, within a quota.
    #[serde(rename = "store")]
    Store,
    /// Read the files and folders that the user picked.
    #[serde(rename = "documents")]
    Documents,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 7] = [
        Self::MemoryRead,
        Self::MemoryControl,
        Self::InferenceEmbed,
        Self::InferenceGenerate,
        Self::InferenceTranscribe,
        Self::Store,
        Self::Documents,
    ];

    /// Its name in manifests, JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MemoryRead => "memory.read",
            Self::MemoryControl => "memory.control",
            Self::InferenceEmbed => "inference.embed",
            Self::InferenceGenerate => "inference.generate",
            Self::InferenceTranscribe => "inference.transcribe",
            Self::Store => "store",
            Self::Documents => "documents",
        }
    }

    /// What it means, in the host's own plain words, for whoever is asked to grant it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::MemoryRead => "see how much memory models hold and how many requests they served, no texts",
            Self::MemoryControl => "give memory of models back, set their run options, reload or unload them",
            Self::InferenceEmbed => "have models turn texts into vectors",
            Self::InferenceGenerate => "have models write text",
            Self::InferenceTranscribe => "have models write down speech",
            Self::Store => "keep data of its own on this disk, up to its quota",
            Self::Documents => "read the files and folders that you pick for it",
        }
    }

    /// Whether it is granted model by model.
    pub fn is_of_models(self) -> bool {
        !matches!(self, Self::Store | Self::Documents)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Capability {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no capability '{name}'; there are {names}")
        })
    }
}

/// What a plugin is for: the world of `ebb:plugin` that its component fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PluginWorld {
    /// Decides when a model gives memory back.
    ShrinkPolicy,
    /// Answers questions about documents.
    RagPipeline,
}

impl PluginWorld {
    /// Its name in WIT.
    pub fn name(self) -> &'static str {
        match self {
            Self::ShrinkPolicy => "shrink-policy",
            Self::RagPipeline => "rag-pipeline",
        }
    }

    /// What a plugin of this world can be granted.
    pub fn capabilities(self) -> &'static [Capability] {
        match self {
            Self::ShrinkPolicy => &[Capability::MemoryRead, Capability::MemoryControl],
            Self::RagPipeline => &Capability::ALL,
        }
    }
}

impl fmt::Display for PluginWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a plugin says of itself: `plugin.toml` in its folder, the custom section [`PluginManifest::SECTION`] (as JSON) in its
/// component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PluginManifest {
    /// Its unique name: 1 to 64 small letters, digits and `-`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its version: `1.2.3`.
    pub version: String,
    /// What it does, in a sentence.
    pub description: String,
    /// Who made it.
    pub author: String,
    /// Its licence, as SPDX names it.
    pub licence: String,
    /// Where to read more.
    #[serde(default)]
    pub homepage: Option<String>,
    /// The world that its component fills.
    pub world: PluginWorld,
    /// The version of `ebb:plugin` that it was built for: `0.1.0`.
    pub contract: String,
    /// What it asks for.
    #[serde(default)]
    pub capabilities: Vec<CapabilityRequest>,
    /// What it asks to be limited to; the host's defaults where nothing is said.
    #[serde(default)]
    pub limits: PluginLimits,
    /// A JSON schema of its settings: an object whose properties have a `type` of `string`, `number`, `integer` or
    /// `boolean`, a `default`, and may have `title`, `description`, `minimum`, `maximum`, `enum`.
    #[serde(default)]
    pub settings: Option<Json>,
    /// What a policy promises, in a number that a replay can check.
    #[serde(default)]
    pub promise: Option<Promise>,
}

impl PluginManifest {
    /// Name of the custom section that holds the manifest.
    pub const SECTION: &'static str = "ebb:plugin-manifest";
}

/// A capability that a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CapabilityRequest {
    /// Which.
    pub capability: Capability,
    /// What for, in the author's words, for whoever is asked to grant it.
    pub reason: String,
}

/// What a policy promises: that over a replay of the recorded workload, a figure stays within a bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The figure.
    pub figure: PromiseFigure,
    /// The bound.
    pub at_most: f64,
    /// The promise in words.
    pub words: String,
}

/// Figures that a policy can promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromiseFigure {
    /// Mean reserved bytes, as a part of what they are without the policy.
    MeanReservedRatio,
    /// Reserved bytes at the end of the workload, as a part of those right after load.
    EndReservedRatio,
    /// Part of the time in which reserved is more than twice what is in use.
    OverTwiceInUse,
    /// Longest time that slack of more than 16 MiB stays while the model is idle, in milliseconds.
    IdleSlackMs,
    /// Milliseconds from a shortage of memory to its end.
    ReliefMs,
}

/// What a plugin is held to. A field that is not given is the host's default; none can go above the host's own maximum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PluginLimits {
    /// Linear memory of an instance. Default 64 MiB, at most 1 GiB.
    pub memory_bytes: Option<u64>,
    /// Elements of all tables of an instance. Default 20,000, at most 200,000.
    pub table_elements: Option<u32>,
    /// Handles that are open at once. Default 1,000, at most 10,000.
    pub handles: Option<u32>,
    /// Processor time of one call. Policies: always 5 ms. Pipelines: default 60 s, at most 10 min.
    pub cpu_ms: Option<u64>,
    /// Wall time of one call, waiting for models included. Policies: always 50 ms. Pipelines: default 10 min, at most 24 h.
    pub call_ms: Option<u64>,
    /// Host calls a second, on average over a second. Default 10,000, at most 100,000.
    pub host_calls_per_s: Option<u32>,
    /// Largest text or block handed over in one call. Default 16 MiB, at most 64 MiB.
    pub payload_bytes: Option<u64>,
    /// What its store may hold. Default 1 GiB, at most 64 GiB.
    pub store_bytes: Option<u64>,
    /// What its log may hold on disk. Default 1 MiB, at most 16 MiB.
    pub log_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_has_one_name_everywhere() {
        for capability in Capability::ALL {
            let json = serde_json::to_string(&capability).unwrap();
            assert_eq!(json, format!("\"{}\"", capability.name()));
            assert_eq!(capability.name().parse(), Ok(capability));
        }
        let error = "memory.write".parse::<Capability>().unwrap_err();
        assert!(error.contains("memory.control"), "{error}");
    }

    #[test]
    fn a_field_that_a_manifest_does_not_have_is_an_error() {
        let json = r#"{"id": "a", "name": "A", "version": "1.0.0", "description": "d", "author": "me", "licence": "MIT",
            "world": "shrink-policy", "contract": "0.1.0"}"#;
        let manifest: PluginManifest = serde_json::from_str(json).unwrap();
        assert_eq!((manifest.world, manifest.capabilities.len()), (PluginWorld::ShrinkPolicy, 0));
        let error =
            serde_json::from_str::<PluginManifest>(&json.replace("\"world\"", "\"wordl\"")).unwrap_err();
        assert!(error.to_string().contains("wordl"), "{error}");
    }
}
