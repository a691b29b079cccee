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
    Error, Plugin,
    bindings::{pipeline, types},
    guest::{Call, Guest},
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
    /// What the pipeline failed with, or why it was stopped.
    pub async fn ingest(&self, progress: Tell) -> Result<IngestReport, Failure> {
        let began = Instant::now();
        let call = Running::begin(&self.plugin, Some(progress));
        let Running { plugin, mut store, meter, request } = call;
        let told = meter
            .hold(plugin.sandbox.ticker(), async {
                let guest = instantiate(&plugin, &mut store).await?;
                guest.call_ingest(&mut store).await
            })
            .await;
        let told = ended(told, store.data()).and_then(|told| told.map_err(guest_error));
        let report = told.map_err(|error| failed(&plugin, request, "ingest", error))?;
        Ok(ingested(report, began))
    }

    /// Asks a question. Call it within a Tokio runtime; dropping the stream ends it and frees all that it held.
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

/// A call under way.
struct Running {
    plugin: Plugin,
    store: Store<Guest>,
    meter: Arc<Meter>,
    request: u64,
}

impl Running {
    fn begin(plugin: &Plugin, progress: Option<Tell>) -> Self {
        let request = plugin.shared.next_request();
        let call = Call { request, model: None, progress };
        let (store, meter) = instance::store(plugin, call, AtTick::Yield);
        Self { plugin: plugin.clone(), store, meter, request }
    }
}

/// Asks, and hands the answer on piece by piece. Says how long it took, in milliseconds.
async fn ask(plugin: &Plugin, asked: AskRequest, pieces: &mpsc::Sender<AskPiece>) -> Result<u64, Failure> {
    let began = Instant::now();
    let told = pieces.clone();
    let progress: Tell = Box::new(move |progress| {
        // A reader that is slow misses some; the answer it does not miss.
        let _room = told.try_send(AskPiece::Progress(progress));
    });
    let Running { plugin, mut store, meter, request } = Running::begin(plugin, Some(progress));
    let history: Vec<_> = asked.history.into_iter().map(|one| (one.question, one.answer)).collect();
    let told = meter
        .hold(plugin.sandbox.ticker(), answer(&plugin, &mut store, &asked.question, &history, pieces))
        .await;
    let told = ended(told, store.data()).and_then(|told| told.map_err(guest_error));
    told.map_err(|error| failed(&plugin, request, "ask", error))?;
    Ok(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX))
}

async fn answer(
    plugin: &Plugin,
    store: &mut Store<Guest>,
    question: &str,
    history: &[(String, String)],
    pieces: &mpsc::Sender<AskPiece>,
) -> wasmtime::Result<Result<(), types::Error>> {
    let guest = instantiate(plugin, store).await?;
    let answers = guest.answer();
    let answer = match answers.call_ask(&mut *store, question, history).await? {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(error)),
    };
    let citations = match answers.call_citations(&mut *store, answer).await? {
        Ok(citations) => citations.into_iter().map(citation).collect(),
        Err(error) => return Ok(Err(error)),
    };
    let mut heard = pieces.send(AskPiece::Citations(citations)).await.is_ok();
    while heard {
        match answers.call_next(&mut *store, answer).await? {
            Ok(Some(text)) => heard = pieces.send(AskPiece::Text(text)).await.is_ok(),
            Ok(None) => break,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}

/// A new instance, with its pipeline.
async fn instantiate(plugin: &Plugin, store: &mut Store<Guest>) -> wasmtime::Result<pipeline::Guest> {
    let linked = &plugin.compiled.linked;
    let instance = linked.instantiate_async(&mut *store).await?;
    pipeline::GuestIndices::new(linked)?.load(&mut *store, &instance)
}

/// What a call came to: its result, or why it did not return.
fn ended<T>(told: Result<wasmtime::Result<T>, crate::Stop>, guest: &Guest) -> Result<T, Error> {
    told.map_err(Error::Stopped)?.map_err(|error| instance::told(&error, guest))
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

/// Logs why a call failed, and says whose it was.
fn failed(plugin: &Plugin, request: u64, call: &str, error: Error) -> Failure {
    let about = About { request, model: None };
    plugin.shared.log.from_host(LogLevel::Error, about, &format!("{call} failed: {error}"));
    let id = &plugin.manifest().id;
    tracing::warn!(plugin = id, request, call, %error, "a plugin's call failed");
    let mut failure = Failure::from(error);
    failure.message = format!("the plugin '{id}': {} (call {request})", failure.message);
    failure.hint.get_or_insert_with(|| format!("its log may say more: `ebb plugin logs {id}`"));
    failure
}

fn ingested(report: pipeline::Ingested, began: Instant) -> IngestReport {
    let skipped = report.skipped.into_iter();
    IngestReport {
        documents: report.documents,
        chunks: report.chunks,
        unchanged: report.unchanged,
        removed: report.removed,
        skipped: skipped.map(|(document, reason)| Skipped { document, reason }).collect(),
        more: report.more.into_iter().collect(),
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

fn citation(citation: pipeline::Citation) -> Citation {
    let pipeline::Citation { number, document, text, start, end, score } = citation;
    Citation { number, document, text, start, end, score }
}
