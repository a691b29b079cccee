//! Jobs in turns: each advances a step when it is its turn, so that a long one never holds up a short one.

use std::{
    collections::VecDeque,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use bytes::Bytes;
use ebb_core::{Chunk, Code, Failure, Figures, Job, Outcome, Progress, Session, Step};
use ebb_ipc::{Ended, FromWorker};

use crate::{
    inbox::{Inbox, Letter},
    ledger::{Ledger, OwnShrink},
    output::Output,
};

/// Progress is told this often at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// A job in flight.
struct Turn<R> {
    id: u64,
    run: R,
    span: tracing::Span,
    began: Instant,
    told: Instant,
    /// Chunks that may still be sent; a step may give several at once, so it may fall below 0.
    credit: i64,
    own_shrink: OwnShrink,
}

/// The thread that owns the session.
pub(crate) struct Turns<'a, S: Session, W: Write> {
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
                    self.end(turn.id, turn.began, turn.own_shrink, Err(cancelled), turn.run);
                }
            }
        }
    }

    fn begin(&mut self, id: u64, job: Job, data: Bytes, credit: u32) {
        let began = Instant::now();
        let options = self.ledger.options_of(&job);
        let span = tracing::info_span!("run", request = id);
        let prepared = OwnShrink::of(&job).and_then(|own_shrink| {
            let run = span.in_scope(|| guarded(|| self.session.begin(job, data, &options)))?;
            Ok((run, own_shrink))
        });
        match prepared {
            Ok((run, own_shrink)) => {
                let credit = i64::from(credit);
                self.turns.push_back(Turn { id, run, span, began, told: began, credit, own_shrink });
            }
            Err(failure) => {
                let failure = self.beside_others(failure);
                self.end(id, began, OwnShrink::default(), Err(failure), ());
            }
        }
    }

    /// A step for the job that has waited longest and may send.
    fn next_turn(&mut self) {
        let Some(at) = self.turns.iter().position(|turn| turn.credit > 0) else { return };
        let Some(mut turn) = self.turns.remove(at) else { return };
        let mut chunks = Vec::new();
        let step = turn.span.in_scope(|| guarded(|| self.session.step(&mut turn.run, &mut chunks)));
        match self.put_chunks(&mut turn, chunks).and(step) {
            Ok(Step::More(progress)) => {
                self.tell_progress(&mut turn, progress);
                self.turns.push_back(turn);
            }
            Ok(Step::Done(figures)) => {
                self.end(turn.id, turn.began, turn.own_shrink, Ok(figures), turn.run);
            }
            Err(failure) => {
                let failure = self.beside_others(failure);
                self.end(turn.id, turn.began, turn.own_shrink, Err(failure), turn.run);
            }
        }
    }

    /// What a cap leaves may be little because others hold the rest: then the request need be no smaller, only later.
    fn beside_others(&self, failure: Failure) -> Failure {
        match self.turns.len() {
            others @ 1.. if failure.code == Code::ArenaLimit => failure.hint(format!(
                "it ran beside {others} more: send it again when they are done, send fewer at once, or load the model \
                 with a higher cap"
            )),
            _ => failure,
        }
    }

    fn put_chunks(&self, turn: &mut Turn<S::Run>, chunks: Vec<Chunk>) -> Result<(), Failure> {
        for Chunk { body, data } in chunks {
            turn.credit -= 1;
            self.output.put(FromWorker::Chunk { id: turn.id, body }, data)?;
        }
        Ok(())
    }

    fn tell_progress(&self, turn: &mut Turn<S::Run>, progress: Progress) {
        if turn.told.elapsed() >= PROGRESS_EVERY {
            turn.told = Instant::now();
            self.output.send(FromWorker::Progress { id: turn.id, progress });
        } else {
            self.output.flush();
        }
    }

    /// What the job held is dropped, its answer goes out, then memory is given back, then it is told.
    fn end<R>(
        &self,
        id: u64,
        began: Instant,
        own_shrink: OwnShrink,
        result: Result<Figures, Failure>,
        run: R,
    ) {
        drop(run);
        let (run, due) = self.ledger.close_run(own_shrink);
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
        let shrink = due.map(|due| self.ledger.shrink(due));
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
