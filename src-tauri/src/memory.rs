//! What all models hold together, as their events tell it: nobody is asked, so an idle app stays idle.

use std::{collections::BTreeMap, time::Duration};

use ebb_api::Host;
use ebb_core::{Event, EventKind, format_bytes, operations::ModelState};
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, sleep_until},
};

/// Figures in the tray change no faster than they can be read.
const CHANGE_EVERY: Duration = Duration::from_secs(1);

/// Resident memory of each model's worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held(BTreeMap<String, u64>);

impl Held {
    fn apply(&mut self, event: &Event) {
        let resident_bytes = match &event.kind {
            EventKind::Loaded { sample, .. } => sample.resident_bytes,
            EventKind::Run { after, .. } => after.resident_bytes,
            EventKind::Shrink { report, .. } => report.resident_after_bytes,
            EventKind::Unloaded { .. } | EventKind::Crashed { .. } | EventKind::LoadFailed { .. } => {
                self.0.remove(&event.model);
                return;
            }
            _ => return,
        };
        self.0.insert(event.model.clone(), resident_bytes);
    }
}

/// For people: `2 models hold 412.3 MiB`.
impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = format_bytes(self.0.values().sum());
        match self.0.len() {
            0 => f.write_str("No model in memory"),
            1 => write!(f, "1 model holds {bytes}"),
            models => write!(f, "{models} models hold {bytes}"),
        }
    }
}

/// Tells `show` what the models hold whenever it has changed, once a second at most, until the host is gone.
pub(crate) async fn follow(host: Host, show: impl Fn(&Held)) {
    let mut events = host.events();
    let mut held = look(&host).await;
    show(&held);
    let mut shown = held.clone();
    let mut again = Instant::now();
    loop {
        let event = if held == shown {
            events.recv().await
        } else {
            tokio::select! {
                event = events.recv() => event,
                () = sleep_until(again) => {
                    show(&held);
                    shown = held.clone();
                    again = Instant::now() + CHANGE_EVERY;
                    continue;
                }
            }
        };
        match event {
            Ok(event) => held.apply(&event),
            Err(RecvError::Lagged(_)) => held = look(&host).await,
            Err(RecvError::Closed) => return,
        }
    }
}

/// Asks every model: at the start, and where events were missed.
async fn look(host: &Host) -> Held {
    let mut held = BTreeMap::new();
    for model in host.models().await.map_or_else(|_| Vec::new(), |list| list.models) {
        if model.state == ModelState::Loaded
            && let Ok(stats) = host.stats(&model.alias, 0).await
        {
            held.insert(model.alias, stats.now.resident_bytes);
        }
    }
    Held(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(model: &str, kind: &str, fields: serde_json::Value) -> Event {
        let mut json = serde_json::json!({"seq": 1, "time_ms": 2, "model": model, "event": kind});
        let fields = fields.as_object().unwrap().clone();
        json.as_object_mut().unwrap().extend(fields);
        serde_json::from_value(json).unwrap()
    }

    fn loaded(model: &str, resident_bytes: u64) -> Event {
        let sample = serde_json::json!({"model": model, "at_ms": 0, "resident_bytes": resident_bytes,
            "private_bytes": 0, "runs": 0, "arenas": [], "pools": []});
        event(model, "loaded", serde_json::json!({"load_ms": 3, "sample": sample}))
    }

    #[test]
    fn models_come_and_go() {
        let mut held = Held::default();
        assert_eq!(held.to_string(), "No model in memory");
        held.apply(&loaded("a", 300 << 20));
        assert_eq!(held.to_string(), "1 model holds 300.0 MiB");
        held.apply(&loaded("b", 12 << 20));
        held.apply(&loaded("a", 100 << 20));
        assert_eq!(held.to_string(), "2 models hold 112.0 MiB");
        held.apply(&event("a", "crashed", serde_json::json!({"reason": "signal 9", "restart_in_ms": null})));
        held.apply(&event("b", "loading", serde_json::json!({})));
        assert_eq!(held.to_string(), "1 model holds 12.0 MiB");
    }
}
