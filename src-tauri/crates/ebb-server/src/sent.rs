//! What a client sent, read within limits, refused in the one error form.

use std::{error::Error as _, time::Duration};

use axum::{
    body::Body,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{header, request::Parts},
};
use bytes::Bytes;
use ebb_core::{Code, Failure, Target, format_bytes};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::{error::Rejection, routes::App};

/// What bodies may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Largest body.
    pub(crate) body_bytes: usize,
    /// Largest audio file.
    pub(crate) audio_bytes: usize,
    /// Longest time that a client may take to send one.
    pub(crate) body_time: Duration,
}

/// A JSON body. An empty one counts as `{}`, so that a request without wishes needs none.
pub(crate) struct Sent<T>(pub(crate) T);

/// An audio file as body.
pub(crate) struct File(pub(crate) Bytes);

impl FromRequest<App> for File {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        Ok(Self(read(request, Limits { body_bytes: app.limits.audio_bytes, ..app.limits }).await?))
    }
}

/// The parameters after the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

/// The alias or name in the path.
pub(crate) struct Named(pub(crate) String);

impl<T: DeserializeOwned> FromRequest<App> for Sent<T> {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        let body = read(request, app.limits).await?;
        let json: &[u8] = if body.trim_ascii().is_empty() { b"{}" } else { &body };
        let unfit = |why: String| {
            Failure::new(Code::InvalidRequest, format!("the request's JSON does not fit: {why}"))
                .param("body")
        };
        if !json.trim_ascii_start().starts_with(b"{") {
            // Serde would take an array for the fields in order, which nobody means.
            return Err(unfit("an object is expected".to_owned()).into());
        }
        let value = serde_json::from_slice(json).map_err(|error| {
            let why = error.to_string();
            bad_target(json, &why).unwrap_or_else(|| unfit(why))
        })?;
        Ok(Self(value))
    }
}

/// The failure of the shrink target that `why` speaks of, if it does: serde keeps its message, and loses its code and hint.
fn bad_target(json: &[u8], why: &str) -> Option<Failure> {
    let body: serde_json::Value = serde_json::from_slice(json).ok()?;
    ["targets", "shrink_after"].into_iter().find_map(|field| {
        let failure =
            body.get(field)?.as_array()?.iter().find_map(|target| Target::parse(target.as_str()?).err())?;
        why.starts_with(&failure.message).then(|| failure.param(field))
    })
}

async fn read(request: Request, limits: Limits) -> Result<Bytes, Failure> {
    let announced =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limits.body_bytes as u64) {
        // Refused before it is sent.
        return Err(too_large(limits));
    }
    let body: Limited<Body> = Limited::new(request.into_body(), limits.body_bytes);
    match tokio::time::timeout(limits.body_time, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(error)) => Err(Failure::new(Code::InvalidRequest, format!("the body broke off: {error}"))),
        Err(_) => Err(Failure::new(Code::Timeout, "the body took too long to arrive")
            .hint(format!("send it within {} seconds", limits.body_time.as_secs()))),
    }
}

fn too_large(limits: Limits) -> Failure {
    let limit = format_bytes(limits.body_bytes as u64);
    Failure::new(Code::TooLarge, format!("the body is larger than {limit}"))
        .hint("send it in several requests")
        .detail("limit_bytes", limits.body_bytes as u64)
}

impl<T: DeserializeOwned> FromRequestParts<App> for Asked<T> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Rejection> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(error) => {
                // The reason alone: before it stands what was done, in a library's words.
                let why = error.source().map_or_else(|| error.body_text(), ToString::to_string);
                let message = format!("what follows '?' in the address does not fit: {why}");
                Err(Failure::new(Code::InvalidRequest, message).param("query").into())
            }
        }
    }
}

impl FromRequestParts<App> for Named {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Rejection> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(error) => Err(Failure::new(Code::InvalidRequest, error.body_text()).param("path").into()),
        }
    }
}
