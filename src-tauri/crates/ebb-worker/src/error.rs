//! How serving ends other than by the host's wish.

/// How serving ends other than by the host's wish.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host cannot be talked to.
    #[error("cannot talk to the host")]
    Host(#[from] ebb_ipc::Error),
    /// The first message was not a load, or a second load came.
    #[error("the host sent {0} out of turn")]
    OutOfTurn(&'static str),
    /// The model could not be loaded; the host was told.
    #[error("the model could not be loaded")]
    Load(#[source] ebb_core::Failure),
}
