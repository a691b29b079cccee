//! The host itself: its status and end, what is there and missing, the options of ONNX Runtime, events.

use axum::{Json, extract::State, response::Response};
use ebb_core::operations::{Doctor, HostStatus, LoginLink, OptionList, Shutdown};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{
    error::Rejection,
    login,
    routes::App,
    sent::{Asked, Sent},
    stream,
};

/// Which process the host is, and which models are loaded.
#[utoipa::path(get, path = "/ebb/v1/status", tag = "host", responses((status = 200, body = HostStatus)))]
pub(crate) async fn status(State(app): State<App>) -> Answer<HostStatus> {
    Ok(Json(app.host.status().await?))
}

/// Ends the host once requests in flight are done. Models that are loaded come back when a host starts again.
#[utoipa::path(post, path = "/ebb/v1/shutdown", tag = "host", request_body = Shutdown,
    responses((status = 200, body = HostStatus)))]
pub(crate) async fn shutdown(State(app): State<App>, Sent(body): Sent<Shutdown>) -> Answer<HostStatus> {
    Ok(Json(app.host.shutdown(body).await?))
}

/// What is there and what is missing: library, providers, worker, memory.
#[utoipa::path(get, path = "/ebb/v1/doctor", tag = "host", responses((status = 200, body = Doctor)))]
pub(crate) async fn doctor(State(app): State<App>) -> Answer<Doctor> {
    Ok(Json(app.host.doctor().await?))
}

/// Makes a link that lets one browser in to the page that this host serves: it works once, for five minutes.
#[utoipa::path(post, path = "/ebb/v1/login-link", tag = "host", responses((status = 200, body = LoginLink)))]
pub(crate) async fn login_link(State(app): State<App>) -> Answer<LoginLink> {
    Ok(Json(login::link(app.logins.as_deref())?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsAsked {
    /// Only what happens to this model.
    model: Option<String>,
    /// Begin with so many of the last events; at most 2,000 are kept.
    #[serde(default)]
    history: u32,
}

/// What happens to models, as it happens, until the host ends. The name of each event is its kind, its id the number of the
/// event in the host. Between the history and what comes nothing is left out and nothing told twice.
#[utoipa::path(get, path = "/ebb/v1/events", tag = "host", params(EventsAsked),
    responses((status = 200, body = ebb_core::Event, content_type = "text/event-stream")))]
pub(crate) async fn events(
    State(app): State<App>,
    Asked(EventsAsked { model, history }): Asked<EventsAsked>,
) -> Result<Response, Rejection> {
    // From before the look-up on, so that nothing that follows is missed.
    let events = app.host.events_from(history as usize, model.as_deref());
    if let Some(alias) = &model {
        app.host.model(alias).await?;
    }
    Ok(stream::server_sent(events, model, app.closing))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OptionsAsked {
    /// Words to look for; all options where none is given.
    #[serde(default)]
    search: String,
}

/// The options of ONNX Runtime and of Ebb's arena.
#[utoipa::path(get, path = "/ebb/v1/options", tag = "host", params(OptionsAsked),
    responses((status = 200, body = OptionList)))]
pub(crate) async fn options(
    State(app): State<App>,
    Asked(OptionsAsked { search }): Asked<OptionsAsked>,
) -> Answer<OptionList> {
    Ok(Json(app.host.options(&search).await?))
}
