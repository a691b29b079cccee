//! Loads and unloads of one model: each waits for the one before it, except that an unload makes the loads that were asked
//! for before it give up.

use tokio::sync::{Mutex, MutexGuard, watch};

/// Where loads and unloads of a model wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    held: Mutex<()>,
    give_up: watch::Sender<()>,
}

/// A load that is to come or goes on.
#[derive(Debug)]
pub(crate) struct Pending(watch::Receiver<()>);

/// An unload came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GivenUp;

impl Turn {
    /// Waits for whoever has the turn.
    pub(crate) async fn take(&self) -> MutexGuard<'_, ()> {
        self.held.lock().await
    }

    /// A load that gives up once [`Self::give_up_loads`] is called from here on.
    pub(crate) fn pending(&self) -> Pending {
        Pending(self.give_up.subscribe())
    }

    /// Makes every pending load give up. Says whether there was one.
    pub(crate) fn give_up_loads(&self) -> bool {
        // Not `send`: it changes nothing where nobody listens, and fails.
        self.give_up.send_replace(());
        self.give_up.receiver_count() > 0
    }
}

impl Pending {
    /// Does `work`, which is dropped where the load is to give up.
    pub(crate) async fn unless_given_up<T>(&mut self, work: impl Future<Output = T>) -> Result<T, GivenUp> {
        let mut listening = self.0.clone();
        tokio::select! {
            biased;
            // An error means that the turn is gone, and with it whoever could ask.
            Ok(()) = listening.changed() => Err(GivenUp),
            done = work => Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn loads_from_before_an_unload_give_up_and_later_ones_do_not() {
        let turn = Turn::default();
        assert!(!turn.give_up_loads());
        let mut before = turn.pending();
        assert_eq!(before.unless_given_up(ready(1)).await, Ok(1));
        let (given_up, asked) =
            tokio::join!(before.unless_given_up(pending::<()>()), async { turn.give_up_loads() });
        assert_eq!((given_up, asked), (Err(GivenUp), true));
        // And so does what it tries next.
        assert_eq!(before.unless_given_up(ready(2)).await, Err(GivenUp));
        assert_eq!(turn.pending().unless_given_up(ready(3)).await, Ok(3));
    }
}
