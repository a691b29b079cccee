//! Keys for apps.

use serde::{Deserialize, Serialize};

/// What the holder of a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyScope {
    /// Use models that were added: embed, generate, transcribe, run, list.
    Infer,
    /// Everything else: load with options, shrink, add and remove models, keys, end the host.
    Control,
}

/// Makes a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AddKey {
    /// Its unique name.
    pub name: String,
    /// What its holder may do; `infer` alone where not given.
    #[serde(default)]
    pub scopes: Vec<KeyScope>,
}

/// A key that was made. The host keeps only its hash: it is never shown again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddedKey {
    /// Its name.
    pub name: String,
    /// The key, as `Authorization: Bearer` takes it.
    pub key: String,
    /// What its holder may do.
    pub scopes: Vec<KeyScope>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyEntry {
    /// Its name.
    pub name: String,
    /// What its holder may do.
    pub scopes: Vec<KeyScope>,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
}

/// Every key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyList {
    /// By name.
    pub keys: Vec<KeyEntry>,
}
