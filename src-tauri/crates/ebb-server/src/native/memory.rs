//! What a loaded model holds, and how it gives it back.

use axum::{Json, extract::State};
use ebb_core::{
    ShrinkReport,
    operations::{Armed, RuntimeOptions, SetRuntimeOption, ShrinkAllReport, ShrinkRequest, Stats},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{
    routes::App,
    sent::{Asked, Named, Sent},
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsAsked {
    /// How many of the last samples to give besides.
    #[serde(default)]
    history: u32,
}

/// What a model holds now, and its counts since it was loaded.
#[utoipa::path(get, path = "/ebb/v1/models/{alias}/stats", tag = "memory", params(StatsAsked),
    responses((status = 200, body = Stats)))]
pub(crate) async fn stats(
    State(app): State<App>,
    Named(alias): Named,
    Asked(StatsAsked { history }): Asked<StatsAsked>,
) -> Answer<Stats> {
    Ok(Json(app.host.stats(&alias, history).await?))
}

/// As the GET of the same path.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/stats", tag = "memory", params(StatsAsked),
    responses((status = 200, body = Stats)))]
pub(crate) async fn post_stats(app: State<App>, alias: Named, asked: Asked<StatsAsked>) -> Answer<Stats> {
    stats(app, alias, asked).await
}

/// Shrinks a model's arenas now, also while it runs.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/shrink", tag = "memory", request_body = ShrinkRequest,
    responses((status = 200, body = ShrinkReport)))]
pub(crate) async fn shrink(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<ShrinkRequest>,
) -> Answer<ShrinkReport> {
    Ok(Json(app.host.shrink(&alias, body).await?))
}

/// Shrinks the arenas of every model in memory now.
#[utoipa::path(post, path = "/ebb/v1/models/shrink-all", tag = "memory", request_body = ShrinkRequest,
    responses((status = 200, body = ShrinkAllReport)))]
pub(crate) async fn shrink_all(
    State(app): State<App>,
    Sent(body): Sent<ShrinkRequest>,
) -> Answer<ShrinkAllReport> {
    Ok(Json(app.host.shrink_all(body).await?))
}

/// Shrinks a model's arenas once, at the end of the next run.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/shrink-after-next-run", tag = "memory",
    request_body = ShrinkRequest, responses((status = 200, body = Armed)))]
pub(crate) async fn shrink_after_next_run(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<ShrinkRequest>,
) -> Answer<Armed> {
    Ok(Json(app.host.shrink_after_next_run(&alias, body).await?))
}

/// The run options that hold for a model.
#[utoipa::path(get, path = "/ebb/v1/models/{alias}/runtime-options", tag = "memory",
    responses((status = 200, body = RuntimeOptions)))]
pub(crate) async fn runtime_options(State(app): State<App>, Named(alias): Named) -> Answer<RuntimeOptions> {
    Ok(Json(app.host.runtime_options(&alias).await?))
}

/// Sets a run option from the next run on; an empty value removes it.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/runtime-options", tag = "memory",
    request_body = SetRuntimeOption, responses((status = 200, body = RuntimeOptions)))]
pub(crate) async fn set_runtime_option(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<SetRuntimeOption>,
) -> Answer<RuntimeOptions> {
    Ok(Json(app.host.set_runtime_option(&alias, body).await?))
}
