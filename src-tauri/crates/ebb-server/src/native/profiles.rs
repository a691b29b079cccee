//! Named sets of load options.

use axum::{Json, extract::State};
use ebb_core::{
    Code, Failure,
    operations::{Profile, ProfileList},
};

use super::Answer;
use crate::{
    routes::App,
    sent::{Named, Sent},
};

/// Every profile.
#[utoipa::path(get, path = "/ebb/v1/profiles", tag = "profiles", responses((status = 200, body = ProfileList)))]
pub(crate) async fn profiles(State(app): State<App>) -> Answer<ProfileList> {
    Ok(Json(app.host.profiles().await?))
}

/// One profile.
#[utoipa::path(get, path = "/ebb/v1/profiles/{name}", tag = "profiles", responses((status = 200, body = Profile)))]
pub(crate) async fn profile(State(app): State<App>, Named(name): Named) -> Answer<Profile> {
    Ok(Json(app.host.profile(&name).await?))
}

/// Saves a profile.
#[utoipa::path(put, path = "/ebb/v1/profiles/{name}", tag = "profiles", request_body = Profile,
    responses((status = 200, body = Profile)))]
pub(crate) async fn save_profile(
    State(app): State<App>,
    Named(name): Named,
    Sent(body): Sent<Profile>,
) -> Answer<Profile> {
    if body.name != name {
        let message = format!("the profile is named '{}', the address '{name}'", body.name);
        return Err(Failure::new(Code::InvalidRequest, message).param("name").into());
    }
    Ok(Json(app.host.save_profile(body).await?))
}

/// Removes a profile.
#[utoipa::path(delete, path = "/ebb/v1/profiles/{name}", tag = "profiles",
    responses((status = 200, body = Profile)))]
pub(crate) async fn remove_profile(State(app): State<App>, Named(name): Named) -> Answer<Profile> {
    Ok(Json(app.host.remove_profile(&name).await?))
}
