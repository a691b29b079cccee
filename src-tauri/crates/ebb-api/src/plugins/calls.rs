//! Calls of pipelines that go on: each a task of its own, which ends when whoever asked leaves, or the plugin is removed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ebb_core::{
    Code, ErrorBody, Failure,
    operations::{AskPiece, IngestPiece, PluginProgress, RunningCall},
};
use tokio::{
    sync::{Notify, mpsc},
    task::AbortHandle,
};

/// Pieces that a slow reader may lag behind; then the call waits for it.
const BACKLOG: usize = 64;

/// The calls that go on.
#[derive(Debug, Default)]
pub(super) struct Calls {
    book: Mutex<Book>,
    /// Told when a call ends.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Book {
    last: u64,
    calls: BTreeMap<u64, Call>,
}

#[derive(Debug)]
struct Call {
    plugin: String,
    now: RunningCall,
    /// Ends it.
    task: Option<AbortHandle>,
}

impl Calls {
    /// Notes a call; `None` where it is to be the only one of its name and is not.
    pub(super) fn begin(self: &Arc<Self>, plugin: &str, name: &str, only: bool) -> Option<Running> {
        let mut book = self.book();
        if only && book.calls.values().any(|call| call.plugin == plugin && call.now.call == name) {
            return None;
        }
        book.last += 1;
        let progress = PluginProgress { fraction: 0.0, message: String::new() };
        let now = RunningCall { call: name.to_owned(), progress };
        let number = book.last;
        book.calls.insert(number, Call { plugin: plugin.to_owned(), now, task: None });
        Some(Running { calls: Arc::clone(self), number })
    }

    /// The call of a plugin that went on for longest.
    pub(super) fn running(&self, plugin: &str) -> Option<RunningCall> {
        self.book().calls.values().find(|call| call.plugin == plugin).map(|call| call.now.clone())
    }

    /// Ends the calls of a plugin, or of all.
    pub(super) fn end(&self, plugin: Option<&str>) {
        for call in self.book().calls.values() {
            if plugin.is_none_or(|plugin| call.plugin == plugin)
                && let Some(task) = &call.task
            {
                task.abort();
            }
        }
    }

    /// Waits until no call of a plugin goes on.
    pub(super) async fn ended(&self, plugin: &str) {
        loop {
            let ended = self.ended.notified();
            if self.running(plugin).is_none() {
                return;
            }
            ended.await;
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that goes on, until this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    calls: Arc<Calls>,
    number: u64,
}

impl Running {
    /// How far it is.
    pub(super) fn note(&self, progress: PluginProgress) {
        if let Some(call) = self.calls.book().calls.get_mut(&self.number) {
            call.now.progress = progress;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls.book().calls.remove(&self.number);
        self.calls.ended.notify_waiters();
    }
}

/// A piece of what a call gives.
pub(super) trait OfCall: Send + 'static {
    /// The call failed.
    fn error(failure: Failure) -> Self;

    /// Whether nothing comes after it.
    fn is_last(&self) -> bool;
}

impl OfCall for IngestPiece {
    fn error(failure: Failure) -> Self {
        Self::Error(ErrorBody::from(failure).error)
    }

    fn is_last(&self) -> bool {
        matches!(self, Self::Report(_) | Self::Error(_))
    }
}

impl OfCall for AskPiece {
    fn error(failure: Failure) -> Self {
        Self::Error(ErrorBody::from(failure).error)
    }

    fn is_last(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Error(_))
    }
}

/// The pieces of a call, pulled. Dropping it ends the call.
#[derive(Debug)]
pub(super) struct Pieces<P> {
    plugin: String,
    pieces: mpsc::Receiver<P>,
    task: AbortHandle,
    over: bool,
}

impl<P: OfCall> Pieces<P> {
    /// Begins a call: a task that does `work`.
    pub(super) fn begin<W, F>(plugin: &str, running: Running, work: W) -> Self
    where
        W: FnOnce(Running, mpsc::Sender<P>) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, pieces) = mpsc::channel(BACKLOG);
        let (calls, number) = (Arc::clone(&running.calls), running.number);
        let task = tokio::spawn(work(running, sender)).abort_handle();
        // One that has ended already is not noted any more.
        if let Some(call) = calls.book().calls.get_mut(&number) {
            call.task = Some(task.clone());
        }
        Self { plugin: plugin.to_owned(), pieces, task, over: false }
    }

    /// The next piece; `None` after the last.
    pub(super) async fn next(&mut self) -> Option<P> {
        if self.over {
            return None;
        }
        let piece = self.pieces.recv().await.unwrap_or_else(|| P::error(ended(&self.plugin)));
        self.over = piece.is_last();
        Some(piece)
    }
}

impl<P> Drop for Pieces<P> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Why a call ended without an end of its own.
fn ended(plugin: &str) -> Failure {
    Failure::new(Code::Cancelled, format!("the call of '{plugin}' was ended by the host"))
        .hint("the plugin was removed, or the host ends; its log may say more: `ebb plugin logs`")
}

#[cfg(test)]
mod tests {
    use ebb_core::operations::IngestReport;

    use super::*;

    fn progress(fraction: f32) -> PluginProgress {
        PluginProgress { fraction, message: "reading".to_owned() }
    }

    /// A call that gives one piece and then waits.
    fn that_waits(calls: &Arc<Calls>) -> Pieces<IngestPiece> {
        let running = calls.begin("p", "ingest", true).unwrap();
        Pieces::begin("p", running, |running, pieces| async move {
            running.note(progress(0.5));
            pieces.send(IngestPiece::Progress(progress(0.5))).await.unwrap();
            std::future::pending::<()>().await;
        })
    }

    #[tokio::test]
    async fn a_call_is_told_of_while_it_goes_on() {
        let calls = Arc::new(Calls::default());
        let running = calls.begin("p", "ingest", true).unwrap();
        let mut pieces = Pieces::begin("p", running, |_running, pieces| async move {
            pieces.send(IngestPiece::Report(IngestReport::default())).await.unwrap();
        });
        assert!(matches!(pieces.next().await, Some(IngestPiece::Report(_))));
        assert_eq!(pieces.next().await, None);
        calls.ended("p").await;
        assert_eq!(calls.running("p"), None);
    }

    #[tokio::test]
    async fn whoever_leaves_ends_the_call() {
        let calls = Arc::new(Calls::default());
        let mut pieces = that_waits(&calls);
        pieces.next().await.unwrap();
        assert_eq!(calls.running("p").unwrap().progress, progress(0.5));
        assert!(calls.begin("p", "ingest", true).is_none(), "one at a time");
        assert!(calls.begin("p", "ask", false).is_some() && calls.begin("q", "ingest", true).is_some());
        drop(pieces);
        calls.ended("p").await;
        assert!(calls.begin("p", "ingest", true).is_some());
    }

    #[tokio::test]
    async fn a_call_that_the_host_ends_says_so() {
        let calls = Arc::new(Calls::default());
        let mut pieces = that_waits(&calls);
        pieces.next().await.unwrap();
        calls.end(Some("q"));
        assert!(calls.running("p").is_some());
        calls.end(Some("p"));
        let Some(IngestPiece::Error(error)) = pieces.next().await else { panic!("no error") };
        assert_eq!(error.code, Code::Cancelled);
        assert_eq!(pieces.next().await, None);
    }
}
