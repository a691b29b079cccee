//! The host's own log.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use ebb_core::operations::{HostLog, HostLogLine};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{error::Rejection, routes::App, sent::Asked, stream};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HostLogAsked {
    /// How many of the last lines to give; 100 where not given, and at most 2,000 are kept.
    #[serde(default = "some_lines")]
    lines: u32,
    /// Go on with what comes: lines of JSON, until the host ends.
    #[serde(default)]
    follow: bool,
}

fn some_lines() -> u32 {
    100
}

/// The end of the host's own log. Texts of requests and answers are not in it.
#[utoipa::path(get, path = "/ebb/v1/log", tag = "host", params(HostLogAsked),
    responses((status = 200, content((HostLog = "application/json"), (HostLogLine = "application/x-ndjson")))))]
pub(crate) async fn host_log(
    State(app): State<App>,
    Asked(HostLogAsked { lines, follow }): Asked<HostLogAsked>,
) -> Result<Response, Rejection> {
    if !follow {
        return Ok(Json(app.host.host_log(lines).await?).into_response());
    }
    let (log, coming) = app.host.follow_host_log(lines);
    Ok(stream::host_log_lines(log.lines, coming, app.closing))
}
