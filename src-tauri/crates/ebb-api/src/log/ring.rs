//! The last lines, of the whole process: a log is not a host's alone.

use std::{
    collections::VecDeque,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use ebb_core::{
    Json,
    operations::{HostLogLine, LogLevel},
};
use tokio::sync::broadcast;
use tracing::{Level, Metadata};

use super::visit::Fields;

/// Lines that are kept.
const KEPT: usize = 2_000;

/// What the kept ones may take together, about.
const KEPT_BYTES: usize = 2 << 20;

/// Lines that a slow follower may lag behind before it misses some.
const BACKLOG: usize = 256;

/// The lines of this process.
pub(super) static RING: LazyLock<Ring> = LazyLock::new(Ring::new);

#[derive(Debug)]
pub(super) struct Ring {
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    last_seq: u64,
    lines: VecDeque<(HostLogLine, usize)>,
    bytes: usize,
    followers: broadcast::Sender<HostLogLine>,
}

impl Ring {
    fn new() -> Self {
        let followers = broadcast::channel(BACKLOG).0;
        Self { book: Mutex::new(Book { last_seq: 0, lines: VecDeque::new(), bytes: 0, followers }) }
    }

    pub(super) fn keep(&self, metadata: &Metadata<'_>, fields: Fields) {
        let Fields { message, model, fields, bytes } = fields;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut line = HostLogLine {
            seq: 0,
            time_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            level: level(*metadata.level()),
            target: metadata.target().to_owned(),
            message,
            model,
            fields: fields.into_iter().map(|(name, value)| (name.to_owned(), Json(value))).collect(),
        };
        let mut book = self.book();
        book.last_seq += 1;
        line.seq = book.last_seq;
        // Nobody following is no fault.
        let _heard = book.followers.send(line.clone());
        book.push(line, bytes);
    }

    pub(super) fn last(&self, count: usize) -> Vec<HostLogLine> {
        self.book().last(count)
    }

    pub(super) fn last_and_coming(
        &self,
        count: usize,
    ) -> (Vec<HostLogLine>, broadcast::Receiver<HostLogLine>) {
        // Under one lock: no line comes between the two.
        let book = self.book();
        (book.last(count), book.followers.subscribe())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn push(&mut self, line: HostLogLine, bytes: usize) {
        self.bytes += bytes;
        self.lines.push_back((line, bytes));
        while self.lines.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((_, bytes)) = self.lines.pop_front() else { return };
            self.bytes -= bytes;
        }
    }

    fn last(&self, count: usize) -> Vec<HostLogLine> {
        let passed = self.lines.len().saturating_sub(count);
        self.lines.iter().skip(passed).map(|(line, _)| line.clone()).collect()
    }
}

fn level(level: Level) -> LogLevel {
    match level {
        Level::TRACE => LogLevel::Trace,
        Level::DEBUG => LogLevel::Debug,
        Level::INFO => LogLevel::Info,
        Level::WARN => LogLevel::Warn,
        Level::ERROR => LogLevel::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64) -> HostLogLine {
        HostLogLine {
            seq,
            time_ms: 0,
            level: LogLevel::Info,
            target: String::new(),
            message: String::new(),
            model: None,
            fields: Default::default(),
        }
    }

    #[test]
    fn it_is_bounded_in_number_and_in_bytes() {
        let ring = Ring::new();
        for seq in 1..=3_000 {
            ring.book().push(line(seq), 10);
        }
        let lines = ring.last(usize::MAX);
        assert_eq!((lines.len(), lines[0].seq), (KEPT, 1_001));
        assert_eq!(ring.last(2).iter().map(|line| line.seq).collect::<Vec<_>>(), [2_999, 3_000]);
        ring.book().push(line(3_001), KEPT_BYTES);
        assert_eq!(ring.last(usize::MAX).len(), 1);
        assert_eq!(ring.book().bytes, KEPT_BYTES);
    }
}
