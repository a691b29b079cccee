//! Answers that come in parts: vectors as lines of JSON, events as server-sent events. Both are pulled by the client: where
//! it does not read, nothing is made for it.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response, Sse, sse},
};
use bytes::Bytes;
use ebb_api::{
    AskStream, EmbedStream, EventsFrom, GenerateStream, HostLogStream, IngestStream, PluginLogStream,
    PullStream, RecordingStream, TranscribeStream,
};
use ebb_core::{
    ErrorBody, Event, Failure,
    operations::{
        AskPiece, EmbedPiece, GeneratePiece, HostLogLine, IngestPiece, PluginLogLine, PullPiece,
        TranscribePiece,
    },
};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use tokio::sync::watch;
use tokio_stream::wrappers::{BroadcastStream, errors::BroadcastStreamRecvError};

/// Media type of lines of JSON.
const NDJSON: &str = "application/x-ndjson";

/// How often an idle event stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An answer in pieces, a line each: `first`, and what `rest` gives. A failure before the first piece is an error answer
/// with its own status.
pub(crate) fn lines<P: Serialize + Send + 'static>(
    first: Option<P>,
    rest: impl Stream<Item = P> + Send + 'static,
) -> Response {
    let lines = stream::iter(first).chain(rest).map(|piece| line(&piece));
    ([(header::CONTENT_TYPE, NDJSON)], Body::from_stream(lines)).into_response()
}

/// The pieces of an embed answer.
pub(crate) async fn embed_lines(mut pieces: EmbedStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(EmbedPiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    Ok(lines(first, stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) })))
}

/// The pieces of a generated text.
pub(crate) async fn generate_lines(mut pieces: GenerateStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(GeneratePiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    Ok(lines(first, stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) })))
}

/// The pieces of a transcription.
pub(crate) async fn transcribe_lines(mut pieces: TranscribeStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(TranscribePiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    Ok(lines(first, stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) })))
}

/// The pieces of an ingest.
pub(crate) async fn ingest_lines(mut pieces: IngestStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(IngestPiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    Ok(lines(first, stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) })))
}

/// The pieces of a pipeline's answer.
pub(crate) async fn ask_lines(mut pieces: AskStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(AskPiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    Ok(lines(first, stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) })))
}

/// The pieces of a pull or an import.
pub(crate) async fn pull_lines(mut pieces: PullStream) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(PullPiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    Ok(lines(first, stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) })))
}

/// The lines of a recording, until the host closes.
pub(crate) fn recording_lines(recording: RecordingStream, closing: watch::Receiver<bool>) -> Response {
    let coming = stream::unfold(recording, |mut coming| async { Some((coming.next().await?, coming)) });
    lines(None, coming.take_until(Box::pin(closed(closing))))
}

/// The end of the host's log, and what comes after it until the host closes.
pub(crate) fn host_log_lines(
    tail: Vec<HostLogLine>,
    coming: HostLogStream,
    closing: watch::Receiver<bool>,
) -> Response {
    let coming = stream::unfold(coming, |mut coming| async { Some((coming.next().await?, coming)) });
    lines(None, stream::iter(tail).chain(coming).take_until(Box::pin(closed(closing))))
}

/// The end of a plugin's log, and what comes after it until the host closes. A line that came between the two is told once.
pub(crate) fn log_lines(
    tail: Vec<PluginLogLine>,
    coming: PluginLogStream,
    closing: watch::Receiver<bool>,
) -> Response {
    let told = tail.last().map(|line| line.seq);
    let coming = stream::unfold(coming, |mut coming| async { Some((coming.next().await?, coming)) });
    let fresh = coming.filter(move |line| std::future::ready(told.is_none_or(|told| line.seq > told)));
    lines(None, stream::iter(tail).chain(fresh).take_until(Box::pin(closed(closing))))
}

/// Returns once the server closes.
async fn closed(mut closing: watch::Receiver<bool>) {
    // An error means that the server is gone, which is closed too.
    let _ = closing.wait_for(|closing| *closing).await;
}

fn line(piece: &impl Serialize) -> Result<Bytes, serde_json::Error> {
    let mut line = serde_json::to_vec(piece)?;
    line.push(b'\n');
    Ok(line.into())
}

/// The last events where they were asked for, then events as they happen, of one model or of all, until the host closes.
pub(crate) fn server_sent(
    events: EventsFrom,
    model: Option<String>,
    closing: watch::Receiver<bool>,
) -> Response {
    let EventsFrom { history, coming, told } = events;
    let wanted =
        move |event: &Event| event.seq > told && model.as_ref().is_none_or(|model| *model == event.model);
    let past = stream::iter(history).map(|event| Ok(server_sent_event(&event)));
    let coming = named_events(BroadcastStream::new(coming), wanted);
    Sse::new(past.chain(coming).take_until(Box::pin(closed(closing))))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ebb_core::EventKind;
    use http_body_util::BodyExt as _;
    use tokio::sync::broadcast;

    use super::*;

    fn event(seq: u64, model: &str) -> Event {
        let kind = EventKind::LoadFailed { reason: "two\nlines".into() };
        Event { seq, time_ms: 0, model: model.to_owned(), kind }
    }

    fn from_now_on(coming: broadcast::Receiver<Event>) -> EventsFrom {
        EventsFrom { history: Vec::new(), coming, told: 0 }
    }

    async fn sent(events: &[(u64, &str)], kept: usize, model: Option<&str>) -> String {
        let (tell, listen) = broadcast::channel(kept);
        let (_closing, is_closing) = watch::channel(false);
        let response = server_sent(from_now_on(listen), model.map(ToOwned::to_owned), is_closing);
        for (seq, model) in events {
            tell.send(event(*seq, model)).unwrap();
        }
        drop(tell);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn events_carry_their_number_and_name_and_only_the_model_asked_for() {
        let text = sent(&[(1, "a"), (2, "b")], 8, Some("b")).await;
        assert!(text.contains("id: 2\n") && text.contains("event: load_failed\n"), "{text}");
        assert!(text.contains("data: {") && text.contains(r"two\nlines"), "{text}");
        assert!(!text.contains("id: 1\n"), "{text}");
    }

    #[tokio::test]
    async fn what_stands_in_the_history_is_not_told_again() {
        let (tell, coming) = broadcast::channel(8);
        let (_closing, is_closing) = watch::channel(false);
        let history = vec![Arc::new(event(3, "a")), Arc::new(event(5, "a"))];
        let response = server_sent(EventsFrom { history, coming, told: 6 }, None, is_closing);
        for seq in 5..=8 {
            tell.send(event(seq, "a")).unwrap();
        }
        drop(tell);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
        assert_eq!(ids, ["3", "5", "7", "8"]);
    }

    #[tokio::test]
    async fn a_slow_reader_is_told_what_it_missed() {
        let text = sent(&[(1, "a"), (2, "a"), (3, "a"), (4, "a")], 2, None).await;
        assert!(text.starts_with("event: lagged\ndata: {\"missed\":2}\n\n"), "{text}");
        assert!(text.contains("id: 3\n") && text.contains("id: 4\n"), "{text}");
    }

    #[tokio::test]
    async fn a_closing_server_ends_the_stream() {
        let (_tell, listen) = broadcast::channel(1);
        let (closing, is_closing) = watch::channel(false);
        let response = server_sent(from_now_on(listen), None, is_closing);
        closing.send_replace(true);
        assert!(response.into_body().collect().await.unwrap().to_bytes().is_empty());
    }
}
