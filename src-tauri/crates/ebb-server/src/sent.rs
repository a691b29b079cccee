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

/// What one body may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) most_bytes: usize,
    pub(crate) time: Duration,
    /// What to do where it is larger.
    hint: &'static str,
}

impl Limits {
    pub(crate) fn of_json(self) -> Limit {
        Limit {
            most_bytes: self.body_bytes,
            time: self.body_time,
            hint: "ask for less at once: split it into several requests",
        }
    }

    pub(crate) fn of_audio(self) -> Limit {
        Limit {
            most_bytes: self.audio_bytes,
            time: self.body_time,
            hint: "send a compressed format such as FLAC or MP3, or cut the recording into parts",
        }
    }
}

/// A JSON body. An empty one counts as `{}`, so that a request without wishes needs none.
pub(crate) struct Sent<T>(pub(crate) T);

/// An audio file as body.
pub(crate) struct File(pub(crate) Bytes);

impl FromRequest<App> for File {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        Ok(Self(read(request, app.limits.of_audio()).await?))
    }
}

/// A text as body; whether it is one is for the operation to say.
pub(crate) struct Text(pub(crate) Bytes);

impl FromRequest<App> for Text {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        Ok(Self(read(request, app.limits.of_json()).await?))
    }
}

/// The parameters after the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

/// The alias or name in the path.
pub(crate) struct Named(pub(crate) String);

impl<T: DeserializeOwned> FromRequest<App> for Sent<T> {
    type Rejection = Rejection;

    async fn from_request(request: Request, app: &App) -> Result<Self, Rejection> {
        let body = read(request, app.limits.of_json()).await?;
        let json = object(&body)?;
        let value = serde_json::from_slice(json).map_err(|error| {
            let why = error.to_string();
            bad_target(json, &why).unwrap_or_else(|| unfit(&why))
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

/// The JSON of a body, which must be an object. An empty body counts as `{}`.
pub(crate) fn object(body: &Bytes) -> Result<&[u8], Failure> {
    let json: &[u8] = if body.trim_ascii().is_empty() { b"{}" } else { body };
    if json.trim_ascii_start().starts_with(b"{") {
        return Ok(json);
    }
    // Serde would take an array for the fields in order, which nobody means.
    Err(unfit("an object is expected"))
}

/// A body that is not what the route takes.
pub(crate) fn unfit(why: &str) -> Failure {
    Failure::new(Code::InvalidRequest, format!("the request's JSON does not fit: {why}")).param("body")
}

/// Reads a whole body.
pub(crate) async fn read(request: Request, limit: Limit) -> Result<Bytes, Failure> {
    let body: Limited<Body> = limited(request, limit)?;
    match tokio::time::timeout(limit.time, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Ok(Err(error)) => Err(Failure::new(Code::InvalidRequest, format!("the body broke off: {error}"))),
        Err(_) => Err(too_slow(limit)),
    }
}

/// A body that fails once it is longer than it may be; refused before it is sent where its length is announced.
pub(crate) fn limited(request: Request, limit: Limit) -> Result<Limited<Body>, Failure> {
    let announced =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limit.most_bytes as u64) {
        return Err(too_large(limit));
    }
    Ok(Limited::new(request.into_body(), limit.most_bytes))
}

pub(crate) fn too_large(limit: Limit) -> Failure {
    let most = format_bytes(limit.most_bytes as u64);
    Failure::new(Code::TooLarge, format!("the body is larger than {most}"))
        .hint(limit.hint)
        .detail("limit_bytes", limit.most_bytes as u64)
}

pub(crate) fn too_slow(limit: Limit) -> Failure {
    Failure::new(Code::Timeout, "the body took too long to arrive")
        .hint(format!("send it within {} seconds", limit.time.as_secs()))
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
