//! `ebb plugin ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ebb_core::Capability;

use super::{AuthorCommand, Pair};

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    #[command(flatten)]
    Author(AuthorCommand),
    /// List plugins: those that ship with Ebb, and those that were installed
    List,
    /// Show a plugin: what it asked for, was granted and really used; where it is attached; its settings
    Info {
        /// Id of the plugin
        plugin: String,
    },
    /// Install a plugin from its component (.wasm), or a folder under development, which is watched and reloaded
    Install {
        /// The file or folder
        path: PathBuf,
        /// Replace a plugin of the same id; it keeps what it was granted, as far as the new one asks for it too
        #[arg(long)]
        replace: bool,
    },
    /// Grant a plugin capabilities that it asks for
    Grant(GrantArgs),
    /// Take capabilities back: on the models and paths named, or altogether
    Revoke(GrantArgs),
    /// Have a policy decide for a model
    Attach {
        /// Id of the plugin
        plugin: String,
        /// Alias of the model
        model: String,
        /// Its place among the model's policies, from 0; the first that decides something other than keep wins
        #[arg(long, value_name = "N")]
        position: Option<u32>,
        /// Grant what it asks for, on this model alone
        #[arg(long)]
        grant: bool,
    },
    /// Have a policy decide for a model no longer
    Detach {
        /// Id of the plugin
        plugin: String,
        /// Alias of the model
        model: String,
    },
    /// Show a plugin's settings, or change them
    Settings {
        /// Id of the plugin
        plugin: String,
        /// New values; an empty one goes back to the default
        #[arg(value_name = "NAME=VALUE")]
        settings: Vec<Pair>,
    },
    /// Show the log of a plugin
    Logs {
        /// Id of the plugin
        plugin: String,
        /// Go on with what comes, until Ctrl-C
        #[arg(long, short)]
        follow: bool,
        /// How many of the last lines
        #[arg(long, value_name = "N", default_value_t = 50)]
        lines: u32,
    },
    /// Try a plugin that you develop: install its folder, attach or ask it, follow its log until Ctrl-C, remove it
    Run(RunArgs),
    /// Remove a plugin with all that it kept
    Remove {
        /// Id of the plugin
        plugin: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// Id of the plugin
    pub(crate) plugin: String,
    /// The capabilities: memory.read, memory.control, inference.embed, inference.generate, inference.transcribe, store,
    /// documents; 'all' is every one that it asks for
    #[arg(required = true, value_name = "CAPABILITY", value_parser = wanted)]
    pub(crate) capabilities: Vec<Wanted>,
    /// On this model; '*' is every model. May be repeated
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<String>,
    /// This file or folder, for documents. May be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Its folder, built
    pub(crate) folder: PathBuf,
    /// A model that it may use, and that it is attached to if it is a policy. May be repeated
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<String>,
    /// A file or folder that it may read. May be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<PathBuf>,
    /// Ask a pipeline this, once it has read its documents
    #[arg(long, value_name = "QUESTION")]
    pub(crate) ask: Option<String>,
}

/// A capability as it may be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    All,
    One(Capability),
}

fn wanted(typed: &str) -> Result<Wanted, String> {
    if typed == "all" { Ok(Wanted::All) } else { typed.parse().map(Wanted::One) }
}
