//! Every route, who may call it, and what describes it. A route parses, calls the one operation of the same name, and
//! answers with what came back.

use std::sync::Arc;

use axum::{
    Extension, Router,
    http::{StatusCode, Uri},
    middleware,
};
use ebb_api::Host;
use ebb_core::{Code, Failure, operations::KeyScope};
use tokio::sync::watch;
use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::Rejection,
    foundry,
    guard::{Access, Guard, guard, needs},
    heap::give_back,
    login::Logins,
    metrics::{self, HttpCounts},
    native::{fetch, host, keys, log, memory, models, plugins, profiles, recording, system, work},
    openai,
    openapi::{self, Document},
    sent::Limits,
    trace::trace,
    ui::{Page, Site, site},
};

/// What every route needs.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) host: Host,
    pub(crate) limits: Limits,
    pub(crate) http: Arc<HttpCounts>,
    /// True once the server closes: streams without an end must end then.
    pub(crate) closing: watch::Receiver<bool>,
    /// How browsers get in, where there is a page for them.
    pub(crate) logins: Option<Arc<Logins>>,
}

/// Every route, behind the guard; before it the page, where the server has one.
pub(crate) fn router(app: App, who_may: Guard, page: Option<Page>) -> Router {
    let (counts, logins) = (Arc::clone(&app.http), app.logins.clone());
    let who_may = Arc::new(who_may.with_logins(logins.clone()));
    let mut routes = unguarded(app).layer(middleware::from_fn_with_state(Arc::clone(&who_may), guard));
    if let (Some(page), Some(logins)) = (page, logins) {
        let ours = Arc::new(Site { page, guard: who_may, logins });
        routes = routes.layer(middleware::from_fn_with_state(ours, site));
    }
    routes.layer(middleware::from_fn_with_state(counts, trace))
}

/// Every route, for callers in this process: they may do everything.
pub(crate) fn inside(app: App) -> Router {
    let counts = Arc::clone(&app.http);
    unguarded(app).layer(Extension(Access::Everything)).layer(middleware::from_fn_with_state(counts, trace))
}

fn unguarded(app: App) -> Router {
    let (routes, description) = described();
    let host = app.host.clone();
    routes
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(Extension(Document::of(&description)))
        .with_state(app)
        .layer(middleware::from_fn_with_state(host, give_back))
}

/// Every route, and the description of all.
pub(crate) fn described() -> (Router<App>, OpenApi) {
    let only = |scope: KeyScope, routes: OpenApiRouter<App>| {
        routes.route_layer(middleware::from_fn_with_state(scope, needs))
    };
    let all = OpenApiRouter::with_openapi(openapi::frame())
        .merge(looking())
        .merge(only(KeyScope::Infer, inferring()))
        .merge(only(KeyScope::Control, controlling()));
    let (routes, description) = all.split_for_parts();
    (routes, openapi::complete(description))
}

/// What every holder of a key may see, whatever its scopes.
fn looking() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(host::status))
        .routes(routes!(models::list_models))
        .routes(routes!(models::model))
        .routes(routes!(memory::stats, memory::post_stats))
        .routes(routes!(openapi::document))
        .routes(routes!(openai::models::list))
        .routes(routes!(openai::models::one))
        .routes(routes!(metrics::metrics))
        .routes(routes!(foundry::status))
        .routes(routes!(foundry::newer_status))
        .routes(routes!(foundry::models))
        .routes(routes!(foundry::loaded))
        .routes(routes!(foundry::newer_loaded))
        .routes(routes!(foundry::list))
}

/// Work for models.
fn inferring() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(work::embed))
        .routes(routes!(work::generate))
        .routes(routes!(work::transcribe))
        .routes(routes!(work::run))
        .routes(routes!(work::count_tokens))
        .routes(routes!(plugins::ask))
        .routes(routes!(openai::chat::create))
        .routes(routes!(openai::completions::create))
        .routes(routes!(openai::embeddings::create))
        .routes(routes!(openai::responses::create))
        .routes(routes!(openai::audio::transcribe))
        .routes(routes!(openai::audio::translate))
}

/// Everything else.
fn controlling() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(host::shutdown))
        .routes(routes!(host::doctor))
        .routes(routes!(host::events))
        .routes(routes!(host::options))
        .routes(routes!(host::login_link))
        .routes(routes!(log::host_log))
        .routes(routes!(system::system))
        .routes(routes!(fetch::pull_model))
        .routes(routes!(fetch::import_model))
        .routes(routes!(fetch::demo_models))
        .routes(routes!(models::add_model))
        .routes(routes!(models::remove_model))
        .routes(routes!(models::load))
        .routes(routes!(models::unload))
        .routes(routes!(models::estimate))
        .routes(routes!(models::check_options))
        .routes(routes!(memory::shrink))
        .routes(routes!(memory::shrink_all))
        .routes(routes!(recording::recording))
        .routes(routes!(recording::replay))
        .routes(routes!(memory::shrink_after_next_run))
        .routes(routes!(memory::runtime_options, memory::set_runtime_option))
        .routes(routes!(profiles::profiles))
        .routes(routes!(profiles::profile, profiles::save_profile, profiles::remove_profile))
        .routes(routes!(plugins::plugins, plugins::install_plugin))
        .routes(routes!(plugins::plugin, plugins::remove_plugin))
        .routes(routes!(plugins::grant_plugin))
        .routes(routes!(plugins::revoke_plugin))
        .routes(routes!(plugins::attach_plugin))
        .routes(routes!(plugins::detach_plugin))
        .routes(routes!(plugins::set_plugin_settings))
        .routes(routes!(plugins::plugin_log))
        .routes(routes!(plugins::ingest))
        .routes(routes!(plugins::plugin_index))
        .routes(routes!(keys::keys, keys::add_key))
        .routes(routes!(keys::remove_key))
        .routes(routes!(foundry::load))
        .routes(routes!(foundry::newer_load))
        .routes(routes!(foundry::unload))
        .routes(routes!(foundry::newer_unload))
}

async fn no_such_route(uri: Uri) -> Rejection {
    Failure::new(Code::NotFound, format!("there is no route {}", uri.path())).into()
}

async fn no_such_method(uri: Uri) -> Rejection {
    let message = format!("{} does not take this method", uri.path());
    Rejection::with_status(StatusCode::METHOD_NOT_ALLOWED, Failure::new(Code::InvalidRequest, message))
}
