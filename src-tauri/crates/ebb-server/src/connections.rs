//! The connections of the server: taken while there is room, given time limits, and drained at the end.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

/// More clients than this wait to be let in: a leak of connections must not eat the host's descriptors.
const MOST_CONNECTIONS: usize = 512;

/// Serves until it is drained.
pub(crate) struct Connections {
    listener: TcpListener,
    router: Router,
    header_time: Duration,
    room: Arc<Semaphore>,
    graceful: GracefulShutdown,
    tasks: JoinSet<()>,
}

impl Connections {
    /// `header_time` is how long a client may take to send the head of a request.
    pub(crate) fn new(listener: TcpListener, router: Router, header_time: Duration) -> Self {
        Self {
            listener,
            router,
            header_time,
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            graceful: GracefulShutdown::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Takes connections until it is dropped; the connections go on.
    pub(crate) async fn accept(&mut self) {
        loop {
            let Ok(place) = Arc::clone(&self.room).acquire_owned().await else { return };
            match self.listener.accept().await {
                Ok((stream, _)) => self.serve(stream, place),
                Err(error) => {
                    // Out of descriptors, or the client left at once: not for ever, so do not spin.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    fn serve(&mut self, stream: TcpStream, place: tokio::sync::OwnedSemaphorePermit) {
        // Answers are small and wanted at once; Nagle's algorithm would hold streamed lines back.
        let _ = stream.set_nodelay(true);
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_time)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(self.router.clone()));
        let connection = self.graceful.watch(connection);
        self.tasks.spawn(async move {
            if let Err(error) = connection.await {
                // A client that goes away in mid-answer is its own affair; its job is cancelled by then.
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }

    /// Takes no more connections, lets requests in flight end for as long as `drain`, then cuts them off. Says whether all
    /// ended by themselves.
    pub(crate) async fn drain(mut self, drain: Duration) -> bool {
        drop(self.listener);
        let all_ended = tokio::time::timeout(drain, self.graceful.shutdown()).await.is_ok();
        self.tasks.shutdown().await;
        all_ended
    }
}
