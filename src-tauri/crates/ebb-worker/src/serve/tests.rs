use std::{
    collections::BTreeMap,
    io::{PipeReader, PipeWriter, pipe},
    sync::mpsc::channel,
    thread::JoinHandle,
};

use bytes::Bytes;
use ebb_core::{
    Chunk, Code, Control, Job, JobKind, LoadOptions, ModelInfo, Outcome, Progress, Step, Target,
    fake::{FAIL, FakeRun, FakeSession},
};
use ebb_ipc::{Answer, Ask, Cause, Ended, Frame, check_hello, hello, write_frame};

use super::*;

/// The host's end of a worker on a thread.
struct Talk {
    to: Option<PipeWriter>,
    from: PipeReader,
    worker: Option<JoinHandle<Result<bool, Error>>>,
}

impl Talk {
    /// A greeted worker that was not told what to load.
    fn greeted<S: Session + 'static>(
        load: impl FnOnce(&LoadSpec, &mut dyn FnMut(&str)) -> Result<S, Failure> + Send + 'static,
    ) -> Self {
        let (reader, mut to) = pipe().unwrap();
        let (mut from, writer) = pipe().unwrap();
        let worker = thread::spawn(move || serve(load, reader, writer));
        greet(&mut from, &mut to).unwrap();
        Self { to: Some(to), from, worker: Some(worker) }
    }

    fn loaded() -> Self {
        let mut talk = Self::greeted(|spec, say| {
            say("pretending");
            Ok(FakeSession::new(&spec.alias))
        });
        talk.send(load(LoadOptions::default()));
        assert_eq!(talk.next().message, FromWorker::Loading { stage: "pretending".to_owned() });
        assert!(matches!(talk.next().message, FromWorker::Loaded { .. }));
        talk
    }

    fn send(&mut self, message: ToWorker) {
        write_frame(self.to.as_mut().unwrap(), &Frame::new(message)).unwrap();
    }

    fn embed(&mut self, id: u64, texts: &[&str], credit: u32) {
        self.send(ToWorker::Run { id, job: Box::new(job(texts)), credit });
    }

    fn next(&mut self) -> Frame<FromWorker> {
        read_frame(&mut self.from).unwrap().expect("the worker talks")
    }

    fn ask(&mut self, ask: Ask) -> Result<Answer, Failure> {
        self.send(ToWorker::Ask { id: 99, ask });
        match self.next().message {
            FromWorker::Answer { id: 99, answer } => answer,
            other => panic!("{other:?} instead of an answer"),
        }
    }

    /// Everything up to and with the next end of a job.
    fn until_ended(&mut self) -> (Vec<FromWorker>, Ended) {
        let mut before = Vec::new();
        loop {
            match self.next().message {
                FromWorker::Ended(ended) => return (before, *ended),
                other => before.push(other),
            }
        }
    }

    fn hang_up(mut self) -> Result<bool, Error> {
        self.to = None;
        self.worker.take().unwrap().join().unwrap()
    }
}

fn load(options: LoadOptions) -> ToWorker {
    ToWorker::Load(Box::new(LoadSpec {
        alias: "m".to_owned(),
        path: "m".into(),
        options,
        runtime_library: None,
        runtime_folders: Vec::new(),
    }))
}

fn job(texts: &[&str]) -> Job {
    Job::new(JobKind::Embed { texts: texts.iter().map(|text| (*text).to_owned()).collect() })
}

#[test]
fn an_answer_comes_before_its_shrink_and_its_end() {
    let mut talk = Talk::loaded();
    assert_eq!(talk.ask(Ask::ShrinkAfterNextRun { targets: None }).unwrap(), Answer::Armed { run: 1 });
    talk.embed(5, &["four", "sixsix"], 8);
    let (before, ended) = talk.until_ended();
    assert!(
        matches!(
            before.as_slice(),
            [FromWorker::Chunk { id: 5, .. }, FromWorker::Chunk { .. }, FromWorker::Done { id: 5, .. }]
        ),
        "{before:?}"
    );
    assert_eq!((ended.run, ended.outcome, ended.items, ended.sample.runs), (1, Outcome::Ok, 2, 1));
    let Some((Cause::AfterRun, Ok(report))) = ended.shrink else { panic!("{:?}", ended.shrink) };
    assert_eq!((report.freed_bytes, ended.sample.slack_bytes()), (6, 0));
    // Once: the next run keeps its slack.
    talk.embed(6, &["four"], 8);
    let (_, ended) = talk.until_ended();
    assert_eq!((ended.shrink, ended.sample.slack_bytes()), (None, 4));
    assert!(talk.hang_up().unwrap());
}

#[test]
fn the_shrink_key_holds_from_load_until_it_is_taken_away() {
    let mut talk = Talk::greeted(|spec, _| Ok(FakeSession::new(&spec.alias)));
    let key = ebb_core::options::SHRINK_KEY.to_owned();
    let runtime_options = BTreeMap::from([(key.clone(), "cpu:0;gpu:0".to_owned())]);
    talk.send(load(LoadOptions { runtime_options, ..LoadOptions::default() }));
    talk.next();
    for id in 1..3 {
        talk.embed(id, &["four"], 8);
        let (_, ended) = talk.until_ended();
        let Some((Cause::RuntimeOption, Ok(report))) = ended.shrink else { panic!("{:?}", ended.shrink) };
        assert_eq!((report.targets, report.dropped[0].target), (vec![Target::cpu(0)], Target::gpu(0)));
    }
    assert_eq!(
        talk.ask(Ask::SetRunOption { key, value: String::new() }).unwrap(),
        Answer::RunOptions(Vec::new())
    );
    talk.embed(3, &["four"], 8);
    assert_eq!(talk.until_ended().1.shrink, None);
}

/// A long job, a short one behind it. The first step waits until both are there: on a busy machine the long one may else be
/// done before the short one is read.
#[test]
fn jobs_take_turns() {
    let (open, gate) = channel::<()>();
    let mut talk = Talk::greeted(|spec, _| {
        Ok(Stepping(
            FakeSession::new(&spec.alias),
            move |session: &mut FakeSession, run: &mut _, chunks: &mut _| {
                // Once it was opened it stays open.
                let _open = gate.recv();
                session.step(run, chunks)
            },
        ))
    });
    talk.send(load(LoadOptions::default()));
    talk.next();
    talk.embed(1, &["a"; 2_000], 10_000);
    talk.embed(2, &["b"], 8);
    // The reading thread answers in order: both jobs lie in the inbox now.
    assert!(talk.ask(Ask::RunOptions).is_ok());
    drop(open);
    let (before, ended) = talk.until_ended();
    assert_eq!(ended.items, 1, "the short one ends first");
    assert!(before.iter().any(|message| matches!(message, FromWorker::Done { id: 2, .. })));
    assert_eq!(talk.until_ended().1.items, 2_000);
}

#[test]
fn a_slow_reader_holds_up_nobody() {
    let mut talk = Talk::loaded();
    talk.embed(1, &["a"; 5], 2);
    for _ in 0..2 {
        assert!(matches!(talk.next().message, FromWorker::Chunk { id: 1, .. }));
    }
    // It waits now; others are served, controls are answered, and a shrink is whole: nothing of it is in the arena (C11).
    talk.embed(2, &["longer"], 8);
    assert_eq!(talk.until_ended().1.items, 1);
    let Answer::Shrunk(report) = talk.ask(Ask::Shrink { targets: None }).unwrap() else { panic!() };
    assert_eq!(report.freed_bytes, 6);
    talk.send(ToWorker::Credit { id: 1, chunks: 10 });
    let (before, ended) = talk.until_ended();
    assert_eq!((before.len(), ended.items), (4, 5), "three chunks and the end");
}

#[test]
fn a_job_is_cancelled_between_steps() {
    let mut talk = Talk::loaded();
    talk.embed(1, &["a"; 5], 2);
    talk.send(ToWorker::Cancel { id: 1 });
    talk.send(ToWorker::Cancel { id: 77 });
    let (before, ended) = talk.until_ended();
    assert_eq!(ended.outcome, Outcome::Cancelled);
    assert!(
        matches!(before.last(), Some(FromWorker::Failed { id: 1, failure }) if failure.code == Code::Cancelled)
    );
    talk.embed(2, &["b"], 8);
    assert_eq!(talk.until_ended().1.run, 2);
}

#[test]
fn a_failed_job_costs_only_itself() {
    let mut talk = Talk::loaded();
    for texts in [&["ok", FAIL][..], &[]] {
        talk.embed(1, texts, 8);
        let (before, ended) = talk.until_ended();
        assert_eq!(ended.outcome, Outcome::Failed);
        assert!(matches!(before.last(), Some(FromWorker::Failed { id: 1, .. })));
    }
    talk.embed(2, &["b"], 8);
    assert_eq!(talk.until_ended().1.outcome, Outcome::Ok);
}

#[test]
fn a_host_that_hangs_up_ends_the_work() {
    let mut talk = Talk::loaded();
    talk.embed(1, &["a"; 50], 2);
    talk.next();
    assert!(talk.hang_up().unwrap());
}

#[test]
fn a_load_that_fails_or_panics_is_told() {
    for panics in [false, true] {
        let mut talk = Talk::greeted(move |_, _| {
            assert!(!panics, "out of luck");
            Err::<FakeSession, _>(Failure::new(Code::InvalidModel, "not a model"))
        });
        talk.send(load(LoadOptions::default()));
        let FromWorker::LoadFailed(failure) = talk.next().message else { panic!() };
        let want = if panics { (Code::Internal, "out of luck") } else { (Code::InvalidModel, "not a model") };
        assert!(failure.code == want.0 && failure.message.contains(want.1), "{failure:?}");
        assert!(matches!(talk.hang_up(), Err(Error::Load(_))));
    }
}

#[test]
fn what_is_out_of_turn_is_refused() {
    let mut talk = Talk::greeted(|spec, _| Ok(FakeSession::new(&spec.alias)));
    talk.embed(1, &["a"], 1);
    assert!(matches!(talk.hang_up(), Err(Error::OutOfTurn(_))));
    let mut talk = Talk::loaded();
    talk.send(load(LoadOptions::default()));
    assert!(matches!(talk.hang_up(), Err(Error::OutOfTurn("a second load"))));
}

#[test]
fn a_stranger_is_not_served() {
    let (reader, mut to) = pipe().unwrap();
    let (mut from, writer) = pipe().unwrap();
    std::io::Write::write_all(&mut to, b"GET / HTTP/1.1\r\n").unwrap();
    let never = |_: &LoadSpec, _: &mut dyn FnMut(&str)| -> Result<FakeSession, Failure> { panic!("loaded") };
    let refused = serve(never, reader, writer).unwrap_err();
    assert!(matches!(refused, Error::Host(ebb_ipc::Error::NotEbb)));
    let mut theirs = hello();
    std::io::Read::read_exact(&mut from, &mut theirs).unwrap();
    check_hello(theirs).unwrap();
}

/// A session whose steps are ours.
struct Stepping<F>(FakeSession, F);

impl<F> Session for Stepping<F>
where
    F: FnMut(&mut FakeSession, &mut FakeRun, &mut Vec<Chunk>) -> Result<Step, Failure> + Send,
{
    type Run = FakeRun;

    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn control(&self) -> Arc<dyn Control> {
        self.0.control()
    }

    fn begin(
        &mut self,
        job: Job,
        data: Bytes,
        options: &BTreeMap<String, String>,
    ) -> Result<FakeRun, Failure> {
        self.0.begin(job, data, options)
    }

    fn step(&mut self, run: &mut FakeRun, chunks: &mut Vec<Chunk>) -> Result<Step, Failure> {
        (self.1)(&mut self.0, run, chunks)
    }
}

#[test]
fn who_meets_the_cap_beside_others_is_told_so() {
    let mut talk = Talk::greeted(|spec, _| {
        Ok(Stepping(FakeSession::new(&spec.alias), |_: &mut FakeSession, _: &mut _, _: &mut _| {
            Err(Failure::new(Code::ArenaLimit, "the cap is met").hint("send a smaller request"))
        }))
    });
    talk.send(load(LoadOptions::default()));
    talk.next();
    let hint = |talk: &mut Talk, id| {
        talk.embed(id, &["a"], 8);
        match talk.until_ended().0.pop() {
            Some(FromWorker::Failed { failure, .. }) => failure.hint.unwrap(),
            other => panic!("{other:?} instead of a failure"),
        }
    };
    // In flight for as long as nothing of it may be sent.
    talk.embed(1, &["a"], 0);
    let beside = hint(&mut talk, 2);
    assert!(beside.starts_with("it ran beside 1 more: send it again when they are done"), "{beside}");
    talk.send(ToWorker::Cancel { id: 1 });
    talk.until_ended();
    assert_eq!(hint(&mut talk, 3), "send a smaller request");
}

#[test]
fn a_panic_in_a_step_fails_the_job_and_not_the_worker() {
    let mut talk = Talk::greeted(|spec, _| {
        Ok(Stepping(FakeSession::new(&spec.alias), |_: &mut FakeSession, _: &mut _, _: &mut _| {
            assert!(std::env::args().next().is_none(), "a fault of ours");
            Ok(Step::More(Progress::default()))
        }))
    });
    talk.send(load(LoadOptions::default()));
    talk.next();
    talk.embed(1, &["a"], 8);
    let (before, ended) = talk.until_ended();
    assert_eq!(ended.outcome, Outcome::Failed);
    assert!(
        matches!(before.last(), Some(FromWorker::Failed { failure, .. }) if failure.message.contains("a fault of ours"))
    );
    assert!(matches!(talk.ask(Ask::Sample), Ok(Answer::Sample { .. })));
}
