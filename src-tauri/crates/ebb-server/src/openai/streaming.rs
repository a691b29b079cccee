//! Answers as server-sent events, pulled by the client: a client that goes away drops the stream, which cancels the
//! generation.

use std::{convert::Infallible, time::Duration};

use axum::response::{IntoResponse as _, Response, Sse, sse};
use ebb_api::GenerateStream;
use ebb_core::{
    ErrorBody, ErrorFields, Failure, GenerateFigures, Piece, ToolCall, operations::GeneratePiece,
};
use futures_util::{Stream, StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How often a stream shows that it lives while a long prompt is read.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// What a stream is to hold besides.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct StreamOptions {
    /// End with a chunk that has the usage and no choice.
    include_usage: Option<bool>,
}

impl StreamOptions {
    pub(crate) fn include_usage(&self) -> bool {
        self.include_usage.unwrap_or(false)
    }
}

/// Turns the pieces of an answer into the events of a dialect.
pub(crate) trait Render: Send + 'static {
    /// Before the first piece.
    fn begin(&mut self) -> Vec<sse::Event>;
    /// Text.
    fn text(&mut self, piece: Piece) -> Vec<sse::Event>;
    /// A call.
    fn call(&mut self, call: ToolCall) -> Vec<sse::Event>;
    /// The end.
    fn end(&mut self, figures: GenerateFigures) -> Vec<sse::Event>;
    /// It failed. Nothing follows.
    fn failed(&mut self, error: ErrorFields) -> Vec<sse::Event> {
        vec![data(&ErrorBody { error })]
    }
}

/// An event without a name.
pub(crate) fn data(body: &impl Serialize) -> sse::Event {
    // Records of plain fields and text keys always have a JSON form.
    sse::Event::default().json_data(body).unwrap_or_default()
}

/// The end of a stream of chat and completions.
pub(crate) fn done() -> sse::Event {
    sse::Event::default().data("[DONE]")
}

/// The answer as events. A failure before the first piece is an error answer with its own status.
pub(crate) async fn events(mut pieces: GenerateStream, mut render: impl Render) -> Result<Response, Failure> {
    let first = match pieces.next().await {
        Some(GeneratePiece::Error(error)) => return Err(ErrorBody { error }.into()),
        first => first,
    };
    let begin = render.begin();
    let rest = stream::unfold(pieces, |mut pieces| async { Some((pieces.next().await?, pieces)) });
    let pieces = stream::iter(first).chain(rest).flat_map(move |piece| {
        stream::iter(match piece {
            GeneratePiece::Progress(_) => Vec::new(),
            GeneratePiece::Piece(piece) => render.text(piece),
            GeneratePiece::ToolCall(call) => render.call(call),
            GeneratePiece::Figures(figures) => render.end(figures),
            GeneratePiece::Error(error) => render.failed(error),
        })
    });
    Ok(server_sent(stream::iter(begin).chain(pieces)))
}

/// An answer of events.
pub(crate) fn server_sent(events: impl Stream<Item = sse::Event> + Send + 'static) -> Response {
    Sse::new(events.map(Ok::<_, Infallible>))
        .keep_alive(sse::KeepAlive::new().interval(SIGN_OF_LIFE))
        .into_response()
}
