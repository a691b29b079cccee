//! Jobs in turns: each advances a step when it is its turn, so that a long one never holds up a short one.

use std::{
    collections::VecDeque,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use bytes::Bytes;
use ebb_core::{Code, Failure, Figures, Job, Outcome, Session, Step, Target};
use ebb_ipc::{Ended, FromWorker};

use crate::{
    inbox::{Inbox, Letter},
    ledger::Ledger,
    output::Output,
};

/// Progress is told this often at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// A job in flight.
struct Turn<R> {
    id: u64,
    run: R,
    began: Instant,
    told: Instant,
    /// Chunks that may still be sent; a step may give several at once, so it may fall below 0.
    credit: i64,
    shrink_after: Option<Vec<Target>>,
}

/// The thread that owns the session.
pub(crate) struct Turns<'a, S: Session, W> {
    session: S,
    ledger: &'a Ledger,
    output: &'a Output<W>,
    turns: VecDeque<Turn<S::Run>>,
}

impl<'a, S: Session, W: Write> Turns<'a, S, W> {
    pub(crate) fn new(session: S, ledger: &'a Ledger, output: &'a Output<W>) -> Self {
        Self { session, ledger, output, turns: VecDeque::new() }
    }

    /// Works until the inbox is closed. What is in flight then is dropped.
    pub(crate) fn work(mut self, inbox: &Inbox) {
        while let Some(letters) = inbox.take(self.nothing_to_do()) {
            for letter in letters {
                self.open(letter);
            }
            self.next_turn();
        }
    }

    fn nothing_to_do(&self) -> bool {
        self.turns.iter().all(|turn| turn.credit <= 0)
    }

    fn open(&mut self, letter: Letter) {
        match letter {
            Letter::Run { id, job, data, credit } => self.begin(id, job, data, credit),
            Letter::Credit { id, chunks } => {
                if let Some(turn) = self.turns.iter_mut().find(|turn| turn.id == id) {
                    turn.credit += i64::from(chunks);
                }
            }
            Letter::Cancel { id } => {
                if let Some(at) = self.turns.iter().position(|turn| turn.id == id)
                    && let Some(turn) = self.turns.remove(at)
                {
                    let cancelled = Failure::new(Code::Cancelled, "the request was cancelled");
                    self.end(turn.id, turn.began, turn.shrink_after, Err(cancelled), turn.run);
                }
            }
        }
    }

    fn begin(&mut self, id: u64, job: Job, data: Bytes, credit: u32) {
        let began = Instant::now();
        let options = self.ledger.options_of(&job);
        let prepared = Ledger::wanted_by(&job).and_then(|shrink_after| {
            let run = guarded(|| self.session.begin(job, data, &options))?;
            Ok((run, shrink_after))
        });
        match prepared {
            Ok((run, shrink_after)) => {
                let credit = i64::from(credit);
                self.turns.push_back(Turn { id, run, began, told: began, credit, shrink_after });
            }
            Err(failure) => self.end(id, began, None, Err(failure), ()),
        }
    }

    /// A step for the job that has waited longest and may send.
    fn next_turn(&mut self) {
        let Some(at) = self.turns.iter().position(|turn| turn.credit > 0) else { return };
        let Some(mut turn) = self.turns.remove(at) else { return };
        let mut chunks = Vec::new();
        let step = guarded(|| self.session.step(&mut turn.run, &mut chunks));
        for chunk in chunks {
            turn.credit -= 1;
            self.output.send_with(FromWorker::Chunk { id: turn.id, body: chunk.body }, chunk.data);
        }
        match step {
            Ok(Step::More(progress)) => {
                if turn.told.elapsed() >= PROGRESS_EVERY {
                    turn.told = Instant::now();
                    self.output.send(FromWorker::Progress { id: turn.id, progress });
                }
                self.turns.push_back(turn);
            }
            Ok(Step::Done(figures)) => {
                self.end(turn.id, turn.began, turn.shrink_after, Ok(figures), turn.run)
            }
            Err(failure) => self.end(turn.id, turn.began, turn.shrink_after, Err(failure), turn.run),
        }
    }

    /// What the job held is dropped, its answer goes out, then memory is given back, then it is told.
    fn end<R>(
        &self,
        id: u64,
        began: Instant,
        shrink_after: Option<Vec<Target>>,
        result: Result<Figures, Failure>,
        run: R,
    ) {
        drop(run);
        let run = self.ledger.count();
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (outcome, items, cap_retries) = match &result {
            Ok(figures) => (Outcome::Ok, figures.items(), figures.cap_retries()),
            Err(failure) if failure.code == Code::Cancelled => (Outcome::Cancelled, 0, 0),
            Err(_) => (Outcome::Failed, 0, 0),
        };
        self.output.send(match result {
            Ok(figures) => FromWorker::Done { id, figures },
            Err(failure) => FromWorker::Failed { id, failure },
        });
        let shrink = self.ledger.shrink_at_end(shrink_after);
        match self.ledger.sample() {
            Ok(sample) => {
                let ended = Ended { run, outcome, took_us, items, cap_retries, sample, shrink };
                self.output.send(FromWorker::Ended(Box::new(ended)));
            }
            Err(failure) => tracing::warn!(%failure, "the model's memory cannot be measured"),
        }
    }
}

/// A panic in a session fails the job, not the model.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let said = said.unwrap_or_else(|| "no message".to_owned());
        Err(Failure::new(Code::Internal, format!("the worker failed: {said}"))
            .hint("this is a fault of Ebb; its log has more: `ebb server logs`"))
    })
}
