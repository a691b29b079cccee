//! `GET /metrics`: what models hold and what requests came to, as Prometheus reads it. Every figure lives elsewhere and is
//! asked for at each scrape.

mod http;
mod text;

use std::time::Duration;

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use ebb_api::{LATENCY_BOUNDS_S, Tally};
use ebb_core::operations::{HostStatus, Stats};
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
    memory(&mut text, &models);
    counts(&mut text, &models);
    requests(&mut text, &app.host.tallies());
    app.http.write(&mut text);
    Ok(([(header::CONTENT_TYPE, text::MEDIA_TYPE)], text.finish()).into_response())
}

type Models<'a> = [(&'a str, Option<Stats>)];

fn host(text: &mut Text, status: &HostStatus) {
    text.family("ebb_build_info", Kind::Gauge, "This host's version.");
    text.sample("ebb_build_info", &[("version", &status.version)], 1);
    text.family("ebb_host_uptime_seconds", Kind::Gauge, "Time since the host started.");
    text.sample("ebb_host_uptime_seconds", &[], status.uptime_ms as f64 / 1_000.0);
    text.family("ebb_host_resident_bytes", Kind::Gauge, "Resident memory of the host process itself.");
    text.sample("ebb_host_resident_bytes", &[], status.resident_bytes);
}

/// What each model holds.
fn memory(text: &mut Text, models: &Models<'_>) {
    text.family("ebb_model_answers", Kind::Gauge, "Whether a loaded model told its figures in time.");
    for (model, stats) in models {
        text.sample("ebb_model_answers", &[("model", model)], u8::from(stats.is_some()));
    }
    let told = || models.iter().filter_map(|(model, stats)| Some((*model, &stats.as_ref()?.now)));
    let of_process: [(_, _, fn(&ebb_core::Sample) -> u64); 2] = [
        ("ebb_model_resident_bytes", "Resident memory of a model's worker process.", |now| {
            now.resident_bytes
        }),
        ("ebb_model_private_bytes", "Resident memory less what is shared.", |now| now.private_bytes),
    ];
    for (name, help, figure) in of_process {
        text.family(name, Kind::Gauge, help);
        for (model, now) in told() {
            text.sample(name, &[("model", model)], figure(now));
        }
    }
    let of_arena: [(_, _, fn(&ebb_core::ArenaSample) -> Option<u64>); 4] = [
        ("ebb_arena_in_use_bytes", "Bytes in live tensors, weights included.", |arena| {
            Some(arena.in_use_bytes)
        }),
        ("ebb_arena_reserved_bytes", "Bytes taken from the system.", |arena| Some(arena.reserved_bytes)),
        ("ebb_arena_peak_in_use_bytes", "Most bytes in use since load.", |arena| {
            Some(arena.peak_in_use_bytes)
        }),
        ("ebb_arena_limit_bytes", "The cap, where one is set.", |arena| arena.limit_bytes),
    ];
    for (name, help, figure) in of_arena {
        text.family(name, Kind::Gauge, help);
        for (model, now) in told() {
            for arena in &now.arenas {
                if let Some(bytes) = figure(arena) {
                    text.sample(name, &[("model", model), ("device", &arena.device.to_string())], bytes);
                }
            }
        }
    }
    text.family("ebb_pool_bytes", Kind::Gauge, "Caches that are not the arena's slack.");
    for (model, now) in told() {
        for pool in &now.pools {
            text.sample("ebb_pool_bytes", &[("model", model), ("pool", &pool.name)], pool.bytes);
        }
    }
}

/// What happened to each model since it was loaded.
fn counts(text: &mut Text, models: &Models<'_>) {
    let figures: [(_, _, _, fn(&Stats) -> u64); 5] = [
        ("ebb_model_queued_requests", Kind::Gauge, "Requests that wait.", |stats| u64::from(stats.queued)),
        ("ebb_model_runs_total", Kind::Counter, "Requests that ended.", |stats| stats.now.runs),
        ("ebb_model_shrinks_total", Kind::Counter, "Shrinks.", |stats| stats.shrinks),
        ("ebb_model_freed_bytes_total", Kind::Counter, "Bytes that shrinks gave back.", |stats| {
            stats.freed_bytes
        }),
        ("ebb_model_cap_retries_total", Kind::Counter, "Batches run again after hitting the cap.", |stats| {
            stats.cap_retries
        }),
    ];
    for (name, kind, help, figure) in figures {
        text.family(name, kind, help);
        for (model, stats) in models {
            if let Some(stats) = stats {
                text.sample(name, &[("model", model)], figure(stats));
            }
        }
    }
}

/// What requests came to since the host started.
fn requests(text: &mut Text, tallies: &std::collections::BTreeMap<ebb_api::Tallied, Tally>) {
    let figures: [(_, _, fn(&Tally) -> u64); 4] = [
        ("ebb_requests_answered_total", "Requests that were answered.", |tally| tally.answered),
        ("ebb_requests_failed_total", "Requests that failed.", |tally| tally.failed),
        ("ebb_input_tokens_total", "Tokens that were read.", |tally| tally.input_tokens),
        ("ebb_output_tokens_total", "Tokens that were generated.", |tally| tally.output_tokens),
    ];
    for (name, help, figure) in figures {
        text.family(name, Kind::Counter, help);
        for ((model, work), tally) in tallies {
            text.sample(name, &[("model", model), ("work", work)], figure(tally));
        }
    }
    const LATENCY: &str = "ebb_request_duration_seconds";
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
