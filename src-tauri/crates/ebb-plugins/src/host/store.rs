//! The plugin's own durable store.

/// An open collection.
pub struct Collection {
    /// Its name; none once it was closed.
    pub(crate) name: Option<String>,
}
