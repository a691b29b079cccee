//! The routes: each parses, calls the one operation of the same name, and answers with what came back.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, Uri},
    middleware,
    response::{IntoResponse as _, Response},
    routing::{delete, get, post},
};
use ebb_api::Host;
use ebb_core::{
    Code, Failure, LoadOptions,
    operations::{
        AddKey, AddModel, AddedKey, Armed, Doctor, EmbedRequest, Estimate, GenerateRequest, HostStatus,
        KeyEntry, KeyList, LoadReport, ModelEntry, ModelList, OptionList, Profile, ProfileList, RunAnswer,
        RunRequest, RuntimeOptions, SetRuntimeOption, ShrinkRequest, Shutdown, Stats, TranscribeRequest,
        UnloadReport,
    },
};
use serde::Deserialize;
use tokio::sync::watch;

use crate::{
    error::Rejection,
    guard::{Guard, guard},
    sent::{Asked, File, Limits, Named, Sent},
    stream,
    trace::trace,
};

/// What every route needs.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) host: Host,
    pub(crate) limits: Limits,
    /// True once the server closes: streams without an end must end then.
    pub(crate) closing: watch::Receiver<bool>,
}

type Answer<T> = Result<Json<T>, Rejection>;

/// Every route, behind the guard.
pub(crate) fn router(app: App, who_may: Guard) -> Router {
    let models = Router::new()
        .route("/", get(list_models).post(add_model))
        .route("/{alias}", get(model).delete(remove_model))
        .route("/{alias}/load", post(load))
        .route("/{alias}/unload", post(unload))
        .route("/{alias}/stats", get(stats).post(stats))
        .route("/{alias}/shrink", post(shrink))
        .route("/{alias}/shrink-after-next-run", post(shrink_after_next_run))
        .route("/{alias}/runtime-options", get(runtime_options).post(set_runtime_option))
        .route("/{alias}/estimate", get(estimate))
        .route("/{alias}/embed", post(embed))
        .route("/{alias}/generate", post(generate))
        .route("/{alias}/transcribe", post(transcribe))
        .route("/{alias}/run", post(run));
    let v1 = Router::new()
        .route("/status", get(status))
        .route("/shutdown", post(shutdown))
        .route("/doctor", get(doctor))
        .route("/events", get(events))
        .route("/options", get(options))
        .route("/profiles", get(profiles))
        .route("/profiles/{name}", get(profile).put(save_profile).delete(remove_profile))
        .route("/keys", get(keys).post(add_key))
        .route("/keys/{name}", delete(remove_key))
        .nest("/models", models);
    Router::new()
        .nest("/ebb/v1", v1)
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .with_state(app)
        .layer(middleware::from_fn_with_state(Arc::new(who_may), guard))
        .layer(middleware::from_fn(trace))
}

async fn no_such_route(uri: Uri) -> Rejection {
    Failure::new(Code::NotFound, format!("there is no route {}", uri.path())).into()
}

async fn no_such_method(uri: Uri) -> Rejection {
    let message = format!("{} does not take this method", uri.path());
    Rejection::with_status(StatusCode::METHOD_NOT_ALLOWED, Failure::new(Code::InvalidRequest, message))
}

async fn status(State(app): State<App>) -> Answer<HostStatus> {
    Ok(Json(app.host.status().await?))
}

async fn shutdown(State(app): State<App>, Sent(body): Sent<Shutdown>) -> Answer<HostStatus> {
    Ok(Json(app.host.shutdown(body).await?))
}

async fn doctor(State(app): State<App>) -> Answer<Doctor> {
    Ok(Json(app.host.doctor().await?))
}

async fn list_models(State(app): State<App>) -> Answer<ModelList> {
    Ok(Json(app.host.models().await?))
}

async fn add_model(State(app): State<App>, Sent(body): Sent<AddModel>) -> Answer<ModelEntry> {
    Ok(Json(app.host.add_model(body).await?))
}

async fn model(State(app): State<App>, Named(alias): Named) -> Answer<ModelEntry> {
    Ok(Json(app.host.model(&alias).await?))
}

async fn remove_model(State(app): State<App>, Named(alias): Named) -> Answer<ModelEntry> {
    Ok(Json(app.host.remove_model(&alias).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadAsked {
    #[serde(default)]
    force: bool,
}

async fn load(
    State(app): State<App>,
    Named(alias): Named,
    Asked(LoadAsked { force }): Asked<LoadAsked>,
    Sent(body): Sent<LoadOptions>,
) -> Answer<LoadReport> {
    Ok(Json(app.host.load(&alias, body, force).await?))
}

async fn unload(State(app): State<App>, Named(alias): Named) -> Answer<UnloadReport> {
    Ok(Json(app.host.unload(&alias).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatsAsked {
    #[serde(default)]
    history: u32,
}

async fn stats(
    State(app): State<App>,
    Named(alias): Named,
    Asked(StatsAsked { history }): Asked<StatsAsked>,
) -> Answer<Stats> {
    Ok(Json(app.host.stats(&alias, history).await?))
}

async fn shrink(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<ShrinkRequest>,
) -> Answer<ebb_core::ShrinkReport> {
    Ok(Json(app.host.shrink(&alias, body).await?))
}

async fn shrink_after_next_run(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<ShrinkRequest>,
) -> Answer<Armed> {
    Ok(Json(app.host.shrink_after_next_run(&alias, body).await?))
}

async fn runtime_options(State(app): State<App>, Named(alias): Named) -> Answer<RuntimeOptions> {
    Ok(Json(app.host.runtime_options(&alias).await?))
}

async fn set_runtime_option(
    State(app): State<App>,
    Named(alias): Named,
    Sent(body): Sent<SetRuntimeOption>,
) -> Answer<RuntimeOptions> {
    Ok(Json(app.host.set_runtime_option(&alias, body).await?))
}

async fn estimate(State(app): State<App>, Named(alias): Named) -> Answer<Estimate> {
    Ok(Json(app.host.estimate(&alias).await?))
}

async fn embed(
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

async fn generate(
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TranscribeAsked {
    /// A [`TranscribeRequest`] as JSON: the body is the audio file.
    #[serde(default)]
    request: Option<String>,
}

async fn transcribe(
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

async fn keys(State(app): State<App>) -> Answer<KeyList> {
    Ok(Json(app.host.keys().await?))
}

async fn add_key(State(app): State<App>, Sent(body): Sent<AddKey>) -> Answer<AddedKey> {
    Ok(Json(app.host.add_key(body).await?))
}

async fn remove_key(State(app): State<App>, Named(name): Named) -> Answer<KeyEntry> {
    Ok(Json(app.host.remove_key(&name).await?))
}

async fn run(State(app): State<App>, Named(alias): Named, Sent(body): Sent<RunRequest>) -> Answer<RunAnswer> {
    Ok(Json(app.host.run(&alias, body).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsAsked {
    model: Option<String>,
}

async fn events(
    State(app): State<App>,
    Asked(EventsAsked { model }): Asked<EventsAsked>,
) -> Result<Response, Rejection> {
    // From before the look-up on, so that nothing that follows is missed.
    let events = app.host.events();
    if let Some(alias) = &model {
        app.host.model(alias).await?;
    }
    Ok(stream::server_sent(events, model, app.closing))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsAsked {
    #[serde(default)]
    search: String,
}

async fn options(
    State(app): State<App>,
    Asked(OptionsAsked { search }): Asked<OptionsAsked>,
) -> Answer<OptionList> {
    Ok(Json(app.host.options(&search).await?))
}

async fn profiles(State(app): State<App>) -> Answer<ProfileList> {
    Ok(Json(app.host.profiles().await?))
}

async fn profile(State(app): State<App>, Named(name): Named) -> Answer<Profile> {
    Ok(Json(app.host.profile(&name).await?))
}

async fn save_profile(
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

async fn remove_profile(State(app): State<App>, Named(name): Named) -> Answer<Profile> {
    Ok(Json(app.host.remove_profile(&name).await?))
}
