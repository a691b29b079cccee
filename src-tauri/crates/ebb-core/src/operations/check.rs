//! What load options would come to, without loading anything.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::options::OptionLine;

/// What load options would come to. Nothing is loaded for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OptionsCheck {
    /// The model's alias.
    pub model: String,
    /// What would become of each option, those of the profile included, and of what Ebb sets by itself. An option that is
    /// refused has none. `effective` shows only once a model is loaded, except where an option is known to do nothing.
    pub lines: Vec<OptionLine>,
    /// What a person should know, errors first. With an error the model does not load.
    pub problems: Vec<OptionProblem>,
    /// What the model would need with these options; `None` where the system does not tell its memory.
    pub estimate: Option<Estimate>,
    /// Whether the model is in memory with other options and has to be loaded again for these.
    pub needs_reload: bool,
    /// What differs from what is in memory, by field: `threads`, `arena_options.max_mem`. Empty where it is not in memory.
    pub changed: Vec<String>,
    /// The command line that loads it so, quoted for a shell; `None` where an option cannot be written on one.
    pub cli: Option<String>,
    /// The lines of Python that load it so.
    pub python: String,
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The model does not load like this.
    Error,
    /// It loads, and something in it does not do what was probably meant.
    Warning,
    /// Good to know.
    Note,
}

/// Something that a person should know about load options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OptionProblem {
    /// How much it matters.
    pub severity: Severity,
    /// The field that it is about, as it was sent: `threads`, `arena_options.max_mem`,
    /// `provider_options.cuda.gpu_mem_limit`; `None` where it is about all of them together.
    pub field: Option<String>,
    /// What is so.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The key that was probably meant, where that of the field is not known.
    pub nearest: Option<String>,
}
