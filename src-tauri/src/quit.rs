//! The end of the app. While requests run, the page says which and asks; nothing is cut off by a stray click.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tauri::{AppHandle, Emitter as _, Manager as _, Runtime};

use crate::{calls::Calls, start::Start, window};

/// What the user wants cut off still gets this long to say so to whoever waits for it.
const CUT_OFF: Duration = Duration::from_secs(1);

/// Whether there is anybody to ask.
#[derive(Debug, Default)]
pub(crate) struct Quit {
    page: AtomicBool,
}

impl Quit {
    /// The page runs: it can ask the user.
    pub(crate) fn page_is_there(&self) {
        self.page.store(true, Ordering::Relaxed);
    }

    /// The page goes.
    pub(crate) fn page_is_gone(&self) {
        self.page.store(false, Ordering::Relaxed);
    }
}

/// The user wants to quit: at once where nothing runs, else the page asks.
pub(crate) fn ask<R: Runtime>(app: &AppHandle<R>) {
    let running = running(app);
    if running.is_empty() || !app.state::<Quit>().page.load(Ordering::Relaxed) {
        return now(app);
    }
    window::show(app);
    if let Err(error) = app.emit_to(window::MAIN, "quitting", running) {
        tracing::warn!(%error, "the page cannot be asked");
        now(app);
    }
}

/// Ends the app. The window goes at once; workers end first, which takes a moment.
pub(crate) fn now<R: Runtime>(app: &AppHandle<R>) {
    window::leave(app);
    if !app.state::<Start>().end(CUT_OFF) {
        app.exit(0);
    }
}

/// What would be cut off, for people.
fn running<R: Runtime>(app: &AppHandle<R>) -> Vec<String> {
    let Some(serving) = app.state::<Start>().now() else { return Vec::new() };
    let models = serving.host.requests().into_iter().map(|(model, requests)| match requests {
        1 => format!("{model}: 1 request"),
        requests => format!("{model}: {requests} requests"),
    });
    let mut running: Vec<String> = models.collect();
    running.extend(app.state::<Calls>().open().iter().filter_map(|call| work(call)).map(str::to_owned));
    running.sort();
    running.dedup();
    running
}

/// What a request of the page does that takes long and that no model is busy with.
fn work(call: &str) -> Option<&'static str> {
    let path = call.strip_prefix("POST ")?;
    let last = path.rsplit('/').next()?;
    match last {
        "pull" => Some("a model is being fetched"),
        "import" => Some("a model is being imported"),
        "load" => Some("a model is being loaded"),
        "ingest" => Some("documents are being read in"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_that_takes_long_is_named() {
        assert_eq!(work("POST /ebb/v1/pull"), Some("a model is being fetched"));
        assert_eq!(work("POST /ebb/v1/models/minilm/load"), Some("a model is being loaded"));
        assert_eq!(work("GET /ebb/v1/events"), None);
        assert_eq!(work("POST /ebb/v1/models/minilm/shrink"), None);
    }
}
