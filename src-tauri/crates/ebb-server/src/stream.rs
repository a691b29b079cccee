//! Answers that come in parts: vectors as lines of JSON, events as server-sent events. Both are pulled by the client: where
//! it does not read, nothing is made for it.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response, Sse, sse},
};
use bytes::Bytes;
use ebb_api::EmbedStream;
use ebb_core::{Event, Failure, operations::EmbedPiece};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::{broadcast, watch};
use tokio_stream::wrappers::{BroadcastStream, errors::BroadcastStreamRecvError};

/// Media type of lines of JSON.
const NDJSON: &str = "application/x-ndjson";

/// How often an idle event stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The pieces of an embed answer, a line each. A failure before the first piece is an error answer with its own status.
pub(crate) async fn embed_lines(mut pieces: EmbedStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(EmbedPiece::Error(error)) => return Err(ebb_core::ErrorBody { error }.into()),
        first => first,
    };
    let rest =
        stream::unfold(pieces, |mut pieces| async { pieces.next().await.map(|piece| (piece, pieces)) });
    let lines = stream::iter(first).chain(rest).map(|piece| line(&piece));
    Ok(([(header::CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response())
}

fn line(piece: &EmbedPiece) -> Result<Bytes, serde_json::Error> {
    let mut line = serde_json::to_vec(piece)?;
    line.push(b'\n');
    Ok(line.into())
}

/// Events as they happen, of one model or of all, until the host closes.
pub(crate) fn server_sent(
    events: broadcast::Receiver<Event>,
    model: Option<String>,
    mut closing: watch::Receiver<bool>,
) -> Response {
    let wanted = move |event: &Event| model.as_ref().is_none_or(|model| *model == event.model);
    let closed = async move {
        // An error means that the server is gone, which is closed too.
        let _ = closing.wait_for(|closing| *closing).await;
    };
    Sse::new(named_events(BroadcastStream::new(events), wanted).take_until(Box::pin(closed)))
        .keep_alive(sse::KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

/// A client that reads too slowly misses events and is told how many.
fn named_events(
    events: impl Stream<Item = Result<Event, BroadcastStreamRecvError>>,
    wanted: impl Fn(&Event) -> bool,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    events.filter_map(move |event| {
        let sent = match event {
            Ok(event) => wanted(&event).then(|| server_sent_event(&event)),
            Err(BroadcastStreamRecvError::Lagged(missed)) => {
                Some(sse::Event::default().event("lagged").data(format!("{{\"missed\":{missed}}}")))
            }
        };
        async move { sent.map(Ok) }
    })
}

fn server_sent_event(event: &Event) -> sse::Event {
    // A record of plain fields and text keys always has a JSON form.
    let json = serde_json::to_value(event).unwrap_or_default();
    let name = json["event"].as_str().unwrap_or_default();
    sse::Event::default().id(event.seq.to_string()).event(name).data(json.to_string())
}
