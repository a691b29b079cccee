//! How supervising workers fails.

use std::{io, path::PathBuf};

use ebb_core::{Code, Failure};

/// How supervising workers fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The worker program does not start.
    #[error("the worker program {} does not start", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The worker ended by itself.
    #[error("the worker of '{model}' ended: {reason}")]
    Ended {
        /// The model.
        model: String,
        /// Exit code, signal, or lack of memory.
        reason: String,
    },
    /// The worker does not speak the protocol.
    #[error("the worker of '{model}' cannot be talked to: {source}")]
    Talk {
        /// The model.
        model: String,
        /// Why.
        #[source]
        source: ebb_ipc::Error,
    },
    /// The worker program printed something else than what it was asked for.
    #[error("the worker program {} answered with something else than JSON", program.display())]
    Answer {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// Too many requests wait.
    #[error("{waiting} requests wait for '{model}' already")]
    Busy {
        /// The model.
        model: String,
        /// How many wait.
        waiting: u32,
    },
    /// The model is not, or not any more, in memory.
    #[error("'{0}' is not loaded")]
    NotLoaded(String),
    /// The model was unloaded while a request ran.
    #[error("'{0}' was unloaded before the request was answered")]
    Unloaded(String),
    /// A request is more than a worker can be sent.
    #[error("the request does not fit into a message to the worker: {source}")]
    Request {
        /// Why.
        #[source]
        source: ebb_ipc::Error,
    },
    /// No more run options can be set.
    #[error("'{model}' has {most} run options, and takes no more")]
    TooManyOptions {
        /// The model.
        model: String,
        /// How many it has.
        most: usize,
    },
    /// The model is in memory already.
    #[error("'{0}' is loaded already")]
    AlreadyLoaded(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = match &error {
            Error::Start { source, .. } => format!("{error}: {source}"),
            _ => error.to_string(),
        };
        let (code, hint) = match error {
            Error::Start { .. } => {
                (Code::Internal, "put `ebb-worker` beside `ebb`, or set EBB_WORKER to its path".to_owned())
            }
            Error::Ended { model, .. } => (
                Code::WorkerCrashed,
                format!(
                    "the host's log has more: `ebb server logs`; load it again: `ebb model load {model}`"
                ),
            ),
            Error::Talk { .. } | Error::Answer { .. } => {
                (Code::Internal, "install ebb and ebb-worker of one version".to_owned())
            }
            Error::Busy { .. } => {
                (Code::Busy, "try again later, or load the model with a longer queue".to_owned())
            }
            Error::Request { source: ebb_ipc::Error::TooLarge { .. } } => {
                (Code::TooLarge, "send it in several requests".to_owned())
            }
            Error::Request { .. } => (Code::Internal, "this is a fault of Ebb".to_owned()),
            Error::NotLoaded(model) | Error::Unloaded(model) => {
                (Code::NotLoaded, format!("load it first: `ebb model load {model}`"))
            }
            Error::TooManyOptions { model, .. } => (
                Code::InvalidRequest,
                format!("remove those that are not needed: `ebb model runtime-options {model}` lists them"),
            ),
            Error::AlreadyLoaded(_) => (Code::Conflict, "unload it first".to_owned()),
        };
        Self::new(code, message).hint(hint)
    }
}
