//! `ebb rag ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum RagCommand {
    /// Let the plugin read files and folders, and bring its index up to date
    Add {
        /// The files and folders
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        models: RagModels,
        #[command(flatten)]
        plugin: RagPlugin,
    },
    /// Ask a question about the documents; the answer cites them
    Ask {
        /// The question
        question: String,
        #[command(flatten)]
        models: RagModels,
        #[command(flatten)]
        plugin: RagPlugin,
    },
    /// Bring the index up to date with the documents as they are now
    Update {
        #[command(flatten)]
        plugin: RagPlugin,
    },
    /// Take files and folders away again
    Remove {
        /// The files and folders
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        plugin: RagPlugin,
    },
    /// Show what the index holds
    Status {
        #[command(flatten)]
        plugin: RagPlugin,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RagModels {
    /// The model that makes the vectors; the only embedding model where there is one
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedding_model: Option<String>,
    /// The model that answers; the only chat model where there is one
    #[arg(long, value_name = "MODEL")]
    pub(crate) chat_model: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RagPlugin {
    /// The plugin that does it
    #[arg(long, value_name = "PLUGIN", default_value = "rag")]
    pub(crate) plugin: String,
}
