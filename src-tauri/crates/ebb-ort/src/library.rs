//! Finding the ONNX Runtime library.

use std::{fmt, path::PathBuf};

/// A library that was tried and did not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Where.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}
