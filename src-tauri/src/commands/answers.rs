//! Requests to Ebb's routes, in this process.

use bytes::Bytes;
use ebb_core::{Code, Failure};
use http::{header::CONTENT_TYPE, uri::PathAndQuery};
use serde::Serialize;
use tauri::{
    State,
    ipc::{Request, Response},
};

use super::{Answer, content, header};
use crate::{calls::Calls, start::Start};

/// The head of an answer.
#[derive(Debug, Serialize)]
pub(crate) struct Head {
    status: u16,
    content_type: Option<String>,
    /// The number by which `read` reads its body and `close` gives it up.
    body: u64,
}

/// Sends a request: the content is its body, the headers `ebb-method`, `ebb-path` and `ebb-content-type` say what it is.
/// `ebb-body` may say by which number the page will read the answer, or give the request up before there is one.
/// Answers the head once there is one; while the host is being opened, that is waited for.
///
/// # Errors
/// Why the host could not be opened; [`Code::InvalidRequest`], [`Code::Busy`]. What a route refuses is an answer.
#[tauri::command]
pub(crate) async fn send(
    request: Request<'_>,
    start: State<'_, Start>,
    calls: State<'_, Calls>,
) -> Answer<Head> {
    let (number, request) = (number(&request)?, sent(&request)?);
    let what = format!("{} {}", request.method(), request.uri().path());
    let (body, call) = calls.begin(number, what)?;
    let answering = async {
        let serving = start.serving().await?;
        Ok(serving.inside.call(request).await)
    };
    let answered = call.or_closed(answering).await.unwrap_or_else(|| Err(closed()));
    let response = answered.inspect_err(|_: &Failure| calls.close(body))?;
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let head =
        Head { status: response.status().as_u16(), content_type: content_type.map(str::to_owned), body };
    call.answer(response.into_body()).await;
    Ok(head)
}

/// The next piece of a body; empty at its end.
///
/// # Errors
/// As [`Calls::read`].
#[tauri::command]
pub(crate) async fn read(body: u64, calls: State<'_, Calls>) -> Answer<Response> {
    Ok(Response::new(calls.read(body).await?))
}

/// Gives a request up, and the work for it.
#[tauri::command]
pub(crate) fn close(body: u64, calls: State<'_, Calls>) {
    calls.close(body);
}

/// The number that the page chose.
fn number(request: &Request<'_>) -> Result<Option<u32>, Failure> {
    let Ok(number) = header(request, "ebb-body") else { return Ok(None) };
    let number = number.parse().map_err(|_| {
        Failure::new(Code::InvalidRequest, "the header `ebb-body` must be a whole number below 2^32")
            .param("ebb-body")
    })?;
    Ok(Some(number))
}

/// The request that the page means.
fn sent(request: &Request<'_>) -> Result<http::Request<Bytes>, Failure> {
    let refused = |name: &str| {
        let message = format!("the header `{name}` cannot be used in a request");
        Failure::new(Code::InvalidRequest, message).param(name)
    };
    let path = header(request, "ebb-path")?;
    // A full address would be taken too, and mean the same as its path: only one spelling reaches a route.
    let path = PathAndQuery::try_from(path).ok().filter(|_| path.starts_with('/'));
    let path = path.ok_or_else(|| refused("ebb-path"))?;
    let mut sent = http::Request::builder().method(header(request, "ebb-method")?).uri(path.as_str());
    let content_type = header(request, "ebb-content-type").unwrap_or_default();
    if !content_type.is_empty() {
        sent = sent.header(CONTENT_TYPE, content_type);
    }
    let content = Bytes::copy_from_slice(content(request)?);
    sent.body(content).map_err(|_| refused("ebb-method"))
}

fn closed() -> Failure {
    Failure::new(Code::Cancelled, "the window gave the request up")
}
