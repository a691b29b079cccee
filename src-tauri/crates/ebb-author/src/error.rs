use std::{io, path::PathBuf};

use ebb_core::{Code, Failure};

use crate::Remark;

/// Why a plugin could not be begun, built, looked over or tried.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing can be called that.
    #[error("no plugin can be called '{}': {reason}", name.escape_debug())]
    BadName {
        /// As typed.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The folder that was to be made is there and holds something.
    #[error("'{}' is there already; nothing was written", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write '{}': {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder does not say what it is.
    #[error("'{}' is no plugin's folder: it has no plugin.toml", folder.display())]
    NoManifest {
        /// The folder.
        folder: PathBuf,
    },
    /// There is nothing in the folder that could be built.
    #[error("there is no plugin's source in '{}': no Cargo.toml, app.py or app.js", folder.display())]
    NoSource {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder's component is not there.
    #[error("the plugin in '{}' was not built yet", folder.display())]
    NotBuilt {
        /// The folder.
        folder: PathBuf,
    },
    /// A program that is needed is not there.
    #[error("{needs}, and it was not found")]
    NoTool {
        /// What needs which program.
        needs: String,
        /// How to get it.
        hint: String,
    },
    /// A program could not be started.
    #[error("cannot start {tool}: {source}")]
    Start {
        /// The program.
        tool: String,
        /// Why.
        source: io::Error,
    },
    /// A program that builds failed. What it said about it stands on stderr, or in `said`.
    #[error("{tool} failed{}", if said.is_empty() { String::new() } else { format!(":\n{said}") })]
    Tool {
        /// The program.
        tool: String,
        /// What it said, where nobody has seen it yet.
        said: String,
    },
    /// Rust cannot build for Wasm here.
    #[error("Rust has no target {target} here, and it could not be added: {reason}", target = crate::build::TARGET)]
    NoTarget {
        /// What was tried.
        reason: String,
    },
    /// Cargo built something else than one Wasm library.
    #[error("'{}' makes no Wasm module: its Cargo.toml needs `crate-type = [\"cdylib\", \"rlib\"]` under [lib]", folder.display())]
    NoModule {
        /// The folder.
        folder: PathBuf,
    },
    /// What was built cannot become a component.
    #[error("what was built cannot become a component: {0}")]
    Componentise(String),
    /// What was built breaks the contract; it was not written.
    #[error("what was built is no plugin that Ebb would take:\n{}", listed(.0))]
    Problems(Vec<Remark>),
    /// A component or manifest that cannot be read, or a sandbox that cannot be made.
    #[error(transparent)]
    Plugin(#[from] ebb_plugins::Error),
    /// A trace that cannot be read.
    #[error("'{}' is no trace: {reason}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Only policies can be tried on a trace.
    #[error("{plugin} is a pipeline: a trace of memory has no documents and no questions in it")]
    NoPolicy {
        /// The plugin.
        plugin: String,
    },
}

fn listed(problems: &[Remark]) -> String {
    problems.iter().map(|problem| format!("- {}", problem.message)).collect::<Vec<_>>().join("\n")
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let failed = |code| Self::new(code, message.clone());
        match error {
            Error::BadName { .. } => {
                failed(Code::InvalidValue).hint("for instance: quiet-hours").param("name")
            }
            Error::Exists { path } => failed(Code::AlreadyExists)
                .hint("choose another name, or another folder with --folder")
                .param(path.display().to_string()),
            Error::Read { path, .. } | Error::Write { path, .. } => {
                failed(Code::Storage).param(path.display().to_string())
            }
            Error::NoManifest { .. } | Error::NoSource { .. } => failed(Code::InvalidRequest)
                .hint("'ebb plugin new NAME --world shrink-policy' begins a plugin"),
            Error::NotBuilt { folder } => {
                failed(Code::InvalidRequest).hint(format!("build it: ebb plugin build {}", folder.display()))
            }
            Error::NoTool { hint, .. } => failed(Code::Unsupported).hint(hint),
            Error::NoTarget { .. } => failed(Code::Unsupported).hint(crate::build::TARGET_HINT),
            Error::Start { .. } | Error::Tool { .. } => failed(Code::InvalidRequest),
            Error::NoModule { .. } | Error::Componentise(_) => failed(Code::InvalidRequest),
            Error::Problems(problems) => {
                let hint = problems.into_iter().find_map(|problem| problem.hint);
                Self { hint, ..failed(Code::InvalidRequest) }
            }
            Error::Plugin(error) => error.into(),
            Error::Trace { path, .. } => failed(Code::InvalidRequest)
                .hint("'ebb model record MODEL --out trace.jsonl' records one")
                .param(path.display().to_string()),
            Error::NoPolicy { .. } => failed(Code::Unsupported).hint(
                "test a pipeline natively with its SDK's fake host, and try it with 'ebb plugin run FOLDER'",
            ),
        }
    }
}
