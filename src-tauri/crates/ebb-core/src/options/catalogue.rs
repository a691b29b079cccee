//! What is known about every option of ONNX Runtime, from the data file beside this one.

use serde::{Deserialize, Serialize};

use super::Scope;

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// `0`, `1`, `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A size in bytes; a unit may be given.
    Bytes,
    /// A number.
    Float,
    /// One of the allowed values.
    Enum,
    /// A path.
    Path,
    /// Free text.
    String,
    /// JSON text.
    Json,
    /// An address in the process: not for text options.
    Pointer,
}

/// What is known of one option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// What it belongs to.
    pub scope: Scope,
    /// Its key.
    pub key: String,
    /// Type of its value.
    pub r#type: ValueType,
    /// Value where none is given; `None`: none, or decided at run time.
    pub default: Option<String>,
    /// Values or forms allowed; empty: any of the type.
    pub allowed: Vec<String>,
    /// Whether it changes what memory is held.
    pub memory: bool,
    /// What it does.
    pub description: String,
    /// Version of ONNX Runtime that brought it.
    pub since: Option<String>,
    /// What a person should know before using it.
    pub note: Option<String>,
}

/// Every known option.
pub fn catalogue() -> &'static [CatalogueEntry] {
    &[]
}

/// The entry for a key in a scope.
pub fn find(scope: &Scope, key: &str) -> Option<&'static CatalogueEntry> {
    catalogue().iter().find(|entry| entry.scope == *scope && entry.key == key)
}

/// The known key of the scope that is nearest to what was typed, where one is near enough to be meant.
pub fn nearest(scope: &Scope, key: &str) -> Option<&'static CatalogueEntry> {
    let _ = (scope, key);
    None
}

/// Entries whose key, scope, description or note contain every word, keys first.
pub fn search(words: &str) -> Vec<&'static CatalogueEntry> {
    let _ = words;
    Vec::new()
}
