//! What a guest prints: lines of its plugin's log.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use ebb_core::operations::LogLevel;
use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use crate::log::{About, Log};

/// Longest line that is kept until its end comes.
const LINE_BYTES: usize = 4 << 10;

/// Bytes that are taken in one call.
const WRITE_BYTES: usize = 64 << 10;

/// One of a guest's two outputs. Clones are the same output.
#[derive(Clone)]
pub(crate) struct Stdio {
    log: Log,
    level: LogLevel,
    /// The number of the guest's call.
    request: Arc<AtomicU64>,
    /// The line that has not ended.
    line: Arc<Mutex<Vec<u8>>>,
}

impl Stdio {
    pub(crate) fn new(log: Log, level: LogLevel, request: Arc<AtomicU64>) -> Self {
        Self { log, level, request, line: Arc::default() }
    }

    fn take(&self, bytes: &[u8]) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || line.len() >= LINE_BYTES {
                self.end(&mut line);
            }
        }
    }

    fn end(&self, line: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(line);
        let about = About { request: self.request.load(Ordering::Relaxed), model: None };
        if !text.trim().is_empty() {
            self.log.line(self.level, about, text.trim_end());
        }
        line.clear();
    }
}

impl IsTerminal for Stdio {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stdio {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Stdio {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Stdio {
    /// It never waits.
    async fn ready(&mut self) {}
}

impl AsyncWrite for Stdio {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_logged_as_they_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open("p", folder.path(), 1 << 20);
        let printed = Stdio::new(log.clone(), LogLevel::Warn, Arc::new(AtomicU64::new(7)));
        printed.take(b"one\ntw");
        printed.take(b"o\n\n\xff\n");
        printed.take(&vec![b'x'; LINE_BYTES]);
        let lines = log.tail(10);
        let told: Vec<_> = lines.iter().map(|line| line.message.as_str()).collect();
        assert_eq!(told[..3], ["one", "two", "\u{fffd}"]);
        assert_eq!(told[3].len(), LINE_BYTES);
        assert!(
            lines.iter().all(|line| line.request == 7 && line.level == LogLevel::Warn && !line.from_host)
        );
    }
}
