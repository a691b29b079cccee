//! `ebb model pull`

use clap::Args;
use ebb_hub::Reference;

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// The model; with :VARIANT for one of several (q4, int8, a folder, a part of a GGUF file's name)
    #[arg(value_name = "hf:ORG/NAME[:VARIANT]")]
    pub(crate) model: Reference,
    /// Its name from now on; the repository's in lower case where not given
    #[arg(long, value_name = "ALIAS")]
    pub(crate) alias: Option<String>,
    /// A branch, tag or commit other than the main branch
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<String>,
    /// Replace the model's folder where it holds something else or another version
    #[arg(long)]
    pub(crate) force: bool,
}
