//! Models that the caches of other programs hold. Only names of files, small JSON files and the first bytes of a file are
//! read.

mod caches;
mod folder;
mod foundry;
mod hub;
mod lm_studio;
mod ollama;
mod walk;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::Format;

pub use caches::Caches;

pub(crate) use caches::hub_home;

use folder::Held;
use walk::Walk;

/// Whose cache a model is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// That of the Hub's own programs.
    HuggingFace,
    /// Foundry Local's, and that of programs made with its SDK.
    FoundryLocal,
    /// Ollama's.
    Ollama,
    /// LM Studio's.
    LmStudio,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HuggingFace => "Hugging Face",
            Self::FoundryLocal => "Foundry Local",
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
        })
    }
}

/// A model that is here already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundModel {
    /// Whose cache it is in.
    pub source: Source,
    /// As that program calls it.
    pub name: String,
    /// Its folder, or its GGUF file.
    pub path: PathBuf,
    /// How it is stored.
    pub kind: Format,
    /// Size of its weights (of all variants that are here) or of its whole folder.
    pub bytes: u64,
    /// Why it cannot be used, where that can be told.
    pub unusable: Option<String>,
}

/// What could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The folder or file.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// By source and name.
    pub models: Vec<FoundModel>,
    /// What could not be looked at.
    pub skipped: Vec<Skipped>,
}

/// Looks for models. A cache that is not there is none; what cannot be read is skipped and told.
pub fn find(caches: &Caches) -> Found {
    let mut walk = Walk::default();
    let mut models = Vec::new();
    for root in &caches.hub {
        models.extend(hub::models(&mut walk, root));
    }
    for root in &caches.foundry {
        models.extend(foundry::models(&mut walk, root));
    }
    for root in &caches.ollama {
        models.extend(ollama::models(&mut walk, root));
    }
    for root in &caches.lm_studio {
        models.extend(lm_studio::models(&mut walk, root));
    }
    models.sort_by(|one, other| {
        (one.source, &one.name, &one.path).cmp(&(other.source, &other.name, &other.path))
    });
    models.dedup_by(|one, other| one.path == other.path && one.name == other.name);
    let skipped = walk.into_skipped();
    tracing::debug!(models = models.len(), skipped = skipped.len(), "looked for models");
    Found { models, skipped }
}

/// A model that a folder holds, under the name of what the folder is of: `name`, and what tells it from others in there.
fn named(source: Source, name: &str, root: &Path, held: Held) -> FoundModel {
    let Held { path, kind, bytes, unusable } = held;
    let below = path.strip_prefix(root).unwrap_or(Path::new(""));
    let below: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    let below = below.join("/");
    let below = if kind == Format::Gguf {
        below.get(..below.len() - ".gguf".len()).unwrap_or(&below)
    } else {
        &below
    };
    let name = if below.is_empty() { name.to_owned() } else { format!("{name}:{below}") };
    FoundModel { source, name, path, kind, bytes, unusable }
}

#[cfg(test)]
mod tests;
