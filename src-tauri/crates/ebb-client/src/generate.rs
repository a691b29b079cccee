//! Generated text, as it comes in and all together.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use ebb_core::{
    ErrorBody, GenerateFigures, Piece, Progress, ToolCall,
    operations::{GenerateAnswer, GeneratePiece},
};
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};

use crate::{Error, lines::Lines};

/// A part of the answer to a request for text.
#[derive(Debug, Clone, PartialEq)]
pub enum Generated {
    /// How much of the prompt has been read, in tokens.
    Progress(Progress),
    /// The next piece of the text.
    Piece(Piece),
    /// A call that the model asks for.
    ToolCall(ToolCall),
    /// The end, and what it took.
    Figures(GenerateFigures),
}

/// The answer to a request for text as it comes in. Its last item is [`Generated::Figures`] or an error. Dropping it earlier
/// cancels the generation.
pub struct GenerateStream(BoxStream<'static, Result<Generated, Error>>);

impl GenerateStream {
    pub(crate) fn new(lines: Lines) -> Self {
        Self(stream::try_unfold(Some(lines), next).boxed())
    }

    /// Waits for all of it.
    ///
    /// # Errors
    /// The error that the stream ended with.
    pub async fn all(mut self) -> Result<GenerateAnswer, Error> {
        let mut answer = GenerateAnswer::default();
        while let Some(part) = self.next().await {
            match part? {
                Generated::Progress(_) => {}
                Generated::Piece(piece) => {
                    answer.text.push_str(&piece.text);
                    answer.logprobs.extend(piece.logprobs);
                }
                Generated::ToolCall(call) => answer.tool_calls.push(call),
                Generated::Figures(figures) => answer.figures = figures,
            }
        }
        Ok(answer)
    }
}

impl Stream for GenerateStream {
    type Item = Result<Generated, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for GenerateStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("GenerateStream").finish_non_exhaustive()
    }
}

/// `None` as state: the figures were read, nothing may follow.
async fn next(lines: Option<Lines>) -> Result<Option<(Generated, Option<Lines>)>, Error> {
    let Some(mut lines) = lines else { return Ok(None) };
    let part = match lines.record().await? {
        GeneratePiece::Progress(progress) => Generated::Progress(progress),
        GeneratePiece::Piece(piece) => Generated::Piece(piece),
        GeneratePiece::ToolCall(call) => Generated::ToolCall(call),
        GeneratePiece::Figures(figures) => return Ok(Some((Generated::Figures(figures), None))),
        GeneratePiece::Error(error) => return Err(Error::Refused(ErrorBody { error }.into())),
    };
    Ok(Some((part, Some(lines))))
}
