//! One log line for each request, and one count: what was asked, how it came out, how long it took. Never what was sent or
//! answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};
use tracing::Instrument as _;

use crate::metrics::HttpCounts;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Puts a request in a span of its own, logs its answer and counts it.
pub(crate) async fn trace(State(counts): State<Arc<HttpCounts>>, request: Request, next: Next) -> Response {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let method = request.method().clone();
    let span = tracing::info_span!("request", id, %method, path = request.uri().path());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let begun = Instant::now();
    let answer = async move {
        let response = next.run(request).await;
        let status = response.status();
        let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        counts.count(route.as_ref().map(MatchedPath::as_str), &method, status);
        // Watching figures asks several times a second: that would drown what matters.
        if method == Method::GET && status.is_success() {
            tracing::debug!(status = status.as_u16(), took_us, "answered");
        } else {
            tracing::info!(status = status.as_u16(), took_us, "answered");
        }
        response
    };
    answer.instrument(span).await
}
