//! The machine: who holds how much of it.

use axum::{Json, extract::State};
use ebb_core::operations::System;
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{routes::App, sent::Asked};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SystemAsked {
    /// Give the sizes of Ebb's folders, too. That reads the folders: ask for it now and then, not every second.
    #[serde(default)]
    folders: bool,
}

/// Memory, devices, runtimes, and what each model holds.
#[utoipa::path(get, path = "/ebb/v1/system", tag = "host", params(SystemAsked),
    responses((status = 200, body = System)))]
pub(crate) async fn system(
    State(app): State<App>,
    Asked(SystemAsked { folders }): Asked<SystemAsked>,
) -> Answer<System> {
    Ok(Json(app.host.system(folders).await?))
}
