//! Plugins: installing, granting, attaching, asking.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use ebb_core::operations::{
    AskAnswer, AskPiece, AskRequest, AttachPlugin, DetachPlugin, Grants, IngestPiece, InstallPlugin,
    PluginEntry, PluginIndex, PluginList, PluginLog, PluginSettings,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{
    error::Rejection,
    routes::App,
    sent::{Asked, Named, Sent},
    stream,
};

/// Every plugin.
#[utoipa::path(get, path = "/ebb/v1/plugins", tag = "plugins", responses((status = 200, body = PluginList)))]
pub(crate) async fn plugins(State(app): State<App>) -> Answer<PluginList> {
    Ok(Json(app.host.plugins().await?))
}

/// Installs a plugin from a file or folder of the host's machine.
#[utoipa::path(post, path = "/ebb/v1/plugins", tag = "plugins", request_body = InstallPlugin,
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn install_plugin(
    State(app): State<App>,
    Sent(body): Sent<InstallPlugin>,
) -> Answer<PluginEntry> {
    Ok(Json(app.host.install_plugin(body).await?))
}

/// A plugin: what it asked for, was granted and really used; where it is attached.
#[utoipa::path(get, path = "/ebb/v1/plugins/{id}", tag = "plugins", responses((status = 200, body = PluginEntry)))]
pub(crate) async fn plugin(State(app): State<App>, Named(id): Named) -> Answer<PluginEntry> {
    Ok(Json(app.host.plugin(&id).await?))
}

/// Removes a plugin with all that it kept.
#[utoipa::path(delete, path = "/ebb/v1/plugins/{id}", tag = "plugins",
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn remove_plugin(State(app): State<App>, Named(id): Named) -> Answer<PluginEntry> {
    Ok(Json(app.host.remove_plugin(&id).await?))
}

/// Grants a plugin something, besides what was granted before.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/grant", tag = "plugins", request_body = Grants,
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn grant_plugin(
    State(app): State<App>,
    Named(id): Named,
    Sent(body): Sent<Grants>,
) -> Answer<PluginEntry> {
    Ok(Json(app.host.grant_plugin(&id, body).await?))
}

/// Takes back what a plugin was granted.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/revoke", tag = "plugins", request_body = Grants,
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn revoke_plugin(
    State(app): State<App>,
    Named(id): Named,
    Sent(body): Sent<Grants>,
) -> Answer<PluginEntry> {
    Ok(Json(app.host.revoke_plugin(&id, body).await?))
}

/// Has a policy decide for a model.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/attach", tag = "plugins", request_body = AttachPlugin,
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn attach_plugin(
    State(app): State<App>,
    Named(id): Named,
    Sent(body): Sent<AttachPlugin>,
) -> Answer<PluginEntry> {
    Ok(Json(app.host.attach_plugin(&id, body).await?))
}

/// Has a policy decide for a model no longer.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/detach", tag = "plugins", request_body = DetachPlugin,
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn detach_plugin(
    State(app): State<App>,
    Named(id): Named,
    Sent(body): Sent<DetachPlugin>,
) -> Answer<PluginEntry> {
    Ok(Json(app.host.detach_plugin(&id, body).await?))
}

/// Changes settings of a plugin; those not named stay.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/settings", tag = "plugins", request_body = PluginSettings,
    responses((status = 200, body = PluginEntry)))]
pub(crate) async fn set_plugin_settings(
    State(app): State<App>,
    Named(id): Named,
    Sent(body): Sent<PluginSettings>,
) -> Answer<PluginEntry> {
    Ok(Json(app.host.set_plugin_settings(&id, body).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogAsked {
    /// How many of the last lines to give; 100 where not given.
    #[serde(default = "some_lines")]
    lines: u32,
    /// Go on with what comes: lines of JSON, until the host closes.
    #[serde(default)]
    follow: bool,
}

fn some_lines() -> u32 {
    100
}

/// The end of a plugin's log.
#[utoipa::path(get, path = "/ebb/v1/plugins/{id}/log", tag = "plugins", params(LogAsked),
    responses((status = 200, content((PluginLog = "application/json"),
        (ebb_core::operations::PluginLogLine = "application/x-ndjson")))))]
pub(crate) async fn plugin_log(
    State(app): State<App>,
    Named(id): Named,
    Asked(LogAsked { lines, follow }): Asked<LogAsked>,
) -> Result<Response, Rejection> {
    if !follow {
        return Ok(Json(app.host.plugin_log(&id, lines).await?).into_response());
    }
    // First the listening, then the tail: a line that comes between them is told once, by its number.
    let coming = app.host.follow_plugin_log(&id).await?;
    let tail = app.host.plugin_log(&id, lines).await?.lines;
    Ok(stream::log_lines(tail, coming, app.closing.clone()))
}

/// Brings a pipeline's index up to date with the documents that it was granted.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/ingest", tag = "plugins",
    responses((status = 200, body = IngestPiece, content_type = "application/x-ndjson")))]
pub(crate) async fn ingest(State(app): State<App>, Named(id): Named) -> Result<Response, Rejection> {
    Ok(stream::ingest_lines(app.host.ingest(&id).await?).await?)
}

/// Asks a pipeline a question.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/ask", tag = "plugins", request_body = AskRequest,
    responses((status = 200, content((AskAnswer = "application/json"), (AskPiece = "application/x-ndjson")))))]
pub(crate) async fn ask(
    State(app): State<App>,
    Named(id): Named,
    Sent(body): Sent<AskRequest>,
) -> Result<Response, Rejection> {
    let streamed = body.stream;
    let pieces = app.host.ask(&id, body).await?;
    if streamed {
        return Ok(stream::ask_lines(pieces).await?);
    }
    Ok(Json(pieces.whole().await?).into_response())
}

/// What a pipeline's index holds.
#[utoipa::path(get, path = "/ebb/v1/plugins/{id}/index", tag = "plugins",
    responses((status = 200, body = PluginIndex)))]
pub(crate) async fn plugin_index(State(app): State<App>, Named(id): Named) -> Answer<PluginIndex> {
    Ok(Json(app.host.plugin_index(&id).await?))
}
