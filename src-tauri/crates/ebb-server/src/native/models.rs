//! Models: adding, listing, loading, unloading.

use axum::{Json, extract::State};
use ebb_core::{
    LoadOptions,
    operations::{AddModel, Estimate, LoadReport, ModelEntry, ModelList, OptionsCheck, UnloadReport},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{
    routes::App,
    sent::{Asked, Named, Sent},
};

/// Every model of the catalogue.
#[utoipa::path(get, path = "/ebb/v1/models", tag = "models", responses((status = 200, body = ModelList)))]
pub(crate) async fn list_models(State(app): State<App>) -> Answer<ModelList> {
    Ok(Json(app.host.models().await?))
}

/// Adds a model to the catalogue; it is looked at, not loaded.
#[utoipa::path(post, path = "/ebb/v1/models", tag = "models", request_body = AddModel,
    responses((status = 200, body = ModelEntry)))]
pub(crate) async fn add_model(State(app): State<App>, Sent(body): Sent<AddModel>) -> Answer<ModelEntry> {
    Ok(Json(app.host.add_model(body).await?))
}

/// One model of the catalogue.
#[utoipa::path(get, path = "/ebb/v1/models/{alias}", tag = "models", responses((status = 200, body = ModelEntry)))]
pub(crate) async fn model(State(app): State<App>, Named(alias): Named) -> Answer<ModelEntry> {
    Ok(Json(app.host.model(&alias).await?))
}

/// Removes a model from the catalogue, unloading it first. Its files stay.
#[utoipa::path(delete, path = "/ebb/v1/models/{alias}", tag = "models",
    responses((status = 200, body = ModelEntry)))]
pub(crate) async fn remove_model(State(app): State<App>, Named(alias): Named) -> Answer<ModelEntry> {
    Ok(Json(app.host.remove_model(&alias).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LoadAsked {
    /// Load it anew where it is loaded with other options.
    #[serde(default)]
    force: bool,
}

/// Loads a model into a worker process of its own.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/load", tag = "models", params(LoadAsked),
    request_body = LoadOptions, responses((status = 200, body = LoadReport)))]
pub(crate) async fn load(
    State(app): State<App>,
    Named(alias): Named,
    Asked(LoadAsked { force }): Asked<LoadAsked>,
    Sent(body): Sent<LoadOptions>,
) -> Answer<LoadReport> {
    Ok(Json(app.host.load(&alias, body, force).await?))
}

/// What load options would come to: each option's line, every problem, what the model would need, and how to type the same.
/// Nothing is loaded. Whatever is wrong with the options stands in the answer.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/check", tag = "models", request_body = LoadOptions,
    responses((status = 200, body = OptionsCheck)))]
pub(crate) async fn check_options(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<LoadOptions>,
) -> Answer<OptionsCheck> {
    Ok(Json(app.host.check_options(&alias, body).await?))
}

/// Ends a model's worker: all that it held comes back.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/unload", tag = "models",
    responses((status = 200, body = UnloadReport)))]
pub(crate) async fn unload(State(app): State<App>, Named(alias): Named) -> Answer<UnloadReport> {
    Ok(Json(app.host.unload(&alias).await?))
}

/// What a model will need in memory.
#[utoipa::path(get, path = "/ebb/v1/models/{alias}/estimate", tag = "models",
    responses((status = 200, body = Estimate)))]
pub(crate) async fn estimate(State(app): State<App>, Named(alias): Named) -> Answer<Estimate> {
    Ok(Json(app.host.estimate(&alias).await?))
}
