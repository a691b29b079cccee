//! The host: found where one runs, started where none does, ended.

mod process;
mod start;
mod stop;

use std::{
    fs::File,
    net::{SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use ebb_client::Client;
use ebb_core::{Endpoint, Places};

use crate::error::Result;

pub(crate) use start::{Start, start};
pub(crate) use stop::{How, stop};

/// A host that the CLI started by itself ends after this time with nothing loaded.
const IDLE_EXIT: Duration = Duration::from_secs(15 * 60);

/// The host that runs, if one does.
pub(crate) fn running(places: &Places) -> Result<Option<Client>> {
    match Client::connect_in(places) {
        Ok(client) if listens(client.endpoint()) => Ok(Some(client)),
        Ok(_) | Err(ebb_client::Error::NotRunning { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The host that runs; where none does, one is started.
pub(crate) async fn connect(places: &Places) -> Result<Client> {
    match running(places)? {
        Some(client) => Ok(client),
        None => start(places, Start { port: None, idle_exit: Some(IDLE_EXIT), ui: false }).await,
    }
}

/// An endpoint file may be left from a host that was killed. Asking its port costs some tens of microseconds.
fn listens(endpoint: &Endpoint) -> bool {
    let address = endpoint.url.trim_start_matches("http://").parse::<SocketAddr>();
    address.is_ok_and(|address| TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok())
}

/// The port of an endpoint.
pub(crate) fn port_of(endpoint: &Endpoint) -> Option<u16> {
    endpoint.url.rsplit(':').next()?.trim_end_matches('/').parse().ok()
}

/// Whether a host holds the lock. It does from before it says where it listens until its process is gone.
fn held(lock_file: &Path) -> bool {
    // Shared, so that two who look do not take each other for a host.
    File::open(lock_file).is_ok_and(|file| file.try_lock_shared().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_without_being_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.lock");
        assert!(!held(&path));
        let file = File::create(&path).unwrap();
        assert!(!held(&path));
        file.lock().unwrap();
        assert!(held(&path));
    }
}
