//! The end of a host.

use std::time::Duration;

use ebb_client::Client;
use ebb_core::{Code, Failure, Places};
use tokio::time::{Instant, sleep, timeout};

use super::{held, port_of, process};
use crate::error::Result;

/// Requests in flight get 10 s to end, unloading some more.
const DRAIN: Duration = Duration::from_secs(10);
const AFTER_DRAIN: Duration = Duration::from_secs(10);
/// A host that does not answer is not waited for as long.
const ANSWER: Duration = Duration::from_secs(5);
const AFTER_SIGNAL: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How a host came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// None was running.
    NotRunning,
    /// It finished its work.
    Asked {
        /// Where it listened.
        port: Option<u16>,
    },
    /// It did not answer, or did not end, and was killed.
    Killed {
        /// Where it listened.
        port: Option<u16>,
    },
}

/// Ends the host: by asking it, in the last resort by force. Returns once its process is gone.
pub(crate) async fn stop(places: &Places) -> Result<How> {
    let client = match Client::connect_in(places) {
        Ok(client) => client,
        Err(ebb_client::Error::NotRunning { .. }) => return Ok(How::NotRunning),
        Err(error) => return Err(error.into()),
    };
    let pid = client.endpoint().pid;
    let port = port_of(client.endpoint());
    let drain_ms = DRAIN.as_millis() as u64;
    match timeout(ANSWER, client.shutdown(Some(drain_ms))).await {
        Ok(Ok(_)) => {
            if gone(pid, DRAIN + AFTER_DRAIN).await {
                return Ok(How::Asked { port });
            }
        }
        // Left behind by a host that was killed; its number may belong to another process by now.
        Ok(Err(ebb_client::Error::NotRunning { .. })) => return Ok(How::NotRunning),
        Ok(Err(_)) if !held(&places.lock_file()) => return Ok(How::NotRunning),
        // The connection may break while it ends; and where it refuses or hangs, it has to be ended.
        Ok(Err(_)) | Err(_) => {}
    }
    for by_force in [false, true] {
        process::end(pid, by_force);
        if gone(pid, AFTER_SIGNAL).await {
            return Ok(How::Killed { port });
        }
    }
    let failure = Failure::new(Code::Internal, format!("the host (process {pid}) does not end"))
        .hint("end it by its number, or log out");
    Err(failure.into())
}

async fn gone(pid: u32, within: Duration) -> bool {
    let begun = Instant::now();
    while process::alive(pid) {
        if begun.elapsed() > within {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
    true
}
