//! Ebb's own routes, under `/ebb/v1`: each calls the operation of the same name.

pub(crate) mod fetch;
pub(crate) mod host;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod plugins;
pub(crate) mod profiles;
pub(crate) mod recording;
pub(crate) mod system;
pub(crate) mod work;

use axum::Json;

use crate::error::Rejection;

/// An answer in JSON.
type Answer<T> = Result<Json<T>, Rejection>;
