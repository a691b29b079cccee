//! Keys for apps.

use axum::{Json, extract::State};
use ebb_core::operations::{AddKey, AddedKey, KeyEntry, KeyList};

use super::Answer;
use crate::{
    routes::App,
    sent::{Named, Sent},
};

/// Every key, without its secret.
#[utoipa::path(get, path = "/ebb/v1/keys", tag = "keys", responses((status = 200, body = KeyList)))]
pub(crate) async fn keys(State(app): State<App>) -> Answer<KeyList> {
    Ok(Json(app.host.keys().await?))
}

/// Makes a key, which is never shown again.
#[utoipa::path(post, path = "/ebb/v1/keys", tag = "keys", request_body = AddKey,
    responses((status = 200, body = AddedKey)))]
pub(crate) async fn add_key(State(app): State<App>, Sent(body): Sent<AddKey>) -> Answer<AddedKey> {
    Ok(Json(app.host.add_key(body).await?))
}

/// Removes a key: it opens nothing from then on.
#[utoipa::path(delete, path = "/ebb/v1/keys/{name}", tag = "keys", responses((status = 200, body = KeyEntry)))]
pub(crate) async fn remove_key(State(app): State<App>, Named(name): Named) -> Answer<KeyEntry> {
    Ok(Json(app.host.remove_key(&name).await?))
}
