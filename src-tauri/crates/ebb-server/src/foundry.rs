//! Foundry Local's dialects, so that programs made for it can be pointed here. Both the older paths and the newer ones load and
//! unload by GET, as its clients do.

use axum::{Json, extract::State, http::StatusCode};
use ebb_core::{
    Code, Failure, KeepAlive, LoadOptions, ModelKind,
    operations::{ModelEntry, ModelState},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    error::Rejection,
    routes::App,
    sent::{Asked, Named},
};

/// Where the server is and where its models are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundryStatus {
    endpoints: Vec<String>,
    model_dir_path: String,
    /// Always empty: there is no pipe.
    pipe_name: &'static str,
}

/// Foundry Local's status.
#[utoipa::path(get, path = "/openai/status", tag = "foundry", responses((status = 200, body = FoundryStatus)))]
pub(crate) async fn status(State(app): State<App>) -> Result<Json<FoundryStatus>, Rejection> {
    Ok(Json(FoundryStatus {
        endpoints: app.host.status().await?.url.into_iter().collect(),
        model_dir_path: app.host.places().models_folder().display().to_string(),
        pipe_name: "",
    }))
}

/// Foundry Local's status, at its newer path.
#[utoipa::path(get, path = "/status", tag = "foundry", responses((status = 200, body = FoundryStatus)))]
pub(crate) async fn newer_status(app: State<App>) -> Result<Json<FoundryStatus>, Rejection> {
    status(app).await
}

/// Names of all models.
#[utoipa::path(get, path = "/openai/models", tag = "foundry", responses((status = 200, body = Vec<String>)))]
pub(crate) async fn models(State(app): State<App>) -> Result<Json<Vec<String>>, Rejection> {
    let models = app.host.models().await?.models;
    Ok(Json(models.into_iter().map(|model| model.alias).collect()))
}

/// Names of loaded models.
#[utoipa::path(get, path = "/openai/loadedmodels", tag = "foundry", responses((status = 200, body = Vec<String>)))]
pub(crate) async fn loaded(State(app): State<App>) -> Result<Json<Vec<String>>, Rejection> {
    Ok(Json(app.host.status().await?.models))
}

/// Names of loaded models, at the newer path.
#[utoipa::path(get, path = "/models/loaded", tag = "foundry", responses((status = 200, body = Vec<String>)))]
pub(crate) async fn newer_loaded(app: State<App>) -> Result<Json<Vec<String>>, Rejection> {
    loaded(app).await
}

/// How to load.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FoundryLoad {
    /// Seconds that the model stays when nobody uses it; 0 or less: as it was.
    ttl: Option<i64>,
    /// False: the model stays, unless `ttl` says otherwise.
    unload: Option<bool>,
    /// The execution provider, by Foundry Local's short name.
    ep: Option<String>,
}

impl FoundryLoad {
    fn keep_alive(&self) -> Result<Option<KeepAlive>, Failure> {
        match (self.ttl, self.unload) {
            (Some(ttl), _) if ttl > 0 => KeepAlive::from_seconds(ttl as f64).map(Some),
            (_, Some(false)) => Ok(Some(KeepAlive::Forever)),
            _ => Ok(None),
        }
    }

    /// Over the options that the model last had.
    fn options(&self, model: &ModelEntry) -> Result<LoadOptions, Failure> {
        let provider = self.ep.as_deref().map(str::trim).filter(|ep| !ep.is_empty()).map(str::to_lowercase);
        let wanted = LoadOptions { keep_alive: self.keep_alive()?, provider, ..LoadOptions::default() };
        Ok(wanted.over(model.options.clone()))
    }
}

/// Loads a model, with the options that it last had.
#[utoipa::path(get, path = "/openai/load/{name}", tag = "foundry", params(FoundryLoad), responses((status = 200)))]
pub(crate) async fn load(
    State(app): State<App>,
    Named(name): Named,
    Asked(asked): Asked<FoundryLoad>,
) -> Result<StatusCode, Rejection> {
    let model = app.host.model(&name).await?;
    if model.state == ModelState::Loaded && asked.ep.is_none() {
        // As it is; a load with another time to stay would be one with other options.
        app.host.keep(&name, asked.keep_alive()?);
        return Ok(StatusCode::OK);
    }
    app.host.load(&name, asked.options(&model)?, false).await?;
    Ok(StatusCode::OK)
}

/// Loads a model, at the newer path.
#[utoipa::path(get, path = "/models/load/{name}", tag = "foundry", params(FoundryLoad), responses((status = 200)))]
pub(crate) async fn newer_load(
    app: State<App>,
    name: Named,
    asked: Asked<FoundryLoad>,
) -> Result<StatusCode, Rejection> {
    load(app, name, asked).await
}

/// How to unload.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FoundryUnload {
    /// Changes nothing: a model that is to go goes.
    #[serde(rename = "force")]
    _force: Option<bool>,
}

/// Unloads a model.
#[utoipa::path(get, path = "/openai/unload/{name}", tag = "foundry", params(FoundryUnload),
    responses((status = 200)))]
pub(crate) async fn unload(
    State(app): State<App>,
    Named(name): Named,
    Asked(_): Asked<FoundryUnload>,
) -> Result<StatusCode, Rejection> {
    match app.host.unload(&name).await {
        // It is gone, as it was asked to be.
        Err(failure) if failure.code == Code::NotLoaded => Ok(StatusCode::OK),
        unloaded => unloaded.map(|_| StatusCode::OK).map_err(Rejection::from),
    }
}

/// Unloads a model, at the newer path.
#[utoipa::path(get, path = "/models/unload/{name}", tag = "foundry", params(FoundryUnload),
    responses((status = 200)))]
pub(crate) async fn newer_unload(
    app: State<App>,
    name: Named,
    asked: Asked<FoundryUnload>,
) -> Result<StatusCode, Rejection> {
    unload(app, name, asked).await
}

/// A model as Foundry Local's catalogue tells of it. What Ebb does not know is empty.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundryModel {
    name: String,
    display_name: String,
    alias: String,
    model_type: &'static str,
    provider_type: &'static str,
    uri: String,
    version: &'static str,
    prompt_template: Empty,
    publisher: &'static str,
    task: &'static str,
    runtime: FoundryRuntime,
    file_size_mb: u64,
    model_settings: FoundrySettings,
    supports_tool_calling: bool,
    license: &'static str,
    license_description: &'static str,
    parent_model_uri: &'static str,
    max_output_tokens: u32,
    #[serde(rename = "minFLVersion")]
    min_fl_version: &'static str,
}

/// Nothing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Empty {}

/// What a model runs on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundryRuntime {
    device_type: &'static str,
    execution_provider: &'static str,
}

/// What can be set of a model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundrySettings {
    parameters: Vec<Empty>,
}

/// The providers that Foundry Local's clients know, by Ebb's names; any other is shown as the CPU.
fn runtime(provider: &str) -> FoundryRuntime {
    let (device_type, execution_provider) = match provider {
        "cuda" => ("GPU", "CUDAExecutionProvider"),
        "webgpu" => ("GPU", "WebGpuExecutionProvider"),
        "qnn" => ("NPU", "QNNExecutionProvider"),
        _ => ("CPU", "CPUExecutionProvider"),
    };
    FoundryRuntime { device_type, execution_provider }
}

impl From<ModelEntry> for FoundryModel {
    fn from(model: ModelEntry) -> Self {
        let ModelEntry { alias, kind, weights_bytes, info, options, .. } = model;
        let chat = info.as_ref().and_then(|info| info.chat.as_ref());
        let provider = info.as_ref().map(|info| &info.provider).or(options.provider.as_ref());
        Self {
            display_name: alias.clone(),
            alias: alias.clone(),
            model_type: "ONNX",
            provider_type: "Ebb",
            uri: format!("ebb://{alias}"),
            version: "1",
            prompt_template: Empty {},
            publisher: "",
            task: match kind {
                ModelKind::Chat => "chat-completion",
                ModelKind::Audio => "automatic-speech-recognition",
                ModelKind::Embeddings => "embeddings",
                ModelKind::Tensors => "other",
            },
            runtime: runtime(provider.map_or("cpu", String::as_str)),
            file_size_mb: weights_bytes.div_ceil(1 << 20),
            model_settings: FoundrySettings { parameters: Vec::new() },
            supports_tool_calling: chat.is_some_and(|chat| chat.tools),
            license: "",
            license_description: "",
            parent_model_uri: "",
            max_output_tokens: chat.map_or(0, |chat| chat.context_tokens),
            min_fl_version: "",
            name: alias,
        }
    }
}

/// The catalogue.
#[utoipa::path(get, path = "/foundry/list", tag = "foundry", responses((status = 200, body = Vec<FoundryModel>)))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<Vec<FoundryModel>>, Rejection> {
    Ok(Json(app.host.models().await?.models.into_iter().map(FoundryModel::from).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_lies_over_the_options_that_the_model_had() {
        let model = ModelEntry {
            alias: "m".into(),
            path: "/m".into(),
            kind: ModelKind::Chat,
            weights_bytes: 3 << 20,
            state: ModelState::Unloaded,
            reason: None,
            info: None,
            options: LoadOptions { threads: Some(2), provider: Some("cpu".into()), ..LoadOptions::default() },
        };
        let asked = |ttl, unload, ep: Option<&str>| {
            FoundryLoad { ttl, unload, ep: ep.map(ToOwned::to_owned) }.options(&model).unwrap()
        };
        let with_ttl = asked(Some(600), None, Some("CUDA"));
        assert_eq!(with_ttl.keep_alive.unwrap().to_string(), "10m");
        assert_eq!((with_ttl.threads, with_ttl.provider.as_deref()), (Some(2), Some("cuda")));
        assert_eq!(asked(Some(0), Some(false), Some("")).keep_alive, Some(KeepAlive::Forever));
        assert_eq!(asked(None, Some(true), None), model.options);
        insta::assert_json_snapshot!(FoundryModel::from(model));
    }
}
