//! One log line for each request: what was asked, how it came out, how long it took. Never what was sent or answered.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use axum::{extract::Request, http::Method, middleware::Next, response::Response};
use tracing::Instrument as _;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Puts a request in a span of its own and logs its answer.
pub(crate) async fn trace(request: Request, next: Next) -> Response {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
    let looks_only = request.method() == Method::GET;
    let begun = Instant::now();
    let answer = async move {
        let response = next.run(request).await;
        let status = response.status();
        let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        // Watching figures asks several times a second: that would drown what matters.
        if looks_only && status.is_success() {
            tracing::debug!(status = status.as_u16(), took_us, "answered");
        } else {
            tracing::info!(status = status.as_u16(), took_us, "answered");
        }
        response
    };
    answer.instrument(span).await
}
