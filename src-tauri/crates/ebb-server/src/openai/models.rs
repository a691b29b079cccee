//! `GET /v1/models`.

use axum::{Json, extract::State};
use ebb_core::{
    ModelKind,
    operations::{ModelEntry, ModelState},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{error::Rejection, routes::App, sent::Named};

/// Every model of the catalogue.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedModels {
    /// `list`.
    object: &'static str,
    data: Vec<ListedModel>,
}

/// A model of the catalogue.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedModel {
    /// Its alias.
    id: String,
    /// `model`.
    object: &'static str,
    /// Always 0: when a model was made is not known.
    created: u64,
    /// `ebb`.
    owned_by: &'static str,
    /// What Ebb knows besides.
    ebb: KnownOfModel,
}

/// What Ebb knows of a model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KnownOfModel {
    kind: ModelKind,
    state: ModelState,
    weights_bytes: u64,
}

impl From<ModelEntry> for ListedModel {
    fn from(entry: ModelEntry) -> Self {
        let ModelEntry { alias, kind, state, weights_bytes, .. } = entry;
        Self {
            id: alias,
            object: "model",
            created: 0,
            owned_by: "ebb",
            ebb: KnownOfModel { kind, state, weights_bytes },
        }
    }
}

/// Every model of the catalogue, in OpenAI's words.
#[utoipa::path(get, path = "/v1/models", tag = "openai", responses((status = 200, body = ListedModels)))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<ListedModels>, Rejection> {
    let models = app.host.models().await?.models;
    Ok(Json(ListedModels { object: "list", data: models.into_iter().map(ListedModel::from).collect() }))
}

/// One model of the catalogue, in OpenAI's words.
#[utoipa::path(get, path = "/v1/models/{model}", tag = "openai", responses((status = 200, body = ListedModel)))]
pub(crate) async fn one(State(app): State<App>, Named(alias): Named) -> Result<Json<ListedModel>, Rejection> {
    Ok(Json(app.host.model(&alias).await?.into()))
}
