//! `ebb key ...`

use clap::{Subcommand, ValueEnum};
use ebb_core::operations::KeyScope;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key; it is shown now and never again
    Add {
        /// Its name
        name: String,
        /// What its holder may do; 'infer' where not given. May be repeated
        #[arg(long, value_name = "SCOPE", value_enum)]
        scope: Vec<ScopeArg>,
    },
    /// List keys, without their secrets
    List,
    /// Remove a key: it opens nothing from here on
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Use models that were added
    Infer,
    /// Everything else: load, shrink, add and remove models and keys, end the host
    Control,
}

impl From<ScopeArg> for KeyScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Infer => Self::Infer,
            ScopeArg::Control => Self::Control,
        }
    }
}
