//! `ebb plugin new|build|check|test`: what an author of a plugin needs, without a host.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use ebb_author::Lang;
use ebb_core::PluginWorld;

#[derive(Debug, Subcommand)]
pub(crate) enum AuthorCommand {
    /// Begin a plugin: a folder that builds at once; needs no host
    New {
        /// Its id: small letters, digits and '-'
        name: String,
        /// What it is for
        #[arg(long, value_name = "WORLD", value_enum, default_value_t)]
        world: WorldArg,
        /// What it is written in
        #[arg(long, value_name = "LANG", value_enum, default_value_t)]
        lang: LangArg,
        /// Its folder; one of its name where this is not given
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Build a plugin's folder into one component, which says what it is; needs no host
    Build {
        /// The folder
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Where the component goes; ID.wasm in the folder where this is not given
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Look a plugin over without running it: manifest, world, version, limits, capabilities; needs no host
    Check {
        /// A component (.wasm), or a plugin's folder
        #[arg(default_value = ".")]
        path: PathBuf,
    },
    /// Replay a trace through a policy: its decisions, and what a model would have held with and without it; needs no host
    Test {
        /// A component (.wasm), or a plugin's folder, built
        path: PathBuf,
        /// The trace; 'ebb model record' records one
        trace: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorldArg {
    /// Decides when a model gives memory back
    #[default]
    ShrinkPolicy,
    /// Answers questions about documents
    RagPipeline,
}

impl From<WorldArg> for PluginWorld {
    fn from(world: WorldArg) -> Self {
        match world {
            WorldArg::ShrinkPolicy => Self::ShrinkPolicy,
            WorldArg::RagPipeline => Self::RagPipeline,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LangArg {
    /// With the SDK: the smallest and fastest
    #[default]
    Rust,
    /// By componentize-py
    Python,
    /// By jco, on QuickJS
    Js,
}

impl From<LangArg> for Lang {
    fn from(lang: LangArg) -> Self {
        match lang {
            LangArg::Rust => Self::Rust,
            LangArg::Python => Self::Python,
            LangArg::Js => Self::Js,
        }
    }
}
