//! The routes and the server's life, on a host without models.

mod described;
mod inside;
mod life;
mod operations;
mod page;
mod requests;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{Method, Request, StatusCode, header},
    response::Response,
};
use ebb_api::{Host, Settings};
use ebb_core::{ErrorBody, ErrorFields, Places, operations::KeyScope};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;
use tower::ServiceExt as _;

use crate::{
    guard::Guard,
    inside::Inside,
    login::Logins,
    routes::{App, inside, router},
    sent::Limits,
    ui::Page,
};

const TOKEN: &str = "the token";
const PORT: u16 = 4770;
const BODY_LIMIT_BYTES: usize = 1_000;

fn places(folder: &TempDir) -> Places {
    let home = folder.path().join("Ebb für mich");
    Places { cache: home.join("cache"), home }
}

fn host(folder: &TempDir) -> Host {
    let settings = Settings { worker_program: Some("/no/such/worker".into()), ..Settings::default() };
    Host::open(places(folder), settings).unwrap()
}

/// A key for each scope.
fn scopes_of_key(key: &str) -> Option<Vec<KeyScope>> {
    match key {
        "ebb-infer" => Some(vec![KeyScope::Infer]),
        "ebb-control" => Some(vec![KeyScope::Control]),
        _ => None,
    }
}

/// The routes over a host in a folder of its own.
struct Scene {
    router: Router,
    inside: Inside,
    _folder: TempDir,
    closing: watch::Sender<bool>,
}

impl Scene {
    fn new() -> Self {
        Self::with_page(None)
    }

    /// With a page for browsers.
    fn with_page(page: Option<Page>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (closing, is_closing) = watch::channel(false);
        let limits = Limits {
            body_bytes: BODY_LIMIT_BYTES,
            audio_bytes: BODY_LIMIT_BYTES,
            body_time: Duration::from_millis(20),
        };
        let logins = page.as_ref().map(|_| Arc::new(Logins::new(PORT).unwrap()));
        let app = App { host: host(&folder), limits, http: Arc::default(), closing: is_closing, logins };
        let inside = Inside::new(inside(app.clone()));
        let router = router(app, Guard::new(TOKEN.into(), PORT, scopes_of_key), page);
        Self { router, inside, _folder: folder, closing }
    }

    async fn send(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn call(&self, method: Method, path: &str, body: impl Into<Body>) -> (StatusCode, Value) {
        let request = request(method, path).body(body.into()).unwrap();
        read(self.send(request).await).await
    }

    /// A request that must be refused.
    async fn refused(&self, method: Method, path: &str, body: impl Into<Body>) -> (StatusCode, ErrorFields) {
        let (status, body) = self.call(method, path, body).await;
        let body: ErrorBody = serde_json::from_value(body).expect("the one error form");
        (status, body.error)
    }
}

fn request(method: Method, path: &str) -> axum::http::request::Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, format!("127.0.0.1:{PORT}"))
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
}

async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}
