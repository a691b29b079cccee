//! Requests of the page on their way, and the bodies of their answers. The page pulls a body piece by piece, so nothing is
//! made faster than it reads; what it closes is dropped, which cancels the work. A page that goes away has all of its calls
//! closed.

mod body;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ebb_core::{Code, Failure};
use ebb_server::AnswerBody;
use tokio::sync::watch;

use body::Body;

/// More calls at once than any page needs; a page that forgets to read its answers must not eat the host's memory.
const MOST_OPEN: usize = 128;

/// Calls of the page, by their number.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    unchosen: u32,
    open: HashMap<u64, Arc<Call>>,
}

impl Table {
    /// A number beyond those that the page chooses from.
    fn unchosen(&mut self) -> u64 {
        self.unchosen = self.unchosen.wrapping_add(1);
        (1 << 32) + u64::from(self.unchosen)
    }
}

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    /// Its method and path, for people: what is asked, never with what.
    what: String,
    /// Whether the page gave it up.
    closed: watch::Sender<bool>,
    body: tokio::sync::Mutex<Body>,
}

impl Calls {
    /// Takes a call in, under the number that the page chose, so that it can give the call up before there is an answer; else
    /// under one that no page chooses.
    ///
    /// # Errors
    /// [`Code::Busy`] where too many are open; [`Code::Conflict`] where the number is taken.
    pub(crate) fn begin(&self, number: Option<u32>, what: String) -> Result<(u64, Arc<Call>), Failure> {
        let mut table = self.table();
        if table.open.len() >= MOST_OPEN {
            let message = format!("the window has {MOST_OPEN} requests open already");
            let hint = "wait until some have ended, or reload the window";
            return Err(Failure::new(Code::Busy, message).hint(hint));
        }
        let number = number.map_or_else(|| table.unchosen(), u64::from);
        if table.open.contains_key(&number) {
            let message = format!("request {number} is open already");
            return Err(Failure::new(Code::Conflict, message).param("ebb-body"));
        }
        let call = Arc::new(Call { what, closed: watch::Sender::new(false), body: <_>::default() });
        table.open.insert(number, Arc::clone(&call));
        Ok((number, call))
    }

    /// The next piece of a call's body; empty: it has ended, and so has the call.
    ///
    /// # Errors
    /// [`Code::NotFound`] where there is no such call; what the work failed of in mid-answer.
    pub(crate) async fn read(&self, number: u64) -> Result<Vec<u8>, Failure> {
        let call = self.table().open.get(&number).cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, format!("no answer {number} is open"))
                .hint("it has ended, or was closed: send the request again")
        })?;
        let piece = call.or_closed(async { call.body.lock().await.piece().await }).await;
        let piece = piece.unwrap_or_else(|| Ok(Vec::new()));
        if !piece.as_ref().is_ok_and(|piece| !piece.is_empty()) {
            self.close(number);
        }
        piece
    }

    /// Gives a call up. One that has ended is no error: both may happen at once.
    pub(crate) fn close(&self, number: u64) {
        if let Some(call) = self.table().open.remove(&number) {
            call.closed.send_replace(true);
        }
    }

    /// Gives every call up: the page is gone.
    pub(crate) fn close_all(&self) {
        for (_, call) in self.table().open.drain() {
            call.closed.send_replace(true);
        }
    }

    /// What the open calls are, for people.
    pub(crate) fn open(&self) -> Vec<String> {
        self.table().open.values().map(|call| call.what.clone()).collect()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics in between that could leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// What `work` gives; `None` where the page gives the call up first, which drops the work.
    pub(crate) async fn or_closed<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => None,
            done = work => Some(done),
        }
    }

    /// Sets what is read from here on.
    pub(crate) async fn answer(&self, body: AnswerBody) {
        *self.body.lock().await = Body::new(body);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http_body_util::{BodyExt as _, Full, StreamBody};
    use hyper::body::Frame;
    use tokio::sync::mpsc;

    use super::*;

    fn whole(text: &'static str) -> AnswerBody {
        Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync()
    }

    /// A body that gives what is sent, and the end that tells when it was dropped.
    fn streamed() -> (mpsc::Sender<Bytes>, AnswerBody) {
        let (sender, receiver) = mpsc::channel(8);
        let frames = futures_util::stream::unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async {
            let bytes = receiver.recv().await?;
            Some((Ok(Frame::data(bytes)), receiver))
        });
        (sender, StreamBody::new(Box::pin(frames)).boxed_unsync())
    }

    #[tokio::test]
    async fn an_answer_is_read_to_its_end_and_then_gone() {
        let calls = Calls::default();
        let (number, call) = calls.begin(None, "GET /x".into()).unwrap();
        call.answer(whole("hello")).await;
        assert_eq!(calls.read(number).await.unwrap(), b"hello");
        assert_eq!(calls.read(number).await.unwrap(), b"", "the end");
        assert_eq!(calls.read(number).await.unwrap_err().code, Code::NotFound);
        assert!(calls.open().is_empty());
    }

    #[tokio::test]
    async fn closing_ends_a_read_that_waits_and_drops_the_work() {
        let calls = Arc::new(Calls::default());
        let (number, call) = calls.begin(None, "POST /x".into()).unwrap();
        let (sender, body) = streamed();
        call.answer(body).await;
        drop(call);
        let reading = tokio::spawn({
            let calls = Arc::clone(&calls);
            async move { calls.read(number).await }
        });
        tokio::task::yield_now().await;
        calls.close(number);
        assert_eq!(reading.await.unwrap().unwrap(), b"");
        tokio::time::timeout(Duration::from_secs(10), sender.closed()).await.expect("the body is dropped");
        calls.close(number);
    }

    #[tokio::test]
    async fn a_page_that_goes_away_closes_what_it_had_open() {
        let calls = Calls::default();
        let (sender, body) = streamed();
        let (_, call) = calls.begin(None, "POST /x".into()).unwrap();
        call.answer(body).await;
        let waiting = call.or_closed(std::future::pending::<()>());
        calls.close_all();
        assert_eq!(waiting.await, None);
        drop(call);
        sender.closed().await;
        assert!(calls.open().is_empty());
    }

    #[tokio::test]
    async fn only_so_many_are_open() {
        let calls = Calls::default();
        let numbers: Vec<u64> =
            (0..MOST_OPEN).map(|_| calls.begin(None, "GET /x".into()).unwrap().0).collect();
        assert_eq!(calls.begin(None, "GET /x".into()).unwrap_err().code, Code::Busy);
        calls.close(numbers[7]);
        let (number, _) = calls.begin(None, "GET /x".into()).unwrap();
        assert!(!numbers.contains(&number), "a number never comes again");
    }

    #[tokio::test]
    async fn a_page_gives_up_what_it_numbered_before_there_is_an_answer() {
        let calls = Calls::default();
        let (number, call) = calls.begin(Some(7), "POST /x".into()).unwrap();
        assert_eq!(number, 7);
        assert_eq!(calls.begin(Some(7), "POST /x".into()).unwrap_err().code, Code::Conflict);
        let waiting = call.or_closed(std::future::pending::<()>());
        calls.close(7);
        assert_eq!(waiting.await, None);
        calls.begin(Some(7), "POST /x".into()).unwrap();
    }
}
