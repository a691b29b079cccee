//! How a call can fail.

use std::{io, path::PathBuf};

use ebb_core::{Code, Failure};

/// How a call can fail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No host is running for this user: there is no endpoint file, or nothing answers at the address that it names.
    #[error("no Ebb host is running")]
    NotRunning {
        /// Where a running host would be named.
        endpoint_file: PathBuf,
    },
    /// The endpoint file is there and cannot be read.
    #[error("cannot read {}", path.display())]
    Endpoint {
        /// The endpoint file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The host answered with an error.
    #[error(transparent)]
    Refused(#[from] Failure),
    /// The connection to the host failed.
    #[error("the connection to the Ebb host at {url} failed")]
    Transport {
        /// The host's address.
        url: String,
        /// Why.
        source: reqwest::Error,
    },
    /// What answered does not speak as an Ebb host of this version does.
    #[error("what answers at the host's address does not speak as Ebb does: {0}")]
    Protocol(String),
}

impl Error {
    /// The same in the one error form of every door.
    pub fn failure(&self) -> Failure {
        let mut message = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let (Some(error), false) = (cause, matches!(self, Self::Refused(_))) {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        match self {
            Self::Refused(failure) => failure.clone(),
            Self::NotRunning { endpoint_file } => Failure::new(Code::NotFound, message)
                .hint("start one with 'ebb server start'")
                .param(endpoint_file.display().to_string()),
            Self::Endpoint { path, .. } => {
                Failure::new(Code::Storage, message).hint(format!("look at {}", path.display()))
            }
            Self::Transport { .. } => Failure::new(Code::Internal, message)
                .hint("the host may have ended: see 'ebb server status' and 'ebb server logs'"),
            Self::Protocol(_) => Failure::new(Code::Internal, message)
                .hint("the host may be of another version: 'ebb server restart' starts this one"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        error.failure()
    }
}
