//! Notifications of the desktop, for what a user wants to know while the window is out of sight: a model near its cap, a
//! model that crashed. Few of them: one for each model and kind in five minutes.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use ebb_core::{Event, EventKind, format_bytes};
use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_notification::NotificationExt as _;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::preferences::Stored;

const QUIET: Duration = Duration::from_secs(5 * 60);

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Notice {
    kind: &'static str,
    title: String,
    body: String,
}

/// What there is to say of an event.
fn notice(event: &Event) -> Option<Notice> {
    let model = &event.model;
    match &event.kind {
        EventKind::NearCap { device, reserved_bytes, limit_bytes } => Some(Notice {
            kind: "near_cap",
            title: format!("{model} is near its cap"),
            body: format!(
                "It has reserved {} of {} on {device}. Shrink it, or give it a higher cap.",
                format_bytes(*reserved_bytes),
                format_bytes(*limit_bytes)
            ),
        }),
        EventKind::Crashed { reason, restart_in_ms } => Some(Notice {
            kind: "crashed",
            title: format!("{model} crashed"),
            body: match restart_in_ms {
                Some(_) => format!("Its worker ended: {reason}. It is being started again."),
                None => format!("Its worker ended: {reason}. It stays down until you load it again."),
            },
        }),
        _ => None,
    }
}

/// Who was notified of what, and when.
#[derive(Debug, Default)]
struct Said(HashMap<(String, &'static str), Instant>);

impl Said {
    /// Whether it may be said now; it counts as said then.
    fn may(&mut self, model: &str, kind: &'static str, now: Instant) -> bool {
        self.0.retain(|_, at| now.saturating_duration_since(*at) < QUIET);
        let key = (model.to_owned(), kind);
        let new = !self.0.contains_key(&key);
        if new {
            self.0.insert(key, now);
        }
        new
    }
}

/// Notifies until the host is gone.
pub(crate) async fn follow<R: Runtime>(app: AppHandle<R>, mut events: Receiver<Event>) {
    let mut said = Said::default();
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            // Nobody wants to hear late of what has passed.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let Some(notice) = notice(&event) else { continue };
        if app.state::<Stored>().get().notifications && said.may(&event.model, notice.kind, Instant::now()) {
            show(&app, notice);
        }
    }
}

fn show<R: Runtime>(app: &AppHandle<R>, notice: Notice) {
    let shown = app.notification().builder().title(notice.title).body(notice.body).show();
    if let Err(error) = shown {
        tracing::warn!(%error, "the desktop shows no notifications");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: serde_json::Value) -> Event {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_cap_and_a_crash_are_said_in_words_and_nothing_else() {
        let near = event(serde_json::json!({"seq": 1, "time_ms": 2, "model": "m", "event": "near_cap",
            "device": "cpu:0", "reserved_bytes": 95 << 20, "limit_bytes": 100 << 20}));
        let said = notice(&near).unwrap();
        assert_eq!(said.title, "m is near its cap");
        assert_eq!(
            said.body,
            "It has reserved 95.0 MiB of 100.0 MiB on cpu:0. Shrink it, or give it a higher cap."
        );
        let crashed = |restart: Option<u64>| {
            event(serde_json::json!({"seq": 1, "time_ms": 2, "model": "m", "event": "crashed",
                "reason": "signal 9", "restart_in_ms": restart}))
        };
        assert!(notice(&crashed(Some(5))).unwrap().body.ends_with("It is being started again."));
        assert!(notice(&crashed(None)).unwrap().body.contains("stays down"));
        assert_eq!(
            notice(&event(serde_json::json!({"seq": 1, "time_ms": 2, "model": "m", "event": "loading"}))),
            None
        );
    }

    #[test]
    fn each_model_and_kind_is_said_once_in_five_minutes() {
        let (mut said, now) = (Said::default(), Instant::now());
        assert!(said.may("a", "crashed", now));
        assert!(!said.may("a", "crashed", now + QUIET - Duration::from_millis(1)));
        assert!(said.may("a", "near_cap", now) && said.may("b", "crashed", now));
        assert!(
            said.may("a", "crashed", now + QUIET),
            "the time counts from what was said, not from what was not"
        );
        assert_eq!(said.0.len(), 1, "what is long past is forgotten");
    }
}
