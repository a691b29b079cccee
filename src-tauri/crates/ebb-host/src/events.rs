//! What happened, told to whoever listens.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use ebb_core::{Event, EventKind};
use tokio::sync::broadcast;

/// Events that a slow listener may lag behind before it misses some.
const BACKLOG: usize = 1024;

/// Where events are told.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    last_seq: Arc<Mutex<u64>>,
    sender: broadcast::Sender<Event>,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { last_seq: Arc::default(), sender: broadcast::channel(BACKLOG).0 }
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }

    pub(crate) fn tell(&self, model: &str, kind: EventKind) {
        log(model, &kind);
        // Held until it is sent, so that events come in the order of their numbers.
        let mut last_seq = self.last_seq.lock().unwrap_or_else(PoisonError::into_inner);
        *last_seq += 1;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        // Nobody listening is no fault.
        let _heard = self.sender.send(Event { seq: *last_seq, time_ms, model: model.to_owned(), kind });
    }
}

fn log(model: &str, kind: &EventKind) {
    match kind {
        EventKind::Loaded { load_ms, sample } => {
            tracing::info!(model, load_ms, resident_bytes = sample.resident_bytes, "loaded");
        }
        EventKind::Shrink { cause, report } => {
            tracing::info!(model, cause, report.freed_bytes, report.took_us, report.trim_us, "shrunk");
            for dropped in &report.dropped {
                tracing::info!(model, target = %dropped.target, dropped.reason, "shrink target dropped");
            }
        }
        EventKind::NearCap { device, reserved_bytes, limit_bytes } => {
            tracing::warn!(model, %device, reserved_bytes, limit_bytes, "the arena is near its cap");
        }
        EventKind::Policy { policy, decision, saw, took_us } => {
            let (in_use_bytes, reserved_bytes) = (saw.in_use_bytes, saw.reserved_bytes);
            tracing::info!(model, policy, decision, in_use_bytes, reserved_bytes, took_us, "policy decided");
        }
        EventKind::Attached { policy } => tracing::info!(model, policy, "policy attached"),
        EventKind::Detached { policy, reason: None } => tracing::info!(model, policy, "policy detached"),
        EventKind::Detached { policy, reason: Some(reason) } => {
            tracing::warn!(model, policy, reason, "policy detached by the host");
        }
        EventKind::LoadFailed { reason } => tracing::error!(model, reason, "loading failed"),
        EventKind::Crashed { reason, restart_in_ms } => {
            tracing::error!(model, reason, restart_in_ms, "the worker ended by itself");
        }
        EventKind::Unloaded { resident_before_bytes, worker_gone } => {
            tracing::info!(model, resident_before_bytes, worker_gone, "unloaded");
        }
        EventKind::Added { .. }
        | EventKind::Removed
        | EventKind::LoadOptions { .. }
        | EventKind::Run { .. }
        | EventKind::Loading
        | EventKind::Grown { .. }
        | EventKind::RuntimeOption { .. } => {
            tracing::debug!(model, event = ?kind, "event");
        }
    }
}
