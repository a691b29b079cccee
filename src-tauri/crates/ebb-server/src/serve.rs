//! The life of the server: bind, say where, serve until told or unused, drain, close.

use std::{io, net::Ipv4Addr, sync::Arc, time::Duration};

use ebb_api::Host;
use ebb_core::{Code, Endpoint, Failure, operations::LoginLink};
use tokio::{
    net::TcpListener,
    sync::watch,
    time::{Instant, sleep},
};

use crate::{
    connections::Connections,
    guard::Guard,
    inside::Inside,
    login::{self, Logins},
    routes::{App, inside, router},
    sent::Limits,
    ui::Page,
};

/// Where a host listens unless told otherwise. The next ones are tried where it is taken.
const DEFAULT_PORT: u16 = 4770;

/// Ports that are tried before the system chooses one.
const PORTS_TRIED: u16 = 20;

/// How long requests in flight may take to end where nobody says.
const DEFAULT_DRAIN: Duration = Duration::from_secs(10);

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The port; where it is taken, that is an error. `None`: 4770 or the next that is free.
    pub port: Option<u16>,
    /// End after this time with no model in memory; `None`: never.
    pub idle_exit: Option<Duration>,
    /// End at SIGINT or SIGTERM (Ctrl-C on Windows). Off where the process has other plans for them.
    pub signals: bool,
    /// Largest request body.
    pub body_limit_bytes: usize,
    /// Largest audio file.
    pub audio_limit_bytes: usize,
    /// How long a client may take to send the head of a request.
    pub header_time: Duration,
    /// How long a client may take to send a body.
    pub body_time: Duration,
    /// The page to serve to browsers; `None`: none.
    pub page: Option<Page>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            port: None,
            idle_exit: None,
            signals: true,
            body_limit_bytes: ebb_core::operations::MAX_BODY_BYTES,
            audio_limit_bytes: ebb_core::operations::MAX_AUDIO_BYTES,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            page: None,
        }
    }
}

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The operation `shutdown` was called.
    Requested,
    /// The system or the user at the terminal asked.
    Signal,
    /// No model was in memory for the time of [`ServeOptions::idle_exit`].
    Idle,
}

/// A server that listens. Clients can find it already; it answers them once it runs.
pub struct Server {
    host: Host,
    options: ServeOptions,
    endpoint: Endpoint,
    connections: Connections,
    inside: Inside,
    logins: Option<Arc<Logins>>,
    closing: watch::Sender<bool>,
}

/// Binds, serves, and closes the host.
///
/// # Errors
/// As [`Server::bind`] and [`Server::run`].
pub async fn serve(host: Host, options: ServeOptions) -> Result<Exit, Failure> {
    Server::bind(host, options).await?.run().await
}

impl Server {
    /// Listens on loopback and writes the endpoint file.
    ///
    /// # Errors
    /// [`Code::Conflict`] where the port that was asked for is taken; [`Code::Storage`] where the endpoint file cannot be
    /// written.
    pub async fn bind(host: Host, options: ServeOptions) -> Result<Self, Failure> {
        let (listener, port) = listen(options.port).await?;
        let page = options.page.clone();
        let logins = page.as_ref().map(|_| Logins::new(port).map(Arc::new)).transpose()?;
        let endpoint = host.publish(&format!("http://{}:{port}", Ipv4Addr::LOCALHOST))?;
        let (closing, is_closing) = watch::channel(false);
        let limits = Limits {
            body_bytes: options.body_limit_bytes,
            audio_bytes: options.audio_limit_bytes,
            body_time: options.body_time,
        };
        let app = App {
            host: host.clone(),
            limits,
            http: Arc::default(),
            closing: is_closing,
            logins: logins.clone(),
        };
        let keys = host.clone();
        let guard = Guard::new(endpoint.token.clone(), port, move |key| keys.scopes_of_key(key));
        let inside = Inside::new(inside(app.clone()));
        let connections = Connections::new(listener, router(app, guard, page), options.header_time);
        Ok(Self { host, options, endpoint, connections, inside, logins, closing })
    }

    /// Where it listens, and the token.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The same routes for callers in this process, who may do everything. They answer from now on, before
    /// [`run`](Self::run) too; once the server has closed, as a closed host does.
    pub fn inside(&self) -> Inside {
        self.inside.clone()
    }

    /// A link that lets one browser in to the page, once.
    ///
    /// # Errors
    /// [`Code::NotFound`] where [`ServeOptions::page`] is none; [`Code::Internal`] where the system has no randomness to give.
    pub fn login_link(&self) -> Result<LoginLink, Failure> {
        login::link(self.logins.as_deref())
    }

    /// Serves until a shutdown is asked for, a signal comes, or nothing was loaded for long enough. Then it drains, unloads
    /// every model (they come back when a host starts again) and removes the endpoint file.
    ///
    /// # Errors
    /// What [`Host::close`] says.
    pub async fn run(mut self) -> Result<Exit, Failure> {
        let (exit, drain) = tokio::select! {
            () = self.connections.accept() => (Exit::Requested, DEFAULT_DRAIN),
            drain = self.host.shutdown_requested() => (Exit::Requested, drain.unwrap_or(DEFAULT_DRAIN)),
            () = signalled(self.options.signals) => (Exit::Signal, DEFAULT_DRAIN),
            () = unused(&self.host, self.options.idle_exit) => (Exit::Idle, DEFAULT_DRAIN),
        };
        tracing::info!(?exit, ?drain, "closing");
        self.closing.send_replace(true);
        let begun = Instant::now();
        if !self.connections.drain(drain).await {
            tracing::warn!("requests were cut off that did not end within the time to drain");
        }
        self.host.close(drain.saturating_sub(begun.elapsed())).await?;
        Ok(exit)
    }
}

async fn listen(asked: Option<u16>) -> Result<(TcpListener, u16), Failure> {
    if let Some(port) = asked {
        return bind(port).await.map_err(|error| cannot_listen(port, &error));
    }
    for port in DEFAULT_PORT..DEFAULT_PORT + PORTS_TRIED {
        match bind(port).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                tracing::info!(port, "the port is taken, trying the next");
            }
            bound => return bound.map_err(|error| cannot_listen(port, &error)),
        }
    }
    bind(0).await.map_err(|error| cannot_listen(0, &error))
}

async fn bind(port: u16) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

fn cannot_listen(port: u16, error: &io::Error) -> Failure {
    let failure = if error.kind() == io::ErrorKind::AddrInUse {
        Failure::new(Code::Conflict, format!("port {port} is taken by another program"))
            .hint("choose another port, or none: Ebb then takes one that is free")
    } else {
        Failure::new(Code::Internal, format!("cannot listen on port {port}: {error}"))
            .hint("choose another port, or none: Ebb then takes one that is free")
    };
    failure.param("port")
}

/// Returns once the process is asked to end.
async fn signalled(wanted: bool) {
    if !wanted {
        return std::future::pending().await;
    }
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                () = interrupted() => {}
            }
            return;
        }
    }
    interrupted().await;
}

async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::warn!(%error, "Ctrl-C cannot be listened to");
        std::future::pending::<()>().await;
    }
}

/// Returns once no model was in memory for `after`.
async fn unused(host: &Host, after: Option<Duration>) {
    let Some(after) = after else { return std::future::pending().await };
    let look_every = (after / 10).clamp(Duration::from_millis(5), Duration::from_secs(5));
    let mut since = Instant::now();
    while since.elapsed() < after {
        sleep(look_every).await;
        if host.holds_models() {
            since = Instant::now();
        }
    }
}
