//! `GET /metrics`: what models hold and what requests came to, as Prometheus reads it. Every figure lives elsewhere and is
//! asked for at each scrape.

mod http;
mod text;

use std::{collections::BTreeMap, time::Duration};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use ebb_api::{LATENCY_BOUNDS_S, Tallied, Tally};
use ebb_core::{
    ArenaSample,
    operations::{HostStatus, Stats},
};
use futures_util::future::join_all;

pub(crate) use self::http::HttpCounts;
use self::text::{Kind, Text};
use crate::{error::Rejection, routes::App};

/// A model that does not tell its figures by then is left out of the scrape.
const PATIENCE: Duration = Duration::from_secs(1);

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "host",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<App>) -> Result<Response, Rejection> {
    let status = app.host.status().await?;
    let asked = status.models.iter().map(|alias| tokio::time::timeout(PATIENCE, app.host.stats(alias, 0)));
    let told = join_all(asked).await.into_iter().map(|stats| stats.ok()?.ok());
    let models: Vec<_> = status.models.iter().map(String::as_str).zip(told).collect();
    let mut text = Text::default();
    host(&mut text, &status);
    of_models(&mut text, &models);
    of_requests(&mut text, &app.host.tallies());
    app.http.write(&mut text);
    Ok(([(header::CONTENT_TYPE, text::MEDIA_TYPE)], text.finish()).into_response())
}

type Models<'a> = [(&'a str, Option<Stats>)];

/// A family of figures, each read off a `T`.
struct Figure<T> {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    of: fn(&T) -> Option<u64>,
}

impl<T> Figure<T> {
    const fn gauge(name: &'static str, help: &'static str, of: fn(&T) -> Option<u64>) -> Self {
        Self { name, kind: Kind::Gauge, help, of }
    }

    const fn counter(name: &'static str, help: &'static str, of: fn(&T) -> Option<u64>) -> Self {
        Self { name, kind: Kind::Counter, help, of }
    }
}

const OF_MODELS: [Figure<Stats>; 7] = [
    Figure::gauge("ebb_model_resident_bytes", "Resident memory of a model's worker process.", |stats| {
        Some(stats.now.resident_bytes)
    }),
    Figure::gauge("ebb_model_private_bytes", "Resident memory less what is shared.", |stats| {
        Some(stats.now.private_bytes)
    }),
    Figure::gauge("ebb_model_queued_requests", "Requests that wait.", |stats| Some(stats.queued.into())),
    Figure::counter("ebb_model_runs_total", "Requests that ended, since load.", |stats| Some(stats.now.runs)),
    Figure::counter("ebb_model_shrinks_total", "Shrinks, since load.", |stats| Some(stats.shrinks)),
    Figure::counter("ebb_model_freed_bytes_total", "Bytes that shrinks gave back, since load.", |stats| {
        Some(stats.freed_bytes)
    }),
    Figure::counter(
        "ebb_model_cap_retries_total",
        "Batches run again after hitting the cap, since load.",
        |stats| Some(stats.cap_retries),
    ),
];

const OF_ARENAS: [Figure<ArenaSample>; 4] = [
    Figure::gauge("ebb_arena_in_use_bytes", "Bytes in live tensors, weights included.", |arena| {
        Some(arena.in_use_bytes)
    }),
    Figure::gauge("ebb_arena_reserved_bytes", "Bytes taken from the system.", |arena| {
        Some(arena.reserved_bytes)
    }),
    Figure::gauge("ebb_arena_peak_in_use_bytes", "Most bytes in use since load.", |arena| {
        Some(arena.peak_in_use_bytes)
    }),
    Figure::gauge("ebb_arena_limit_bytes", "The cap, where one is set.", |arena| arena.limit_bytes),
];

const OF_REQUESTS: [Figure<Tally>; 4] = [
    Figure::counter("ebb_requests_answered_total", "Requests that were answered.", |tally| {
        Some(tally.answered)
    }),
    Figure::counter("ebb_requests_failed_total", "Requests that failed.", |tally| Some(tally.failed)),
    Figure::counter("ebb_input_tokens_total", "Tokens that were read.", |tally| Some(tally.input_tokens)),
    Figure::counter("ebb_output_tokens_total", "Tokens that were generated.", |tally| {
        Some(tally.output_tokens)
    }),
];

const LATENCY: &str = "ebb_request_duration_seconds";

fn host(text: &mut Text, status: &HostStatus) {
    text.family("ebb_build_info", Kind::Gauge, "This host's version.");
    text.sample("ebb_build_info", &[("version", &status.version)], 1);
    text.family("ebb_host_uptime_seconds", Kind::Gauge, "Time since the host started.");
    text.sample("ebb_host_uptime_seconds", &[], status.uptime_ms as f64 / 1_000.0);
    text.family("ebb_host_resident_bytes", Kind::Gauge, "Resident memory of the host process itself.");
    text.sample("ebb_host_resident_bytes", &[], status.resident_bytes);
}

/// What each loaded model holds, and what happened to it.
fn of_models(text: &mut Text, models: &Models<'_>) {
    text.family("ebb_model_answers", Kind::Gauge, "Whether a loaded model told its figures in time.");
    for (model, stats) in models {
        text.sample("ebb_model_answers", &[("model", model)], u8::from(stats.is_some()));
    }
    let told = || models.iter().filter_map(|(model, stats)| Some((*model, stats.as_ref()?)));
    for Figure { name, kind, help, of } in OF_MODELS {
        text.family(name, kind, help);
        for (model, stats) in told() {
            text.sample_if_any(name, &[("model", model)], of(stats));
        }
    }
    for Figure { name, kind, help, of } in OF_ARENAS {
        text.family(name, kind, help);
        for (model, stats) in told() {
            for arena in &stats.now.arenas {
                text.sample_if_any(
                    name,
                    &[("model", model), ("device", &arena.device.to_string())],
                    of(arena),
                );
            }
        }
    }
    text.family("ebb_pool_bytes", Kind::Gauge, "Caches that are not the arena's slack.");
    for (model, stats) in told() {
        for pool in &stats.now.pools {
            text.sample("ebb_pool_bytes", &[("model", model), ("pool", &pool.name)], pool.bytes);
        }
    }
}

/// What requests came to since the host started.
fn of_requests(text: &mut Text, tallies: &BTreeMap<Tallied, Tally>) {
    for Figure { name, kind, help, of } in OF_REQUESTS {
        text.family(name, kind, help);
        for ((model, work), tally) in tallies {
            text.sample_if_any(name, &[("model", model), ("work", work)], of(tally));
        }
    }
    text.family(LATENCY, Kind::Histogram, "Time from an answered request to its end.");
    for ((model, work), tally) in tallies {
        let labels = [("model", model.as_str()), ("work", work)];
        text.histogram(
            LATENCY,
            &labels,
            &LATENCY_BOUNDS_S,
            &tally.latency_counts,
            tally.latency_us as f64 / 1e6,
        );
    }
}
