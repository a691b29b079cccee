//! Models from elsewhere: downloaded, imported, and those to begin with.

use axum::{Json, extract::State, response::Response};
use ebb_core::operations::{DemoModelList, ImportModel, PullModel, PullPiece};

use super::Answer;
use crate::{error::Rejection, routes::App, sent::Sent, stream};

/// Downloads a model of the Hub, imports it where it must be, and adds it. Closing the connection ends it; what was
/// downloaded stays for the next time.
#[utoipa::path(post, path = "/ebb/v1/models/pull", tag = "models", request_body = PullModel,
    responses((status = 200, body = PullPiece, content_type = "application/x-ndjson")))]
pub(crate) async fn pull_model(
    State(app): State<App>,
    Sent(body): Sent<PullModel>,
) -> Result<Response, Rejection> {
    Ok(stream::pull_lines(app.host.pull_model(body).await?).await?)
}

/// Makes an ONNX model of foreign weights (safetensors of a BERT, GGUF of a Llama), and adds it. What is ONNX already is
/// added where it lies. Closing the connection ends it; nothing is left then.
#[utoipa::path(post, path = "/ebb/v1/models/import", tag = "models", request_body = ImportModel,
    responses((status = 200, body = PullPiece, content_type = "application/x-ndjson")))]
pub(crate) async fn import_model(
    State(app): State<App>,
    Sent(body): Sent<ImportModel>,
) -> Result<Response, Rejection> {
    Ok(stream::pull_lines(app.host.import_model(body).await?).await?)
}

/// Small models to begin with: where each lies on this machine, or what to pull.
#[utoipa::path(get, path = "/ebb/v1/demo-models", tag = "models", responses((status = 200, body = DemoModelList)))]
pub(crate) async fn demo_models(State(app): State<App>) -> Answer<DemoModelList> {
    Ok(Json(app.host.demo_models().await?))
}
