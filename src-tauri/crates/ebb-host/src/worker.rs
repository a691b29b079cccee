//! A worker as the host talks to it: many jobs and controls at once over one pair of pipes.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use ebb_core::{Chunk, Failure, Job, LoadSpec, ModelInfo, Sample};
use ebb_ipc::{
    Answer, Ask, Ended, Frame, FromWorker, HELLO_LEN, ToWorker, check_hello, encode, hello, read_frame_async,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{Notify, OwnedSemaphorePermit, mpsc, oneshot, watch},
};

use crate::{
    Error, Launch, Link, Process,
    outbox::Outbox,
    running::{RunItem, Running, WINDOW},
};

/// What a worker reports of itself.
#[derive(Debug)]
pub(crate) enum Report {
    /// A job ended.
    Ended(Box<Ended>),
    /// The worker is gone.
    Gone(Gone),
}

/// How a worker ended.
#[derive(Debug, Clone)]
pub(crate) struct Gone {
    /// In words.
    pub(crate) reason: String,
    /// Whether the process was seen to be gone.
    pub(crate) seen: bool,
}

/// A worker that has loaded its model.
#[derive(Debug)]
pub(crate) struct Worker {
    sender: Sender,
    routes: Arc<Routes>,
    last_id: AtomicU64,
    gone: watch::Receiver<Option<Gone>>,
    kill: Arc<Notify>,
    grace: Duration,
    pid: Option<u32>,
}

/// What starting a worker gives.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) worker: Worker,
    pub(crate) info: ModelInfo,
    pub(crate) sample: Sample,
    pub(crate) reports: mpsc::UnboundedReceiver<Report>,
}

impl Worker {
    /// Starts a worker and waits until its model is loaded. Dropping the future ends the worker.
    ///
    /// # Errors
    /// Where it does not start, does not speak the protocol, ends meanwhile, or says why it cannot load.
    pub(crate) async fn start(
        launch: &dyn Launch,
        spec: &LoadSpec,
        grace: Duration,
    ) -> Result<Started, Failure> {
        let Link { reader, mut writer, process } = launch.launch(&spec.alias)?;
        let mut reader = BufReader::with_capacity(64 << 10, reader);
        let (info, sample) = match load(&mut reader, &mut writer, spec).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(failure)) => {
                drop(writer);
                end(process, grace).await;
                return Err(failure);
            }
            Err(ebb_ipc::Error::Pipe(_)) => {
                drop(writer);
                let reason = end(process, grace).await.reason;
                return Err(Error::Ended { model: spec.alias.clone(), reason }.into());
            }
            Err(source) => {
                drop(writer);
                end(process, Duration::ZERO).await;
                return Err(Error::Talk { model: spec.alias.clone(), source }.into());
            }
        };
        let pid = process.as_ref().and_then(Process::id);
        tracing::debug!(model = spec.alias, pid, "the worker serves");
        let (report, reports) = mpsc::unbounded_channel();
        let (tell_gone, gone) = watch::channel(None);
        let routes =
            Arc::new(Routes { model: spec.alias.clone(), table: Mutex::default(), emptied: Notify::new() });
        let kill = Arc::new(Notify::new());
        let listening = Listening { routes: Arc::clone(&routes), report, kill: Arc::clone(&kill), grace };
        tokio::spawn(async move {
            let gone = listening.listen(reader, process).await;
            tell_gone.send_replace(Some(gone));
        });
        let sender = Sender(Outbox::new(writer));
        let worker = Self { sender, routes, last_id: AtomicU64::new(0), gone, kill, grace, pid };
        Ok(Started { worker, info, sample, reports })
    }

    /// Gives the worker a job, which holds `place` until it ends.
    ///
    /// # Errors
    /// Where the worker is gone, or no frame holds the job. The job was not begun then.
    pub(crate) fn run(&self, job: Job, data: Bytes, place: OwnedSemaphorePermit) -> Result<Running, Failure> {
        let id = self.next_id();
        let message = ToWorker::Run { id, job: Box::new(job), credit: WINDOW };
        let encoded = Encoded::new(&Frame { message, tail: data })?;
        let (items, receiver) = mpsc::unbounded_channel();
        self.routes.table().alive()?.runs.insert(id, Route { items, _place: place });
        tracing::debug!(model = self.routes.model, request = id, "run");
        if !self.sender.send(encoded) {
            let mut table = self.routes.table();
            table.runs.remove(&id);
            table.hung_up = true;
            let reason = "it takes no more requests".to_owned();
            return Err(Error::Ended { model: self.routes.model.clone(), reason }.into());
        }
        Ok(Running { id, items: receiver, sender: self.sender.clone(), taken: 0, over: false })
    }

    /// Waits until no job is with the worker.
    pub(crate) async fn idle(&self) {
        loop {
            let emptied = self.routes.emptied.notified();
            if self.routes.table().runs.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// Asks a control.
    ///
    /// # Errors
    /// The worker's own; where it is gone.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Answer, Failure> {
        let id = self.next_id();
        let encoded = Encoded::new(&Frame::new(ToWorker::Ask { id, ask }))?;
        let (answer, answered) = oneshot::channel();
        self.routes.table().alive()?.asks.insert(id, answer);
        let _got = self.sender.send(encoded);
        // The listener answers all that is open before it ends.
        answered.await.unwrap_or_else(|_| Err(Error::NotLoaded(self.routes.model.clone()).into()))
    }

    /// Hangs up, so that the worker ends; kills it if it takes too long. Says how it ended. What is open fails with `why`.
    pub(crate) async fn close(&self, why: Failure) -> Gone {
        self.routes.table().closed = Some(why);
        self.sender.0.close();
        let mut gone = self.gone.clone();
        if tokio::time::timeout(self.grace, gone.wait_for(Option::is_some)).await.is_err() {
            self.kill.notify_one();
        }
        let lost = || Gone { reason: "its end was not seen".to_owned(), seen: false };
        gone.wait_for(Option::is_some).await.ok().and_then(|gone| gone.clone()).unwrap_or_else(lost)
    }

    /// Its process; `None` once that has ended, or where it is none.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid.filter(|_| !self.is_gone())
    }

    /// Whether it has ended, and all of its memory is back.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.borrow().is_some()
    }

    /// Whether it hears or says nothing any more: it ends, and what comes of that is told soon.
    pub(crate) fn has_hung_up(&self) -> bool {
        self.routes.table().hung_up
    }

    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.sender.0.close();
    }
}

/// Tells a worker things.
#[derive(Debug, Clone)]
pub(crate) struct Sender(Arc<Outbox>);

/// A frame as it is sent: prefix and header, then its tail where that is large.
struct Encoded(Bytes, Option<Bytes>);

impl Encoded {
    fn new(frame: &Frame<ToWorker>) -> Result<Self, Failure> {
        let (bytes, tail) = encode(frame).map_err(|source| Error::Request { source })?;
        Ok(Self(bytes.into(), tail.cloned()))
    }
}

impl Sender {
    /// Says whether the worker can have got it.
    fn send(&self, Encoded(bytes, tail): Encoded) -> bool {
        self.0.send([bytes].into_iter().chain(tail))
    }

    pub(crate) fn credit(&self, id: u64, chunks: u32) {
        self.tell(ToWorker::Credit { id, chunks });
    }

    pub(crate) fn cancel(&self, id: u64) {
        self.tell(ToWorker::Cancel { id });
    }

    fn tell(&self, message: ToWorker) {
        match Encoded::new(&Frame::new(message)) {
            // A worker that is gone needs to be told nothing.
            Ok(encoded) => drop(self.send(encoded)),
            Err(failure) => tracing::error!(%failure, "a message to the worker is lost"),
        }
    }
}

/// Greets, and has the model loaded. The inner error is what the worker says of the model.
async fn load(
    reader: &mut (impl AsyncRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    spec: &LoadSpec,
) -> Result<Result<(ModelInfo, Sample), Failure>, ebb_ipc::Error> {
    writer.write_all(&hello()).await?;
    writer.flush().await?;
    let mut theirs = [0; HELLO_LEN];
    reader.read_exact(&mut theirs).await?;
    check_hello(theirs)?;
    let frame = Frame::new(ToWorker::Load(Box::new(spec.clone())));
    // It has no tail.
    let (bytes, _) = encode(&frame)?;
    writer.write_all(&bytes).await?;
    writer.flush().await?;
    loop {
        let frame: Option<Frame<FromWorker>> = read_frame_async(reader).await?;
        match frame.map(|frame| frame.message) {
            Some(FromWorker::Loading { stage }) => tracing::debug!(model = spec.alias, stage, "loading"),
            Some(FromWorker::Loaded { info, sample }) => return Ok(Ok((*info, sample))),
            Some(FromWorker::LoadFailed(failure)) => return Ok(Err(failure)),
            Some(_) => return Err(ebb_ipc::Error::NotEbb),
            None => return Err(ebb_ipc::Error::Pipe(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// The task that hears what the worker says.
struct Listening {
    routes: Arc<Routes>,
    report: mpsc::UnboundedSender<Report>,
    kill: Arc<Notify>,
    grace: Duration,
}

impl Listening {
    async fn listen(self, mut reader: impl AsyncRead + Unpin, process: Option<Process>) -> Gone {
        let mut grace = self.grace;
        let mut not_understood = None;
        loop {
            let frame = tokio::select! {
                frame = read_frame_async(&mut reader) => frame,
                () = self.kill.notified() => {
                    grace = Duration::ZERO;
                    break;
                }
            };
            match frame {
                Ok(Some(frame)) => self.deliver(frame),
                Ok(None) | Err(ebb_ipc::Error::Pipe(_)) => break,
                Err(error) => {
                    not_understood = Some(format!("it was killed, because it cannot be understood: {error}"));
                    grace = Duration::ZERO;
                    break;
                }
            }
        }
        self.routes.table().hung_up = true;
        let mut gone = end(process, grace).await;
        gone.reason = not_understood.unwrap_or(gone.reason);
        self.routes.fail_all(&gone.reason);
        let _heard = self.report.send(Report::Gone(gone.clone()));
        gone
    }

    fn deliver(&self, Frame { message, tail }: Frame<FromWorker>) {
        match message {
            FromWorker::Progress { id, progress } => self.routes.give(id, RunItem::Progress(progress)),
            FromWorker::Chunk { id, body } => {
                self.routes.give(id, RunItem::Chunk(Chunk { body, data: tail }))
            }
            FromWorker::Done { id, figures } => self.routes.give_last(id, RunItem::Done(figures)),
            FromWorker::Failed { id, failure } => self.routes.give_last(id, RunItem::Failed(failure)),
            FromWorker::Answer { id, answer } => {
                let asked = self.routes.table().asks.remove(&id);
                if let Some(asked) = asked {
                    // Who asked may have left.
                    let _heard = asked.send(answer);
                }
            }
            FromWorker::Ended(ended) => {
                let _heard = self.report.send(Report::Ended(ended));
            }
            FromWorker::Loading { .. } | FromWorker::Loaded { .. } | FromWorker::LoadFailed(_) => {
                tracing::warn!(model = self.routes.model, "the worker speaks out of turn");
            }
        }
    }
}

/// Who waits for what.
#[derive(Debug)]
struct Routes {
    model: String,
    table: Mutex<Table>,
    /// Told when the last job is over.
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Table {
    runs: HashMap<u64, Route>,
    asks: HashMap<u64, oneshot::Sender<Result<Answer, Failure>>>,
    /// Nothing more goes to the worker, or comes from it.
    hung_up: bool,
    /// Why nothing more is taken: hung up on purpose, or the worker's end.
    closed: Option<Failure>,
}

#[derive(Debug)]
struct Route {
    items: mpsc::UnboundedSender<RunItem>,
    _place: OwnedSemaphorePermit,
}

impl Table {
    fn alive(&mut self) -> Result<&mut Self, Failure> {
        match &self.closed {
            Some(failure) => Err(failure.clone()),
            None => Ok(self),
        }
    }
}

impl Routes {
    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, id: u64, item: RunItem) {
        if let Some(route) = self.table().runs.get(&id) {
            // A caller who left has cancelled the job; what is still on its way is dropped.
            let _heard = route.items.send(item);
        }
    }

    fn give_last(&self, id: u64, item: RunItem) {
        let mut table = self.table();
        let route = table.runs.remove(&id);
        let emptied = table.runs.is_empty();
        drop(table);
        if let Some(route) = route {
            let _heard = route.items.send(item);
        }
        if emptied {
            self.emptied.notify_waiters();
        }
    }

    fn fail_all(&self, reason: &str) {
        let ended = || Error::Ended { model: self.model.clone(), reason: reason.to_owned() }.into();
        let mut table = self.table();
        let failure = table.closed.get_or_insert_with(ended).clone();
        for (_, route) in table.runs.drain() {
            let _heard = route.items.send(RunItem::Failed(failure.clone()));
        }
        for (_, asked) in table.asks.drain() {
            let _heard = asked.send(Err(failure.clone()));
        }
        drop(table);
        self.emptied.notify_waiters();
    }
}

/// Waits for the process; a worker that is no process is gone once its pipe is.
async fn end(process: Option<Process>, grace: Duration) -> Gone {
    match process {
        Some(process) => {
            let (reason, seen) = process.end(grace).await;
            Gone { reason, seen }
        }
        None => Gone { reason: "its pipe was closed".to_owned(), seen: true },
    }
}
