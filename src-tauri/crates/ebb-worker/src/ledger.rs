//! What the worker keeps of its model beside the session: the count of runs, the run options, the armed shrink.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use ebb_core::{
    Control, Failure, Job, Sample, Target,
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
            Ask::Sample => self.sample().map(Answer::Sample),
            Ask::Shrink { targets } => self.control.shrink(targets.as_deref()).map(Answer::Shrunk),
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
        }
    }

    /// Run options of a job: the model's with the job's own over them. The shrink key is not among them: it holds for whole
    /// requests, and is applied by [`Ledger::shrink_at_end`].
    pub(crate) fn options_of(&self, job: &Job) -> BTreeMap<String, String> {
        let mut options: BTreeMap<_, _> =
            self.book().options.iter().map(|(key, line)| (key.clone(), line.requested.clone())).collect();
        options.extend(job.run_options.clone());
        options.retain(|key, value| key != SHRINK_KEY && !value.is_empty());
        options
    }

    /// Targets that a job itself wants shrunk at its end: asked for as such, or by the shrink key among its run options.
    ///
    /// # Errors
    /// Where the key's value is malformed.
    pub(crate) fn wanted_by(job: &Job) -> Result<Option<Vec<Target>>, Failure> {
        let by_key = match job.run_options.get(SHRINK_KEY) {
            Some(value) if !value.trim().is_empty() => Some(Target::parse_list(value)?),
            _ => None,
        };
        Ok(match (&job.shrink_after, by_key) {
            (Some(asked), Some(by_key)) => Some(union(Some(asked.clone()), by_key)),
            (Some(asked), None) => Some(asked.clone()),
            (None, by_key) => by_key,
        })
    }

    /// Counts a run that ended, and says its number.
    pub(crate) fn count(&self) -> u64 {
        let mut book = self.book();
        book.runs += 1;
        book.runs
    }

    /// Shrinks what is to be shrunk at the end of a run, all in one: what was armed, what the job asked for, what the run
    /// option says.
    pub(crate) fn shrink_at_end(
        &self,
        by_job: Option<Vec<Target>>,
    ) -> Option<(Cause, Result<ebb_core::ShrinkReport, Failure>)> {
        let mut book = self.book();
        let armed = book.armed.take();
        let by_option =
            book.options.get(SHRINK_KEY).and_then(|line| Target::parse_list(&line.requested).ok());
        drop(book);
        let causes = [(Cause::AfterRun, armed), (Cause::Request, by_job), (Cause::RuntimeOption, by_option)];
        let mut wanted: Option<(Cause, Vec<Target>)> = None;
        for (cause, targets) in causes {
            let Some(targets) = targets else { continue };
            wanted = Some(match wanted {
                Some((first, before)) => (first, union(Some(before), targets)),
                None => (cause, targets),
            });
        }
        let (cause, targets) = wanted?;
        let targets = (!targets.is_empty()).then_some(targets);
        Some((cause, self.control.shrink(targets.as_deref())))
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

    #[test]
    fn an_armed_shrink_fires_once_and_is_named_first() {
        let ledger = ledger(&[]).unwrap();
        assert!(ledger.shrink_at_end(None).is_none());
        let arm = || ledger.answer(Ask::ShrinkAfterNextRun { targets: Some(vec![Target::cpu(0)]) });
        assert_eq!(arm().unwrap(), Answer::Armed { run: 1 });
        let (cause, report) = ledger.shrink_at_end(Some(vec![Target::gpu(0)])).unwrap();
        let report = report.unwrap();
        assert_eq!((cause, report.targets, report.dropped.len()), (Cause::AfterRun, vec![Target::cpu(0)], 1));
        assert!(ledger.shrink_at_end(None).is_none());
    }

    #[test]
    fn the_shrink_key_holds_for_whole_requests_and_goes_with_an_empty_value() {
        let ledger = ledger(&[(SHRINK_KEY, "cpu:0;gpu:0"), ("gpu_graph_id", "3")]).unwrap();
        let mut job = Job::new(JobKind::Embed { texts: Vec::new() });
        job.run_options = [("gpu_graph_id".into(), "4".into()), (SHRINK_KEY.into(), "cpu:0".into())].into();
        assert_eq!(ledger.options_of(&job), [("gpu_graph_id".into(), "4".into())].into());
        assert_eq!(Ledger::wanted_by(&job).unwrap(), Some(vec![Target::cpu(0)]));
        assert!(matches!(ledger.shrink_at_end(None), Some((Cause::RuntimeOption, Ok(_)))));
        ledger.answer(Ask::SetRunOption { key: SHRINK_KEY.into(), value: String::new() }).unwrap();
        assert!(ledger.shrink_at_end(None).is_none());
    }

    #[test]
    fn a_malformed_target_is_refused_at_set_time() {
        assert_eq!(ledger(&[(SHRINK_KEY, "disk:0")]).err().unwrap().code, ebb_core::Code::InvalidTarget);
        let ledger = ledger(&[]).unwrap();
        let set = ledger.answer(Ask::SetRunOption { key: SHRINK_KEY.into(), value: "cpu0".into() });
        assert_eq!(set.unwrap_err().code, ebb_core::Code::InvalidTarget);
    }
}
