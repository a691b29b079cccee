//! After a large request the host gives its memory back, as it has models do. By itself the heap keeps what was freed
//! below anything that lives on: a host that took a few bodies of 50 MB stayed at 160 MB.

use axum::{
    body::{Body, HttpBody as _},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use ebb_api::Host;
use http_body_util::BodyExt as _;

/// Bodies from this size on are worth the few milliseconds that it takes.
const LARGE_BYTES: u64 = 8 << 20;

/// Gives memory back once a large request is answered, or given up by its client.
pub(crate) async fn give_back(State(host): State<Host>, request: Request, next: Next) -> Response {
    if request.body().size_hint().lower() < LARGE_BYTES {
        return next.run(request).await;
    }
    let after = After(host);
    let response = next.run(request).await;
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &after;
            frame
        }))
    })
}

/// Trims the heap when it is dropped, off the threads that serve.
struct After(Host);

impl Drop for After {
    fn drop(&mut self) {
        let host = self.0.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(move || host.trim_heap());
        }
    }
}
