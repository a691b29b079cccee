//! A Hub with one repository, and the other host that it keeps large files on.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    io,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::{
    Request, Response,
    body::{Frame, Incoming},
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, LINK, LOCATION, RANGE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;
use tokio::net::TcpListener;

pub(crate) const REPO: &str = "org/Name";
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
/// Lists come in pages of so many.
const PAGE: usize = 3;

type Body = BoxBody<Bytes, io::Error>;

/// What goes wrong with one request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// An answer that is an error, with these headers.
    Status(u16, Vec<(&'static str, &'static str)>),
    /// So many bytes, then the connection breaks.
    Cut(usize),
    /// So many bytes, then silence.
    Stall(usize),
    /// The whole file, whatever part was asked for.
    NoRange,
    /// Other content.
    Content(Vec<u8>),
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) authorized: bool,
    /// Whether it came to the other host.
    pub(crate) elsewhere: bool,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Said in the list instead of what is true.
    pub(crate) lies: BTreeMap<String, Value>,
    pub(crate) seen: Vec<Seen>,
    /// For requests whose path ends so, one after another.
    pub(crate) faults: VecDeque<(String, Fault)>,
    other_host: String,
}

/// A Hub.
pub(crate) struct Server {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let url = serve(state.clone(), false).await;
        let other_host = serve(state.clone(), true).await;
        state.lock().unwrap().other_host = other_host;
        Self { url, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Requests for the content of files, as they came.
    pub(crate) fn asked_for(&self, end: &str) -> Vec<Seen> {
        let state = self.state();
        state.seen.iter().filter(|seen| seen.elsewhere && seen.path.ends_with(end)).cloned().collect()
    }

    pub(crate) fn fault(&self, path: &str, fault: Fault) {
        self.state().faults.push_back((path.to_owned(), fault));
    }
}

async fn serve(state: Arc<Mutex<State>>, elsewhere: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let state = state.clone();
            let answer = move |request| {
                let answer = state.lock().unwrap().answer(&request, elsewhere);
                async move { Ok::<_, Infallible>(answer) }
            };
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
        }
    });
    url
}

impl State {
    fn answer(&mut self, request: &Request<Incoming>, elsewhere: bool) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let header = |name| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
        let authorized = request.headers().contains_key(AUTHORIZATION);
        let range = header(RANGE);
        self.seen.push(Seen { path: path.clone(), range: range.clone(), authorized, elsewhere });
        let fault = self.faults.iter().position(|(end, _)| path.ends_with(end.as_str()));
        let fault = fault.and_then(|at| self.faults.remove(at)).map(|(_, fault)| fault);
        if let Some(Fault::Status(status, headers)) = &fault {
            let answer = headers
                .iter()
                .fold(Response::builder().status(*status), |all, (name, value)| all.header(*name, *value));
            return answer.body(full("an error")).unwrap();
        }
        let query = request.uri().query().unwrap_or_default();
        if elsewhere {
            return self.content(path.trim_start_matches("/blobs/"), range.as_deref(), fault);
        }
        let api = format!("/api/models/{REPO}");
        let resolve = format!("/{REPO}/resolve/{COMMIT}/");
        if path == format!("{api}/revision/main") || path == format!("{api}/revision/refs%2Fpr%2F1") {
            return json_answer(&json!({"id": REPO, "sha": COMMIT}));
        }
        if path == format!("{api}/tree/{COMMIT}") {
            return self.page(query);
        }
        match path.strip_prefix(&resolve) {
            // Large files lie elsewhere.
            Some(file) if self.files.get(file).is_some_and(|content| content.len() >= 100) => {
                Response::builder()
                    .status(302)
                    .header(LOCATION, format!("{}/blobs/{file}", self.other_host))
                    .body(full(""))
                    .unwrap()
            }
            Some(file) => self.content(file, range.as_deref(), fault),
            None if path.starts_with(&api) => error(404, "RevisionNotFound"),
            None => error(401, "RepoNotFound"),
        }
    }

    /// A page of the list; where the next one is stands in a header, with a host that does not exist.
    fn page(&self, query: &str) -> Response<Body> {
        let at: usize = query.split_once("cursor=").map_or(0, |(_, at)| at.parse().unwrap());
        let mut names: Vec<&String> = self.files.keys().chain(self.lies.keys()).collect();
        names.sort();
        names.dedup();
        let page: Vec<Value> = names.iter().skip(at).take(PAGE).map(|name| self.entry(name)).collect();
        let mut answer = json_answer(&Value::Array(page));
        if at + PAGE < names.len() {
            let next =
                format!("<https://nowhere.example/?recursive=true&cursor={}>; rel=\"next\"", at + PAGE);
            answer.headers_mut().insert(LINK, next.parse().unwrap());
        }
        answer
    }

    fn entry(&self, name: &str) -> Value {
        if let Some(lie) = self.lies.get(name) {
            return lie.clone();
        }
        let content = &self.files[name];
        let git =
            hex(&Sha1::new_with_prefix(format!("blob {}\0", content.len())).chain_update(content).finalize());
        let mut entry = json!({"type": "file", "path": name, "size": content.len(), "oid": git});
        if content.len() >= 100 {
            entry["oid"] = "f".repeat(40).into();
            entry["lfs"] =
                json!({"oid": hex(&Sha256::digest(content)), "size": content.len(), "pointerSize": 134});
        }
        entry
    }

    fn content(&self, file: &str, range: Option<&str>, fault: Option<Fault>) -> Response<Body> {
        let Some(content) = self.files.get(file) else { return error(404, "EntryNotFound") };
        let content = match &fault {
            Some(Fault::Content(other)) => other,
            _ => content,
        };
        let from =
            range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
        let from = from.filter(|_| !matches!(fault, Some(Fault::NoRange)));
        let rest = content.get(from.unwrap_or(0)..).unwrap_or_default().to_vec();
        let mut answer = Response::builder().header(CONTENT_LENGTH, rest.len());
        if let Some(from) = from {
            if rest.is_empty() {
                return error(416, "");
            }
            let range = format!("bytes {from}-{}/{}", content.len() - 1, content.len());
            answer = answer.status(206).header(CONTENT_RANGE, range);
        }
        answer
            .body(match fault {
                Some(Fault::Cut(bytes)) => broken(&rest[..bytes], Duration::from_millis(20)),
                Some(Fault::Stall(bytes)) => broken(&rest[..bytes], Duration::from_secs(3600)),
                _ => full(rest),
            })
            .unwrap()
    }
}

/// Some bytes; a while later the connection breaks.
fn broken(bytes: &[u8], after: Duration) -> Body {
    let first = Ok(Frame::data(Bytes::copy_from_slice(bytes)));
    let frames = stream::unfold(Some(first), move |next| async move {
        match next {
            Some(frame) => Some((frame, None)),
            None => {
                tokio::time::sleep(after).await;
                Some((Err(io::Error::other("cut")), None))
            }
        }
    });
    StreamBody::new(frames).boxed()
}

fn full(content: impl Into<Bytes>) -> Body {
    Full::new(content.into()).map_err(|never| match never {}).boxed()
}

fn json_answer(value: &Value) -> Response<Body> {
    Response::builder().body(full(value.to_string())).unwrap()
}

fn error(status: u16, code: &str) -> Response<Body> {
    Response::builder().status(status).header("x-error-code", code).body(full("")).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
