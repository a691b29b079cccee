//! The way to the host, shared by both threads: a frame is written whole.

use std::{
    io::{BufWriter, Write},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use ebb_core::{Code, Failure};
use ebb_ipc::{Error, Frame, FromWorker, encode};

/// Messages that belong together leave in one write, so that the host wakes once for them.
const BUFFER_BYTES: usize = 64 << 10;

/// The way to the host.
pub(crate) struct Output<W: Write>(Mutex<BufWriter<W>>);

impl<W: Write> Output<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self(Mutex::new(BufWriter::with_capacity(BUFFER_BYTES, writer)))
    }

    /// Sends a message, and what was put before.
    pub(crate) fn send(&self, message: FromWorker) {
        if let Err(failure) = self.write(message, Bytes::new(), true) {
            tracing::error!(%failure, "a message to the host is lost");
        }
    }

    /// Puts a message with bulk data before the next one that is sent.
    ///
    /// # Errors
    /// [`Code::TooLarge`] where no frame holds it. A host that is gone is no error here: the reading thread notices, and ends
    /// this process.
    pub(crate) fn put(&self, message: FromWorker, tail: Bytes) -> Result<(), Failure> {
        self.write(message, tail, false)
    }

    /// Sends what was put.
    pub(crate) fn flush(&self) {
        gone(self.writer().flush());
    }

    fn write(&self, message: FromWorker, tail: Bytes, flush: bool) -> Result<(), Failure> {
        let frame = Frame { message, tail };
        let (bytes, tail) = encode(&frame).map_err(|error| match error {
            Error::TooLarge { bytes, limit } => Failure::new(Code::TooLarge, error.to_string())
                .detail("bytes", bytes)
                .detail("limit_bytes", limit),
            error => Failure::new(Code::Internal, error.to_string()),
        })?;
        let mut writer = self.writer();
        let written =
            writer.write_all(&bytes).and_then(|()| tail.map_or(Ok(()), |tail| writer.write_all(tail)));
        gone(if flush { written.and_then(|()| writer.flush()) } else { written });
        Ok(())
    }

    fn writer(&self) -> std::sync::MutexGuard<'_, BufWriter<W>> {
        // A panic of the other thread in the middle of a frame would have ended the process.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone(written: std::io::Result<()>) {
    if let Err(error) = written {
        tracing::debug!(%error, "the host does not listen any more");
    }
}
