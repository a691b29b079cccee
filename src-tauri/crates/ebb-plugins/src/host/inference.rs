//! Inference on the models that were granted.

use crate::TextStream;

/// A running generation.
pub struct Generation {
    /// None once it was cancelled.
    pub(crate) stream: Option<Box<dyn TextStream>>,
}
