//! Recordings of what models hold, and what a policy would have made of one.

use std::collections::BTreeMap;

use axum::{Json, extract::State, response::Response};
use ebb_core::{
    Code, Failure, Json as Value,
    operations::{RecordingLine, ReplayReport},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{
    error::Rejection,
    routes::App,
    sent::{Asked, Named, Text},
    stream,
};

/// Records what a model holds from now on, and when the system is short of memory: lines of JSON, until the model is unloaded,
/// the host ends or the connection is closed. No texts are in them.
#[utoipa::path(get, path = "/ebb/v1/models/{alias}/recording", tag = "memory",
    responses((status = 200, body = RecordingLine, content_type = "application/x-ndjson")))]
pub(crate) async fn recording(State(app): State<App>, Named(alias): Named) -> Result<Response, Rejection> {
    Ok(stream::recording_lines(app.host.record(&alias).await?, app.closing))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReplayAsked {
    /// Settings to try, as a JSON object: over those that the user chose.
    settings: Option<String>,
}

/// What a policy would have made of a recording, which is the body. Nothing that the plugin keeps changes, and no model is
/// touched.
#[utoipa::path(post, path = "/ebb/v1/plugins/{id}/replay", tag = "plugins", params(ReplayAsked),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, body = ReplayReport)))]
pub(crate) async fn replay(
    State(app): State<App>,
    Named(id): Named,
    Asked(ReplayAsked { settings }): Asked<ReplayAsked>,
    Text(body): Text,
) -> Answer<ReplayReport> {
    Ok(Json(app.host.replay(&id, body, parsed(settings.as_deref())?).await?))
}

fn parsed(settings: Option<&str>) -> Result<BTreeMap<String, Value>, Failure> {
    let Some(settings) = settings else { return Ok(BTreeMap::new()) };
    serde_json::from_str(settings).map_err(|error| {
        Failure::new(Code::InvalidRequest, format!("the settings are no JSON object: {error}"))
            .hint("write them like {\"slack_mib\": 32}")
            .param("settings")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_an_object() {
        assert_eq!(parsed(None).unwrap().len(), 0);
        assert_eq!(parsed(Some(r#"{"a": 1, "b": "x"}"#)).unwrap()["a"], Value(1.into()));
        for wrong in ["", "[]", "1", "{", "null"] {
            assert_eq!(parsed(Some(wrong)).unwrap_err().param.as_deref(), Some("settings"), "{wrong}");
        }
    }
}
