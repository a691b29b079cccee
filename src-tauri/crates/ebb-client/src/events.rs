//! What happens to models, as server-sent events.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use ebb_core::Event;
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};

use crate::{Error, lines::Lines};

/// Events as they happen. It ends when the host ends; dropping it closes the connection. Who reads too slowly misses some: the
/// numbers of the events ([`Event::seq`]) leave a gap then.
pub struct EventStream(BoxStream<'static, Result<Event, Error>>);

impl EventStream {
    pub(crate) fn new(lines: Lines) -> Self {
        Self(stream::try_unfold(lines, next_event).boxed())
    }
}

impl Stream for EventStream {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EventStream").finish_non_exhaustive()
    }
}

/// Reads up to the empty line that ends an event. The event's name and number stand in its data too, and comments keep
/// the connection open: only `data` lines matter.
async fn next_event(mut lines: Lines) -> Result<Option<(Event, Lines)>, Error> {
    let mut data = Vec::new();
    let mut lagged = false;
    while let Some(line) = lines.next().await? {
        if let Some(name) = line.strip_prefix(b"event:") {
            lagged = name.trim_ascii() == b"lagged";
        } else if let Some(more) = line.strip_prefix(b"data:") {
            if !data.is_empty() {
                data.push(b'\n');
            }
            data.extend_from_slice(more.strip_prefix(b" ").unwrap_or(more));
        } else if line.is_empty() && std::mem::take(&mut lagged) {
            // It says only how many were missed.
            data.clear();
        } else if line.is_empty() && !data.is_empty() {
            let event = serde_json::from_slice(&data)
                .map_err(|error| Error::Protocol(format!("an event: {error}")))?;
            return Ok(Some((event, lines)));
        }
    }
    Ok(None)
}
