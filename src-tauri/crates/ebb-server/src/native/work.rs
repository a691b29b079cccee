//! What models are asked to do.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use ebb_core::{
    Code, Failure,
    operations::{
        CountTokens, EmbedAnswer, EmbedPiece, EmbedRequest, GenerateAnswer, GeneratePiece, GenerateRequest,
        RunAnswer, RunRequest, TokenCounts, TranscribeAnswer, TranscribePiece, TranscribeRequest,
    },
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Answer;
use crate::{
    error::Rejection,
    routes::App,
    sent::{Asked, File, Named, Sent},
    stream,
};

/// One vector for each text.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/embed", tag = "work", request_body = EmbedRequest,
    responses((status = 200, content((EmbedAnswer = "application/json"), (EmbedPiece = "application/x-ndjson")))))]
pub(crate) async fn embed(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<EmbedRequest>,
) -> Result<Response, Rejection> {
    if body.stream {
        let pieces = app.host.embed_stream(&alias, body).await?;
        return Ok(stream::embed_lines(pieces).await?);
    }
    Ok(Json(app.host.embed(&alias, body).await?).into_response())
}

/// Text of a chat model.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/generate", tag = "work", request_body = GenerateRequest,
    responses((status = 200, content((GenerateAnswer = "application/json"),
        (GeneratePiece = "application/x-ndjson")))))]
pub(crate) async fn generate(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<GenerateRequest>,
) -> Result<Response, Rejection> {
    if body.stream {
        let pieces = app.host.generate_stream(&alias, body).await?;
        return Ok(stream::generate_lines(pieces).await?);
    }
    Ok(Json(app.host.generate(&alias, body).await?).into_response())
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TranscribeAsked {
    /// A `TranscribeRequest` as JSON: the body is the audio file.
    #[serde(default)]
    request: Option<String>,
}

/// What is said in an audio file, which is the body.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/transcribe", tag = "work", params(TranscribeAsked),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, content((TranscribeAnswer = "application/json"),
        (TranscribePiece = "application/x-ndjson")))))]
pub(crate) async fn transcribe(
    State(app): State<App>,
    Named(alias): Named,
    Asked(TranscribeAsked { request }): Asked<TranscribeAsked>,
    File(audio): File,
) -> Result<Response, Rejection> {
    let request: TranscribeRequest = match request {
        None => TranscribeRequest::default(),
        Some(text) => serde_json::from_str(&text).map_err(|error| {
            Failure::new(Code::InvalidRequest, format!("the parameter 'request' does not fit: {error}"))
                .param("request")
        })?,
    };
    if request.stream {
        let pieces = app.host.transcribe_stream(&alias, request, audio).await?;
        return Ok(stream::transcribe_lines(pieces).await?);
    }
    Ok(Json(app.host.transcribe(&alias, request, audio).await?).into_response())
}

/// Tokens that a model's own tokenizer makes of each text, special ones not counted.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/count-tokens", tag = "work", request_body = CountTokens,
    responses((status = 200, body = TokenCounts)))]
pub(crate) async fn count_tokens(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<CountTokens>,
) -> Answer<TokenCounts> {
    Ok(Json(app.host.count_tokens(&alias, body).await?))
}

/// Runs a bare model on tensors.
#[utoipa::path(post, path = "/ebb/v1/models/{alias}/run", tag = "work", request_body = RunRequest,
    responses((status = 200, body = RunAnswer)))]
pub(crate) async fn run(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<RunRequest>,
) -> Answer<RunAnswer> {
    Ok(Json(app.host.run(&alias, body).await?))
}
