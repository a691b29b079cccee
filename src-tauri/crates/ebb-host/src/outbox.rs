//! The way to a worker. Whoever sends writes at once, as far as the pipe takes it, so that no other task has to wake first; a
//! task of its own writes the rest. A sender who leaves can break no frame.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use bytes::{Buf, Bytes};
use tokio::{io::AsyncWrite, sync::Notify};

/// The way to a worker.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Wakes the task that writes the rest.
    more: Notify,
}

struct State {
    /// `None` once it is closed, by this side or the other.
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// What the pipe did not take yet.
    rest: VecDeque<Bytes>,
    /// Close once the rest is written.
    closing: bool,
}

impl Outbox {
    /// Takes the pipe, and starts the task.
    pub(crate) fn new(writer: Box<dyn AsyncWrite + Send + Unpin>) -> Arc<Self> {
        let state = State { writer: Some(writer), rest: VecDeque::new(), closing: false };
        let outbox = Arc::new(Self { state: Mutex::new(state), more: Notify::new() });
        tokio::spawn(write_rest(Arc::clone(&outbox)));
        outbox
    }

    /// Sends these bytes, in order. Those that cannot be sent are dropped: then the worker is gone, as its listener tells. Says
    /// whether the worker can have got them all.
    pub(crate) fn send(&self, parts: impl IntoIterator<Item = Bytes>) -> bool {
        let mut state = self.state();
        let first = state.rest.is_empty();
        state.rest.extend(parts);
        // Behind others, the task is at it, and waits for the pipe under its own waker.
        if first && state.write(&mut Context::from_waker(Waker::noop())).is_pending() {
            self.more.notify_one();
        }
        state.writer.is_some()
    }

    /// Closes the pipe behind what was sent.
    pub(crate) fn close(&self) {
        self.state().closing = true;
        self.more.notify_one();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl State {
    fn write(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let (Some(writer), Some(next)) = (&mut self.writer, self.rest.front_mut()) {
            if next.is_empty() {
                self.rest.pop_front();
                continue;
            }
            match ready!(Pin::new(writer).poll_write(context, next)) {
                Ok(count) if count > 0 => next.advance(count),
                closed => {
                    tracing::debug!(?closed, "the worker does not listen any more");
                    self.writer = None;
                }
            }
        }
        if self.writer.is_none() || self.closing {
            self.writer = None;
            self.rest.clear();
        }
        Poll::Ready(())
    }
}

async fn write_rest(outbox: Arc<Outbox>) {
    loop {
        outbox.more.notified().await;
        poll_fn(|context| outbox.state().write(context)).await;
        if outbox.state().writer.is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn what_the_pipe_does_not_take_at_once_follows_in_order() {
        let (ours, mut theirs) = duplex(16);
        let outbox = Outbox::new(Box::new(ours));
        let mut sent = Vec::new();
        for letter in b'a'..=b'z' {
            let part = vec![letter; usize::from(letter - b'a')];
            sent.extend_from_slice(&part);
            assert!(outbox.send([Bytes::from(part)]));
        }
        outbox.close();
        let mut received = Vec::new();
        theirs.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, sent);
    }

    #[tokio::test]
    async fn a_pipe_without_a_reader_is_let_go() {
        let (ours, theirs) = duplex(16);
        drop(theirs);
        let outbox = Outbox::new(Box::new(ours));
        assert!(!outbox.send([Bytes::from_static(b"into the void")]));
        assert!(outbox.state().writer.is_none() && outbox.state().rest.is_empty());
    }
}
