//! What the worker keeps of its model beside the session: the count of runs, the run options, the armed shrink.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use ebb_core::{
    Control, Failure, Job, Sample, ShrinkReport, Target,
    options::{OptionLine, SHRINK_KEY},
};
use ebb_ipc::{Answer, Ask, Cause};

/// Both threads' view of the model.
pub(crate) struct Ledger {
    alias: String,
    control: Arc<dyn Control>,
    loaded: Instant,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    runs: u64,
    options: BTreeMap<String, OptionLine>,
    /// One-shot: shrink these at the end of the next run to end; empty: every arena.
    armed: Option<Vec<Target>>,
}

/// What a job itself says of shrinking at its end.
#[derive(Debug, Default)]
pub(crate) struct OwnShrink {
    asked: Option<Vec<Target>>,
    /// What its own run options say in place of the model's; an inner `None`: not for this job.
    by_option: Option<Option<Vec<Target>>>,
}

impl OwnShrink {
    /// # Errors
    /// Where the shrink key among the job's run options is malformed.
    pub(crate) fn of(job: &Job) -> Result<Self, Failure> {
        let by_option = match job.run_options.get(SHRINK_KEY) {
            None => None,
            Some(value) if value.trim().is_empty() => Some(None),
            Some(value) => Some(Some(Target::parse_list(value)?)),
        };
        Ok(Self { asked: job.shrink_after.clone(), by_option })
    }
}

/// What is to be shrunk at the end of a run; no target: every arena.
#[derive(Debug)]
pub(crate) struct Due {
    cause: Cause,
    targets: Vec<Target>,
}

impl Ledger {
    /// Opens the book with the run options that the model was loaded with.
    ///
    /// # Errors
    /// Where one of them is malformed.
    pub(crate) fn new(
        alias: String,
        control: Arc<dyn Control>,
        options: &BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let ledger = Self { alias, control, loaded: Instant::now(), book: Mutex::default() };
        for (key, value) in options {
            ledger.set_option(key, value)?;
        }
        Ok(ledger)
    }

    /// What the model holds now.
    pub(crate) fn sample(&self) -> Result<Sample, Failure> {
        let at_ms = u64::try_from(self.loaded.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Sample::new(&self.alias, at_ms, self.book().runs, self.control.memory()?))
    }

    /// Answers a control.
    pub(crate) fn answer(&self, ask: Ask) -> Result<Answer, Failure> {
        match ask {
            Ask::Sample => {
                let sample = self.sample()?;
                let book = self.book();
                let shrink_after_run = book.armed.as_ref().map(|_| book.runs + 1);
                Ok(Answer::Sample { sample, shrink_after_run })
            }
            Ask::Shrink { targets } => self.control.shrink(targets.as_deref()).map(Answer::Shrunk),
            Ask::ShrinkSlack { targets } => self.control.shrink_slack(targets.as_deref()).map(Answer::Shrunk),
            Ask::ShrinkAfterNextRun { targets } => {
                let mut book = self.book();
                let armed = book.armed.take();
                book.armed = Some(union(armed, targets.unwrap_or_default()));
                Ok(Answer::Armed { run: book.runs + 1 })
            }
            Ask::SetRunOption { key, value } => {
                self.set_option(&key, &value)?;
                Ok(Answer::RunOptions(self.options()))
            }
            Ask::RunOptions => Ok(Answer::RunOptions(self.options())),
            Ask::CountTokens { texts } => Ok(Answer::Tokens(self.control.count_tokens(&texts)?)),
        }
    }

    /// Run options of a job: the model's with the job's own over them. The shrink key is not among them: it holds for whole
    /// requests, and is applied by [`Ledger::close_run`].
    pub(crate) fn options_of(&self, job: &Job) -> BTreeMap<String, String> {
        let mut options: BTreeMap<_, _> =
            self.book().options.iter().map(|(key, line)| (key.clone(), line.requested.clone())).collect();
        options.extend(job.run_options.clone());
        options.retain(|key, value| key != SHRINK_KEY && !value.is_empty());
        options
    }

    /// Closes a run: its number, and what is to be shrunk at its end, all in one: what was armed, what the job asked for,
    /// what the run option says. Before the answer goes out, since whoever has read it may arm the next run.
    pub(crate) fn close_run(&self, own: OwnShrink) -> (u64, Option<Due>) {
        let mut book = self.book();
        book.runs += 1;
        let run = book.runs;
        let armed = book.armed.take();
        let of_model =
            || book.options.get(SHRINK_KEY).and_then(|line| Target::parse_list(&line.requested).ok());
        let by_option = own.by_option.unwrap_or_else(of_model);
        let causes =
            [(Cause::AfterRun, armed), (Cause::Request, own.asked), (Cause::RuntimeOption, by_option)];
        let due = causes.into_iter().filter_map(|(cause, targets)| Some((cause, targets?)));
        let due = due.reduce(|(first, all), (_, more)| (first, union(Some(all), more)));
        (run, due.map(|(cause, targets)| Due { cause, targets }))
    }

    /// Shrinks what is due.
    pub(crate) fn shrink(&self, due: Due) -> (Cause, Result<ShrinkReport, Failure>) {
        let targets = (!due.targets.is_empty()).then_some(due.targets);
        let targets = targets.as_deref();
        let report = match due.cause {
            Cause::AfterRun | Cause::Request => self.control.shrink(targets),
            // A standing rule: see `Control::shrink_slack`.
            Cause::RuntimeOption => self.control.shrink_slack(targets),
        };
        (due.cause, report)
    }

    fn set_option(&self, key: &str, value: &str) -> Result<(), Failure> {
        if value.is_empty() {
            self.book().options.remove(key);
            return Ok(());
        }
        let line = self.control.judge_run_option(key, value)?;
        if let Some(note) = &line.note {
            tracing::info!(model = self.alias, key, value, note, "run option");
        }
        self.book().options.insert(key.to_owned(), line);
        Ok(())
    }

    fn options(&self) -> Vec<OptionLine> {
        self.book().options.values().cloned().collect()
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Both lists' targets; an empty list means every arena, and so wins.
fn union(one: Option<Vec<Target>>, other: Vec<Target>) -> Vec<Target> {
    let Some(mut all) = one else { return other };
    if all.is_empty() || other.is_empty() {
        return Vec::new();
    }
    all.extend(other);
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use ebb_core::{JobKind, Session, fake::FakeSession};

    use super::*;

    fn ledger(options: &[(&str, &str)]) -> Result<Ledger, Failure> {
        let options = options.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Ledger::new("m".to_owned(), FakeSession::new("m").control(), &options)
    }

    #[test]
    fn every_arena_wins_over_some() {
        let (cpu, gpu) = (Target::cpu(0), Target::gpu(0));
        assert_eq!(union(None, vec![gpu]), [gpu]);
        assert_eq!(union(Some(vec![gpu]), vec![cpu, gpu]), [cpu, gpu]);
        assert_eq!(union(Some(vec![]), vec![cpu]), []);
        assert_eq!(union(Some(vec![cpu]), vec![]), []);
    }

    /// Ends a run of this job: what was shrunk.
    fn end(ledger: &Ledger, job: &Job) -> Option<(Cause, ShrinkReport)> {
        let (_, due) = ledger.close_run(OwnShrink::of(job).unwrap());
        let (cause, report) = ledger.shrink(due?);
        Some((cause, report.unwrap()))
    }

    fn job() -> Job {
        Job::new(JobKind::Embed { texts: Vec::new() })
    }

    #[test]
    fn an_armed_shrink_fires_once_and_is_named_first() {
        let ledger = ledger(&[]).unwrap();
        assert_eq!(end(&ledger, &job()), None);
        let arm = || ledger.answer(Ask::ShrinkAfterNextRun { targets: Some(vec![Target::cpu(0)]) });
        assert_eq!(arm().unwrap(), Answer::Armed { run: 2 });
        let asks = Job { shrink_after: Some(vec![Target::gpu(0)]), ..job() };
        let (cause, report) = end(&ledger, &asks).unwrap();
        assert_eq!((cause, report.targets, report.dropped.len()), (Cause::AfterRun, vec![Target::cpu(0)], 1));
        assert_eq!(end(&ledger, &job()), None);
    }

    #[test]
    fn what_is_armed_while_an_answer_is_read_is_for_the_next_run() {
        let ledger = ledger(&[]).unwrap();
        let (run, due) = ledger.close_run(OwnShrink::default());
        let armed = ledger.answer(Ask::ShrinkAfterNextRun { targets: None }).unwrap();
        assert!(due.is_none());
        assert_eq!((run, armed), (1, Answer::Armed { run: 2 }));
        assert!(end(&ledger, &job()).is_some());
    }

    #[test]
    fn the_shrink_key_holds_for_whole_requests_and_goes_with_an_empty_value() {
        let ledger = ledger(&[(SHRINK_KEY, "cpu:0;gpu:0"), ("gpu_graph_id", "3")]).unwrap();
        let with = |value: &str| Job {
            run_options: [("gpu_graph_id".into(), "4".into()), (SHRINK_KEY.into(), value.into())].into(),
            ..job()
        };
        assert_eq!(ledger.options_of(&with("cpu:0")), [("gpu_graph_id".into(), "4".into())].into());
        let shrunk = |job: &Job| end(&ledger, job).map(|(cause, report)| (cause, report.dropped.len()));
        assert_eq!(shrunk(&job()), Some((Cause::RuntimeOption, 1)));
        assert_eq!(shrunk(&with("cpu:0")), Some((Cause::RuntimeOption, 0)), "a job's own value wins");
        assert_eq!(shrunk(&with("")), None, "off for one job");
        ledger.answer(Ask::SetRunOption { key: SHRINK_KEY.into(), value: String::new() }).unwrap();
        assert_eq!(shrunk(&job()), None);
    }

    #[test]
    fn a_malformed_target_is_refused_at_set_time() {
        assert_eq!(ledger(&[(SHRINK_KEY, "disk:0")]).err().unwrap().code, ebb_core::Code::InvalidTarget);
        let ledger = ledger(&[]).unwrap();
        let set = ledger.answer(Ask::SetRunOption { key: SHRINK_KEY.into(), value: "cpu0".into() });
        assert_eq!(set.unwrap_err().code, ebb_core::Code::InvalidTarget);
    }
}
