//! The host's life in this app: opened while the window already shows, served until the app or a client ends it.

use std::{sync::Arc, time::Duration};

use ebb_api::Host;
use ebb_core::{Code, Failure, Places, operations::Shutdown};
use ebb_server::{Inside, ServeOptions, Server};
use tauri::{AppHandle, Manager as _, Runtime};
use tokio::sync::watch;

use crate::{calls::Calls, memory, notices, shipped, takeover, tray};

/// How far the start has come, and what came of it.
#[derive(Debug)]
pub(crate) struct Start(watch::Sender<Phase>);

#[derive(Debug, Clone)]
enum Phase {
    Opening,
    Serving(Arc<Serving>),
    Failed(Failure),
}

/// The host that is open.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) host: Host,
    /// Its routes, for the window.
    pub(crate) inside: Inside,
    /// Its address, for other programs.
    pub(crate) url: String,
    /// What to say of the host that it took over from.
    pub(crate) took_over: Option<String>,
}

impl Default for Start {
    fn default() -> Self {
        Self(watch::Sender::new(Phase::Opening))
    }
}

impl Start {
    /// The host, once it is open.
    ///
    /// # Errors
    /// Why it could not be opened.
    pub(crate) async fn serving(&self) -> Result<Arc<Serving>, Failure> {
        let mut phase = self.0.subscribe();
        let settled = phase.wait_for(|phase| !matches!(phase, Phase::Opening)).await;
        match settled.as_deref() {
            Ok(Phase::Serving(serving)) => Ok(Arc::clone(serving)),
            Ok(Phase::Failed(failure)) => Err(failure.clone()),
            // The sender lives as long as the app.
            Ok(Phase::Opening) | Err(_) => Err(Failure::new(Code::Cancelled, "the app is ending")),
        }
    }

    /// The host, if it is open by now.
    pub(crate) fn now(&self) -> Option<Arc<Serving>> {
        match &*self.0.borrow() {
            Phase::Serving(serving) => Some(Arc::clone(serving)),
            Phase::Opening | Phase::Failed(_) => None,
        }
    }

    /// As if the host had been opened, or not.
    #[cfg(test)]
    pub(crate) fn settle(&self, opened: Result<Serving, Failure>) {
        self.0.send_replace(match opened {
            Ok(serving) => Phase::Serving(Arc::new(serving)),
            Err(failure) => Phase::Failed(failure),
        });
    }

    /// Asks the host to end, which ends the app; says whether one is open.
    pub(crate) fn end(&self, drain: Duration) -> bool {
        let Some(serving) = self.now() else { return false };
        let drain_ms = u64::try_from(drain.as_millis()).ok();
        tauri::async_runtime::spawn(async move { serving.host.shutdown(Shutdown { drain_ms }).await });
        true
    }
}

/// Opens the host and serves it until it is asked to end, then ends the app. A host that could not be opened leaves the
/// window open, to say why.
pub(crate) async fn serve<R: Runtime>(app: AppHandle<R>) {
    let start = app.state::<Start>();
    let (server, serving) = match open(&app).await {
        Ok(open) => open,
        Err(failure) => {
            tracing::error!(%failure, "the host could not be opened");
            start.0.send_replace(Phase::Failed(failure));
            return;
        }
    };
    tracing::info!(url = serving.url, "serving");
    let host = serving.host.clone();
    start.0.send_replace(Phase::Serving(Arc::new(serving)));
    tauri::async_runtime::spawn(notices::follow(app.clone(), host.events()));
    tauri::async_runtime::spawn(memory::follow(host, {
        let app = app.clone();
        move |held| tray::show(&app, held)
    }));
    let ended = server.run().await;
    app.state::<Calls>().close_all();
    let code = match ended {
        Ok(exit) => {
            tracing::info!(?exit, "ended");
            0
        }
        Err(failure) => {
            tracing::error!(%failure, "the host did not end cleanly");
            1
        }
    };
    app.exit(code);
}

async fn open<R: Runtime>(app: &AppHandle<R>) -> Result<(Server, Serving), Failure> {
    let places = Places::from_env()?;
    let took_over = takeover::take_over(&places).await?;
    let host = Host::open(places, shipped::settings(app))?;
    let port = took_over.as_ref().and_then(|before| before.port);
    let server = bind(host.clone(), port).await?;
    let serving = Serving {
        inside: server.inside(),
        url: server.endpoint().url.clone(),
        took_over: took_over.map(|before| before.note),
        host,
    };
    Ok((server, serving))
}

/// At the port of the host before, so that its clients find this one; else at one that is free.
async fn bind(host: Host, port: Option<u16>) -> Result<Server, Failure> {
    let bound = Server::bind(host.clone(), ServeOptions { port, ..ServeOptions::default() }).await;
    match (bound, port) {
        (Err(failure), Some(port)) if failure.code == Code::Conflict => {
            tracing::warn!(port, %failure, "another program took the port meanwhile");
            Server::bind(host, ServeOptions::default()).await
        }
        (bound, _) => bound,
    }
}
