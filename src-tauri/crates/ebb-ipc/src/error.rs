//! How talking to the other side fails.

use std::io;

/// How talking to the other side fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The pipe broke, or ended in the middle of a frame.
    #[error("the pipe to the other process broke")]
    Pipe(#[from] io::Error),
    /// What came is no greeting of Ebb's.
    #[error("the other process does not speak Ebb's protocol; is it really ebb-worker?")]
    NotEbb,
    /// The other side is of another version.
    #[error(
        "the worker speaks protocol {theirs}, this host speaks {ours}: install ebb and ebb-worker of one version"
    )]
    Version {
        /// This side's version.
        ours: u32,
        /// The other side's.
        theirs: u32,
    },
    /// A frame says that it is larger than any may be.
    #[error("a frame of {bytes} bytes is larger than the {limit} that one may have")]
    TooLarge {
        /// What the frame says.
        bytes: u64,
        /// What one may have.
        limit: u64,
    },
    /// The header is not a message.
    #[error("a frame does not hold a message")]
    Message(#[source] postcard::Error),
}
