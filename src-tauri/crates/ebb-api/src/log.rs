//! The host's own log: the last lines are kept in memory, for windows and reports on errors.

mod ring;
mod visit;

use ebb_core::{
    Failure,
    operations::{HostLog, HostLogLine},
};
use tokio::sync::broadcast;
use tracing::{Event, Subscriber, level_filters::LevelFilter, span};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use self::{ring::RING, visit::Fields};
use crate::Host;

/// Keeps the last lines of this process's log. A program adds it once to its subscriber, beside whatever writes the log.
pub fn keep_log<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    Keeping.with_filter(LevelFilter::INFO)
}

struct Keeping;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Keeping {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(of_span) = span.extensions().get::<Fields>() {
                fields.add(of_span);
            }
        }
        event.record(&mut fields);
        RING.keep(event.metadata(), fields);
    }
}

/// Lines of the host's log, as they come. A reader that is too slow misses some: their numbers show it.
#[derive(Debug)]
pub struct HostLogStream(broadcast::Receiver<HostLogLine>);

impl HostLogStream {
    /// The next line; it waits for as long as none comes.
    pub async fn next(&mut self) -> Option<HostLogLine> {
        loop {
            match self.0.recv().await {
                Ok(line) => return Some(line),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

impl Host {
    /// The last lines of the host's own log that are kept (at most 2,000 are), oldest first; none where the program does not
    /// [keep](keep_log) its log. Texts of requests and answers are in none.
    ///
    /// # Errors
    /// None today.
    pub async fn host_log(&self, lines: u32) -> Result<HostLog, Failure> {
        Ok(HostLog { lines: RING.last(lines as usize) })
    }

    /// As [`host_log`](Self::host_log), with what comes after it: without a gap and without a repeat.
    pub fn follow_host_log(&self, lines: u32) -> (HostLog, HostLogStream) {
        let (lines, coming) = RING.last_and_coming(lines as usize);
        (HostLog { lines }, HostLogStream(coming))
    }
}

#[cfg(test)]
mod tests;
