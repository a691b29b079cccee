//! Letting a browser in.

use serde::{Deserialize, Serialize};

/// A link that lets one browser in to the page that the host serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoginLink {
    /// What to open, on the machine of the host. It works once.
    pub url: String,
    /// How long it can be used.
    pub expires_in_ms: u64,
}
