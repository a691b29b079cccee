//! Ctrl-C.

use std::future::Future;

use crate::error::{Error, Result};

/// Does `work`, or gives it up at Ctrl-C: dropping it cancels what the host does for it, and removes what was begun.
pub(super) async fn or_interrupt<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        done = work => done,
        signal = tokio::signal::ctrl_c() => {
            signal?;
            Err(Error::Interrupted)
        }
    }
}
