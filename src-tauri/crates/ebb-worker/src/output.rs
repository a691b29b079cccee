//! The way to the host, shared by both threads: a frame is written whole.

use std::{
    io::Write,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use ebb_ipc::{Frame, FromWorker, write_frame};

/// The way to the host.
pub(crate) struct Output<W>(Mutex<W>);

impl<W: Write> Output<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self(Mutex::new(writer))
    }

    /// Sends a message. What cannot be sent is dropped: then the host is gone, and the reading thread ends this process.
    pub(crate) fn send(&self, message: FromWorker) {
        self.send_with(message, Bytes::new());
    }

    /// Sends a message with bulk data.
    pub(crate) fn send_with(&self, message: FromWorker, tail: Bytes) {
        // A panic of the other thread in the middle of a frame would have ended the process.
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = write_frame(&mut *writer, &Frame { message, tail }) {
            tracing::debug!(%error, "the host does not listen any more");
        }
    }
}
