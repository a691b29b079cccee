//! Runtime memory controls of a loaded model.

/// The controls of one model.
pub struct Runtime {
    /// Whose; none once it was closed.
    pub(crate) model: Option<String>,
}
