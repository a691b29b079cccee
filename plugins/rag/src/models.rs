//! Which models the pipeline uses.

use ebb_plugin_sdk::{Error, inference::ModelInfo};

use crate::host::Host;

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Embed,
    Chat,
}

impl Use {
    fn kind(self) -> &'static str {
        match self {
            Self::Embed => "embeddings",
            Self::Chat => "chat",
        }
    }

    fn capability(self) -> &'static str {
        match self {
            Self::Embed => "inference.embed",
            Self::Chat => "inference.generate",
        }
    }
}

/// The model that a setting names, else the first of its kind that was granted.
pub(crate) fn pick(host: &impl Host, wanted: &str, what: Use) -> Result<String, Error> {
    let model = host.models()?.into_iter().filter(|model| model.kind == what.kind());
    let found = model.map(|model| model.alias).find(|alias| wanted.is_empty() || alias == wanted);
    found.ok_or_else(|| {
        let (kind, capability) = (what.kind(), what.capability());
        Error::Denied(match wanted {
            "" => format!("{capability}, on a model of the kind {kind}"),
            wanted => format!("{capability}, on the model '{wanted}' that the settings name"),
        })
    })
}

/// What is known of a model; some of it only once it is in memory.
pub(crate) fn info(host: &impl Host, alias: &str) -> Result<ModelInfo, Error> {
    let model = host.models()?.into_iter().find(|model| model.alias == alias);
    model.ok_or_else(|| Error::NotFound(format!("the model '{alias}'")))
}
