//! `ebb embed` and `ebb run`.

use std::path::PathBuf;

use clap::Args;

use super::{InputArg, RequestArgs};

#[derive(Debug, Args)]
pub(crate) struct EmbedArgs {
    /// Alias of the model, or its folder
    pub(crate) model: String,
    /// The texts; '-', or none, takes them from stdin, one a line
    #[arg(value_name = "TEXT", conflicts_with = "file")]
    pub(crate) texts: Vec<String>,
    /// Take the texts from a file of UTF-8, one a line; '-' is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Write the vectors as a NumPy array (float32, one row a text); without this, one JSON array a line is printed,
    /// shortened where the output is a terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TensorArgs {
    /// Alias of the model, or its file
    pub(crate) model: String,
    /// An input: NAME=x.npy, NAME=x.json (nested lists), or NAME=[[1, 2]]. Repeat it for each
    #[arg(long, value_name = "NAME=FILE|JSON", required = true)]
    pub(crate) input: Vec<InputArg>,
    /// Only this output. May be repeated; without it, all
    #[arg(long, value_name = "NAME")]
    pub(crate) output: Vec<String>,
    /// Write each output as NAME.npy into this folder; without it, they are printed as JSON, NaN and infinities as null
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
}
