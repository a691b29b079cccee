//! How often and when something that failed is tried again.

use std::time::Duration;

use crate::Error;

/// How a download deals with what goes wrong for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Failures in a row that are borne, with no byte in between.
    pub failures: u32,
    /// The wait after the first; each further one is twice as long.
    pub first_wait: Duration,
    /// The longest wait, also of those that a server asks for.
    pub longest_wait: Duration,
    /// How long a server may be silent.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            failures: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(120),
            silence: Duration::from_secs(60),
        }
    }
}

/// The tries of one thing.
#[derive(Debug)]
pub(crate) struct Tries {
    patience: Patience,
    failed: u32,
}

impl Tries {
    pub(crate) fn new(patience: Patience) -> Self {
        Self { patience, failed: 0 }
    }

    /// It went on meanwhile, so what failed before counts no more.
    pub(crate) fn renew(&mut self) {
        self.failed = 0;
    }

    /// Waits until it may be tried again, and tells how long that is. Gives the error back where it is of no use.
    pub(crate) async fn wait(
        &mut self,
        error: Error,
        tell: impl FnOnce(Duration, &Error),
    ) -> Result<(), Error> {
        if !error.is_temporary() || self.failed >= self.patience.failures {
            return Err(error);
        }
        let asked = if let Error::Status { retry_after, .. } = &error { *retry_after } else { None };
        let own = self.patience.first_wait.saturating_mul(1 << self.failed.min(16));
        let wait = asked.unwrap_or(own).min(self.patience.longest_wait);
        self.failed += 1;
        tracing::warn!(%error, wait_ms = wait.as_millis() as u64, "trying again");
        tell(wait, &error);
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
