//! The last events, kept for whoever comes later: a window that opens shows what happened before it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use ebb_core::Event;
use tokio::sync::broadcast::{
    Receiver,
    error::{RecvError, TryRecvError},
};

use crate::{Host, host::Inner};

/// Events that are kept.
const KEPT: usize = 2_000;

/// What the kept ones may take together, as JSON.
const KEPT_BYTES: usize = 4 << 20;

/// The last events of a host.
#[derive(Debug)]
pub(crate) struct History(Mutex<Book>);

#[derive(Debug)]
struct Book {
    /// What is not in the book yet. It is read before the book is, so that nothing is missing there that was told.
    coming: Receiver<Event>,
    events: VecDeque<(Arc<Event>, usize)>,
    bytes: usize,
}

/// The last events, and those that come.
#[derive(Debug)]
pub struct EventsFrom {
    /// The last events, oldest first.
    pub history: Vec<Arc<Event>>,
    /// What comes. An event whose number is not above [`told`](Self::told) stands in the history.
    pub coming: Receiver<Event>,
    /// The number of the last event that the history reaches to; 0 where none was asked for.
    pub told: u64,
}

impl History {
    /// Keeps what comes from now on.
    pub(crate) fn new(coming: Receiver<Event>) -> Self {
        Self(Mutex::new(Book { coming, events: VecDeque::new(), bytes: 0 }))
    }

    /// The last events, of one model or of all, and the number of the very last.
    fn last(&self, count: usize, model: Option<&str>) -> (Vec<Arc<Event>>, u64) {
        let mut book = self.book();
        book.catch_up();
        let told = book.events.back().map_or(0, |(event, _)| event.seq);
        let wanted = |event: &&Arc<Event>| model.is_none_or(|model| event.model == model);
        let events = book.events.iter().rev().map(|(event, _)| event).filter(wanted);
        let mut events: Vec<_> = events.take(count).cloned().collect();
        events.reverse();
        (events, told)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn catch_up(&mut self) {
        loop {
            match self.coming.try_recv() {
                Ok(event) => self.keep(event),
                // A gap in the numbers shows it.
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    fn keep(&mut self, event: Event) {
        let bytes = serde_json::to_vec(&event).map_or(0, |json| json.len());
        self.bytes += bytes;
        self.events.push_back((Arc::new(event), bytes));
        while self.events.len() > KEPT || (self.bytes > KEPT_BYTES && self.events.len() > 1) {
            let Some((_, bytes)) = self.events.pop_front() else { return };
            self.bytes -= bytes;
        }
    }
}

/// Starts keeping the events of a host.
pub(crate) fn watch(host: &Host) {
    let events = host.events();
    tokio::spawn(keep_up(Arc::downgrade(&host.inner), events));
}

/// Takes events over as they come, before so many wait that some are lost.
async fn keep_up(host: Weak<Inner>, mut events: Receiver<Event>) {
    loop {
        match events.recv().await {
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
        let Some(inner) = host.upgrade() else { return };
        inner.history.book().catch_up();
    }
}

impl Host {
    /// The last `count` events that are kept (at most 2,000 are), of one model or of all, and those that come: without a gap
    /// and without a repeat where those are passed over whose number is not above [`EventsFrom::told`].
    pub fn events_from(&self, count: usize, model: Option<&str>) -> EventsFrom {
        // First the listening: what comes before the look into the book stands in both, and is told once by its number.
        let coming = self.events();
        if count == 0 {
            return EventsFrom { history: Vec::new(), coming, told: 0 };
        }
        let (history, told) = self.inner.history.last(count, model);
        EventsFrom { history, coming, told }
    }
}

#[cfg(test)]
mod tests {
    use ebb_core::EventKind;
    use tokio::sync::broadcast::{self, Sender};

    use super::*;

    fn tell(sender: &Sender<Event>, seq: u64, model: &str, reason: &str) {
        let kind = EventKind::LoadFailed { reason: reason.to_owned() };
        sender.send(Event { seq, time_ms: 0, model: model.to_owned(), kind }).unwrap();
    }

    fn numbers(events: &[Arc<Event>]) -> Vec<u64> {
        events.iter().map(|event| event.seq).collect()
    }

    /// Nobody woke the book up: what was told just now is in it all the same.
    #[test]
    fn the_last_events_are_there_at_once() {
        let (sender, coming) = broadcast::channel(64);
        let history = History::new(coming);
        assert_eq!(history.last(9, None), (Vec::new(), 0));
        for seq in 1..=6 {
            tell(&sender, seq, if seq % 2 == 0 { "even" } else { "odd" }, "");
        }
        let (events, told) = history.last(2, None);
        assert_eq!((numbers(&events), told), (vec![5, 6], 6));
        let (events, told) = history.last(2, Some("odd"));
        assert_eq!((numbers(&events), told), (vec![3, 5], 6));
        assert_eq!(numbers(&history.last(usize::MAX, Some("odd")).0), [1, 3, 5]);
    }

    #[test]
    fn it_is_bounded_in_number_and_in_bytes() {
        let (sender, coming) = broadcast::channel(8_192);
        let history = History::new(coming);
        for seq in 1..=5_000 {
            tell(&sender, seq, "m", "");
        }
        let (events, _) = history.last(usize::MAX, None);
        assert_eq!((events.len(), events[0].seq), (KEPT, 3_001));
        let long = "x".repeat(KEPT_BYTES / 4);
        for seq in 5_001..=5_008 {
            tell(&sender, seq, "m", &long);
        }
        let (events, _) = history.last(usize::MAX, None);
        assert_eq!(numbers(&events), [5_006, 5_007, 5_008], "three of a quarter each, and what JSON adds");
        assert!(history.book().bytes <= KEPT_BYTES);
        tell(&sender, 5_009, "m", &"x".repeat(KEPT_BYTES * 2));
        assert_eq!(numbers(&history.last(usize::MAX, None).0), [5_009], "the last one is always there");
    }

    #[test]
    fn a_reader_that_was_too_slow_leaves_a_gap() {
        let (sender, coming) = broadcast::channel(2);
        let history = History::new(coming);
        for seq in 1..=5 {
            tell(&sender, seq, "m", "");
        }
        assert_eq!(numbers(&history.last(9, None).0), [4, 5]);
    }
}
