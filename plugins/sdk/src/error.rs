//! What calls of the host fail with, and what a pipeline tells it.

use std::fmt;

use crate::bindings::types;

/// Why a call failed. The texts are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The capability was not granted to this plugin, or not for this model; the text names it.
    Denied(String),
    /// There is no such model, collection, document or key.
    NotFound(String),
    /// The arguments do not fit; the text says which and why.
    Invalid(String),
    /// The model, or the plugin's own budget or quota, is exhausted; retry later.
    Busy(String),
    /// The caller cancelled the work.
    Cancelled,
    /// Something failed; the text carries its message.
    Failed(String),
    /// What later versions of the contract add.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(what) => write!(f, "not granted: {what}"),
            Self::NotFound(what) => write!(f, "not found: {what}"),
            Self::Invalid(what) | Self::Failed(what) | Self::Other(what) => f.write_str(what),
            Self::Busy(what) => write!(f, "busy: {what}"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for Error {}

/// So that `?` serves in policies, whose hooks fail with a text.
impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

/// So that `Err("…")?` serves in pipelines.
impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Self::Failed(message.to_owned())
    }
}

impl From<types::Error> for Error {
    fn from(error: types::Error) -> Self {
        match error {
            types::Error::Denied(what) => Self::Denied(what),
            types::Error::NotFound(what) => Self::NotFound(what),
            types::Error::Invalid(what) => Self::Invalid(what),
            types::Error::Busy(what) => Self::Busy(what),
            types::Error::Cancelled => Self::Cancelled,
            types::Error::Failed(what) => Self::Failed(what),
            types::Error::Other(what) => Self::Other(what),
        }
    }
}

impl From<Error> for types::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(what) => Self::Denied(what),
            Error::NotFound(what) => Self::NotFound(what),
            Error::Invalid(what) => Self::Invalid(what),
            Error::Busy(what) => Self::Busy(what),
            Error::Cancelled => Self::Cancelled,
            Error::Failed(what) => Self::Failed(what),
            Error::Other(what) => Self::Other(what),
        }
    }
}
