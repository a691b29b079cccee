/// Why a call of the pipeline failed: the contract's errors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A capability or a model was not granted.
    #[error("not granted: {0}")]
    Denied(String),
    /// No such model, collection, document or key.
    #[error("not found: {0}")]
    NotFound(String),
    /// Arguments do not fit.
    #[error("{0}")]
    Invalid(String),
    /// A model, a budget or a quota is exhausted.
    #[error("busy: {0}")]
    Busy(String),
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A model or the runtime failed.
    #[error("{0}")]
    Failed(String),
}
