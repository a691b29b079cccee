//! Pipelines: an instance for each call, on a task of its own.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use ebb_core::{
    Code, ErrorBody, Failure,
    operations::{AskPiece, AskRequest, Citation, IngestReport, LogLevel, PluginProgress, Skipped},
};
use futures_util::Stream;
use tokio::{sync::mpsc, task::AbortHandle};
use wasmtime::Store;

use crate::{
    Error, Plugin, Stop,
    bindings::{pipeline, types},
    guest::{Call, Guest, given},
    instance::{self, AtTick},
    log::About,
    meter::Meter,
};

/// Pieces that a slow reader may lag behind; then the pipeline waits for it.
const BACKLOG: usize = 16;

/// Who hears how far a call is.
pub type Tell = Box<dyn FnMut(PluginProgress) + Send>;

/// A plugin's calls as a pipeline.
#[derive(Debug, Clone)]
pub struct Pipeline {
    plugin: Plugin,
}

impl Pipeline {
    pub(crate) fn new(plugin: Plugin) -> Self {
        Self { plugin }
    }

    /// Brings the index up to date with the documents that were granted. Dropping the future ends it and frees all that it
    /// held; what was committed stays.
    ///
    /// # Errors
    /// [`Code::Busy`] while another ingest goes on; what the pipeline failed with, or why it was stopped.
    pub async fn ingest(&self, progress: Tell) -> Result<IngestReport, Failure> {
        let began = Instant::now();
        let ingesting = Arc::clone(&self.plugin.shared.ingesting).try_lock_owned();
        let _the_only_one = ingesting.map_err(|_| {
            let id = &self.plugin.manifest().id;
            Failure::new(Code::Busy, format!("the plugin '{id}' is ingesting already"))
                .hint("wait for its end")
        })?;
        let mut running = Running::begin(&self.plugin, "ingest", progress);
        let told = ingested(&mut running).await;
        running.ended(told).map(|ingested| report(ingested, began))
    }

    /// Asks a question; where too many are asked at once, the answer is [`Code::Busy`]. Call it within a Tokio runtime;
    /// dropping the stream ends it and frees all that it held.
    pub fn ask(&self, asked: AskRequest) -> AskStream {
        let (pieces, coming) = mpsc::channel(BACKLOG);
        let plugin = self.plugin.clone();
        let task = tokio::spawn(async move {
            let last = match ask(&plugin, asked, &pieces).await {
                Ok(took_ms) => AskPiece::Done { took_ms },
                Err(failure) => AskPiece::Error(ErrorBody::from(failure).error),
            };
            // Whoever asked may have left.
            let _heard = pieces.send(last).await;
        });
        AskStream { coming, task: task.abort_handle() }
    }
}

/// The pieces of an answer; the last is [`AskPiece::Done`] or [`AskPiece::Error`].
pub struct AskStream {
    coming: mpsc::Receiver<AskPiece>,
    task: AbortHandle,
}

impl Stream for AskStream {
    type Item = AskPiece;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AskPiece>> {
        self.coming.poll_recv(context)
    }
}

impl Drop for AskStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for AskStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskStream").finish_non_exhaustive()
    }
}

/// A call under way. Dropped before its end, whoever called has left, or the host ended it.
struct Running {
    plugin: Plugin,
    store: Store<Guest>,
    meter: Arc<Meter>,
    /// Its name.
    call: &'static str,
    request: u64,
    over: bool,
}

/// What a call came to: outer, that a limit ended it while it waited; then, that it did not return; inner, the guest's own
/// error.
type Told<T> = Result<wasmtime::Result<Result<T, types::Error>>, Stop>;

impl Running {
    fn begin(plugin: &Plugin, call: &'static str, progress: Tell) -> Self {
        let request = plugin.shared.next_request();
        let of = Call { request, progress: Some(progress), ..Call::default() };
        let (store, meter) = instance::store(plugin, of, AtTick::Yield);
        Self { plugin: plugin.clone(), store, meter, call, request, over: false }
    }

    /// A new instance, with its pipeline; the call then begins, with a budget of its own.
    async fn instance(&mut self) -> Result<wasmtime::Result<pipeline::Guest>, Stop> {
        let Self { plugin, store, meter, .. } = self;
        let linked = &plugin.compiled.linked;
        meter.begin_start();
        let coming_up = async {
            let instance = linked.instantiate_async(&mut *store).await?;
            pipeline::GuestIndices::new(linked)?.load(&mut *store, &instance)
        };
        let up = meter.hold(plugin.sandbox.ticker(), coming_up).await;
        meter.begin_call();
        up
    }

    /// What it came to. The instance is gone before whoever called hears of it.
    fn ended<T>(mut self, told: Told<T>) -> Result<T, Failure> {
        self.over = true;
        // A guest that returned says itself what its error is about; one that could not was at what it last told.
        let (told, at) = match told {
            Err(stop) => (Err(Error::Stopped(stop)), self.at()),
            Ok(Err(error)) => (Err(instance::told(&error, self.store.data())), self.at()),
            Ok(Ok(told)) => (told.map_err(guest_error), String::new()),
        };
        self.plugin.shared.log.call_ended(self.about());
        told.map_err(|error| self.failed(error, &at))
    }

    /// What it was at, as it follows a call's name or number.
    fn at(&self) -> String {
        match &self.store.data().call.at[..] {
            "" => String::new(),
            at => format!(", at '{at}'"),
        }
    }

    /// Logs why it failed, and says whose it was.
    fn failed(&self, error: Error, at: &str) -> Failure {
        let Self { plugin, call, request, .. } = self;
        plugin.shared.log.host_line(LogLevel::Error, self.about(), &format!("{call} failed{at}: {error}"));
        let id = &plugin.manifest().id;
        tracing::warn!(plugin = id, request, call, %error, "a plugin's call failed");
        let mut failure = Failure::from(error);
        failure.message = format!("the plugin '{id}': {} (call {request}{at})", failure.message);
        failure.hint.get_or_insert_with(|| format!("its log may say more: `ebb plugin logs {id}`"));
        failure
    }

    fn about(&self) -> About<'static> {
        About { request: self.request, model: None }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let Self { plugin, call, request, .. } = &*self;
        tracing::info!(plugin = plugin.manifest().id, request, call, "a plugin's call was given up");
        plugin.shared.log.call_ended(self.about());
        plugin.shared.log.host_line(LogLevel::Info, self.about(), &format!("{call} was given up"));
    }
}

async fn ingested(running: &mut Running) -> Told<pipeline::Ingested> {
    let guest = match running.instance().await? {
        Ok(guest) => guest,
        Err(error) => return Ok(Err(error)),
    };
    let Running { plugin, store, meter, .. } = running;
    meter.hold(plugin.sandbox.ticker(), guest.call_ingest(&mut *store)).await
}

/// Asks, and hands the answer on piece by piece. Says how long it took, in milliseconds.
async fn ask(plugin: &Plugin, asked: AskRequest, pieces: &mpsc::Sender<AskPiece>) -> Result<u64, Failure> {
    let began = Instant::now();
    let asking = Arc::clone(&plugin.shared.asking).try_acquire_owned();
    let _one_of_few = asking.map_err(|_| busy(plugin, "is asked too much at once"))?;
    let told = pieces.clone();
    let progress: Tell = Box::new(move |progress| {
        // A reader that is slow misses some; the answer it does not miss.
        let _room = told.try_send(AskPiece::Progress(progress));
    });
    let mut running = Running::begin(plugin, "ask", progress);
    let told = answered(&mut running, asked, pieces).await;
    running.ended(told)?;
    Ok(ms(began))
}

async fn answered(running: &mut Running, asked: AskRequest, pieces: &mpsc::Sender<AskPiece>) -> Told<()> {
    let guest = match running.instance().await? {
        Ok(guest) => guest,
        Err(error) => return Ok(Err(error)),
    };
    let Running { plugin, store, meter, .. } = running;
    meter.hold(plugin.sandbox.ticker(), answer(&guest, store, asked, pieces)).await
}

async fn answer(
    guest: &pipeline::Guest,
    store: &mut Store<Guest>,
    asked: AskRequest,
    pieces: &mpsc::Sender<AskPiece>,
) -> wasmtime::Result<Result<(), types::Error>> {
    let answers = guest.answer();
    let history: Vec<_> = asked.history.into_iter().map(|one| (one.question, one.answer)).collect();
    let answer = given!(answers.call_ask(&mut *store, &asked.question, &history).await?);
    let citations = given!(answers.call_citations(&mut *store, answer).await?);
    let citations = citations.into_iter().map(citation).collect();
    let mut heard = pieces.send(AskPiece::Citations(citations)).await.is_ok();
    while heard && let Some(text) = given!(answers.call_next(&mut *store, answer).await?) {
        heard = pieces.send(AskPiece::Text(text)).await.is_ok();
    }
    Ok(Ok(()))
}

fn busy(plugin: &Plugin, why: &str) -> Failure {
    Failure::new(Code::Busy, format!("the plugin '{}' {why}", plugin.manifest().id))
        .hint("wait for an end of that")
}

fn guest_error(error: types::Error) -> Error {
    match error {
        types::Error::Denied(why) => Error::Denied(why),
        types::Error::NotFound(why) => Error::Answered { code: Code::NotFound, why },
        types::Error::Invalid(why) => Error::Answered { code: Code::InvalidRequest, why },
        types::Error::Busy(why) => Error::Answered { code: Code::Busy, why },
        types::Error::Cancelled => {
            Error::Answered { code: Code::Cancelled, why: "it was cancelled".to_owned() }
        }
        types::Error::Failed(why) | types::Error::Other(why) => Error::Guest(why),
    }
}

fn report(ingested: pipeline::Ingested, began: Instant) -> IngestReport {
    let skipped = ingested.skipped.into_iter();
    IngestReport {
        documents: ingested.documents,
        chunks: ingested.chunks,
        unchanged: ingested.unchanged,
        removed: ingested.removed,
        skipped: skipped.map(|(document, reason)| Skipped { document, reason }).collect(),
        more: ingested.more.into_iter().collect(),
        took_ms: ms(began),
    }
}

fn citation(citation: pipeline::Citation) -> Citation {
    let pipeline::Citation { number, document, text, start, end, score } = citation;
    // JSON has no other numbers.
    let score = if score.is_finite() { score } else { 0.0 };
    Citation { number, document, text, start, end, score }
}

fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
