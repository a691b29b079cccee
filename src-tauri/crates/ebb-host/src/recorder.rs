//! What is known of a model's memory over time.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use ebb_core::{EventKind, Sample, ShrinkReport, operations::Stats};

/// An arena this close to its cap is told of: a tenth of it is left.
const NEAR_CAP_TENTHS: u64 = 9;

/// The samples of a model, and what was counted.
#[derive(Debug)]
pub(crate) struct Recorder {
    kept: usize,
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    after_load: Sample,
    /// At the rate that was asked for.
    samples: VecDeque<Sample>,
    /// The last of all, those after a run included.
    newest: Sample,
    cap_retries: u64,
    shrinks: u64,
    freed_bytes: u64,
}

impl Recorder {
    pub(crate) fn new(kept: usize, after_load: Sample) -> Self {
        Self { kept, book: Mutex::new(Book::new(after_load)) }
    }

    /// Begins anew: the model was loaded again. The samples before stay.
    pub(crate) fn reset(&self, after_load: Sample) {
        let mut book = self.book();
        let mut samples = std::mem::take(&mut book.samples);
        samples.push_back(after_load.clone());
        *book = Book { samples, ..Book::new(after_load) };
    }

    /// Keeps a sample, and says what it shows against the one before.
    pub(crate) fn keep(&self, sample: Sample) -> Vec<EventKind> {
        let mut book = self.book();
        book.samples.push_back(sample.clone());
        while book.samples.len() > self.kept {
            book.samples.pop_front();
        }
        book.note(sample)
    }

    /// Takes note of a sample that came besides, and says what it shows against the one before.
    pub(crate) fn note(&self, sample: Sample) -> Vec<EventKind> {
        self.book().note(sample)
    }

    pub(crate) fn count_shrink(&self, report: &ShrinkReport) {
        let mut book = self.book();
        book.shrinks += 1;
        book.freed_bytes += report.freed_bytes;
    }

    pub(crate) fn count_cap_retries(&self, retries: u32) {
        self.book().cap_retries += u64::from(retries);
    }

    /// The last samples, oldest first.
    pub(crate) fn history(&self, count: usize) -> Vec<Sample> {
        let book = self.book();
        let skip = book.samples.len().saturating_sub(count);
        book.samples.iter().skip(skip).cloned().collect()
    }

    /// The newest sample.
    pub(crate) fn last(&self) -> Sample {
        self.book().newest.clone()
    }

    /// All figures, around this newest sample.
    pub(crate) fn stats(&self, now: Sample, shrink_after_run: Option<u64>, queued: u32) -> Stats {
        let book = self.book();
        Stats {
            now,
            after_load: book.after_load.clone(),
            history: Vec::new(),
            queued,
            unloads_in_ms: None,
            shrink_after_run,
            cap_retries: book.cap_retries,
            shrinks: book.shrinks,
            freed_bytes: book.freed_bytes,
        }
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn new(after_load: Sample) -> Self {
        Self {
            samples: VecDeque::from([after_load.clone()]),
            newest: after_load.clone(),
            after_load,
            cap_retries: 0,
            shrinks: 0,
            freed_bytes: 0,
        }
    }

    fn note(&mut self, sample: Sample) -> Vec<EventKind> {
        let events = changes(&self.newest, &sample);
        self.newest = sample;
        events
    }
}

/// Arenas that grew, or came near their cap.
fn changes(before: &Sample, now: &Sample) -> Vec<EventKind> {
    let mut events = Vec::new();
    for arena in &now.arenas {
        let Some(earlier) = before.arenas.iter().find(|earlier| earlier.device == arena.device) else {
            continue;
        };
        if arena.reserved_bytes > earlier.reserved_bytes {
            events.push(EventKind::Grown {
                device: arena.device,
                before_bytes: earlier.reserved_bytes,
                after_bytes: arena.reserved_bytes,
            });
        }
        if let Some(limit_bytes) = arena.limit_bytes {
            let near = |bytes: u64| bytes >= limit_bytes / 10 * NEAR_CAP_TENTHS;
            if near(arena.reserved_bytes) && !near(earlier.reserved_bytes) {
                let reserved_bytes = arena.reserved_bytes;
                events.push(EventKind::NearCap { device: arena.device, reserved_bytes, limit_bytes });
            }
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use ebb_core::{ArenaSample, Memory, Target};

    use super::*;

    fn sample(reserved_bytes: u64) -> Sample {
        let arena = ArenaSample {
            device: Target::cpu(0),
            in_use_bytes: 10,
            reserved_bytes,
            peak_in_use_bytes: 10,
            limit_bytes: Some(1000),
            regions: 1,
            shrinkages: 0,
        };
        Sample::new("m", 0, 0, Memory { arenas: vec![arena], ..Memory::default() })
    }

    #[test]
    fn growth_and_nearness_are_told_once() {
        let recorder = Recorder::new(3, sample(100));
        let told = |bytes| {
            let names = recorder.keep(sample(bytes)).into_iter().map(|event| match event {
                EventKind::Grown { .. } => "grown",
                EventKind::NearCap { .. } => "near",
                other => panic!("{other:?}"),
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(told(100), [""; 0]);
        assert_eq!(told(200), ["grown"]);
        assert_eq!(told(950), ["grown", "near"]);
        assert_eq!(told(960), ["grown"]);
        assert_eq!(told(100), [""; 0]);
        assert_eq!(told(900), ["grown", "near"]);
        assert_eq!(recorder.history(10).len(), 3, "only so many are kept");
        assert_eq!(recorder.history(1), [sample(900)]);
        assert_eq!(recorder.note(sample(901)).len(), 1, "what comes besides is compared too");
        assert_eq!((recorder.last(), recorder.history(1)), (sample(901), vec![sample(900)]));
    }
}
