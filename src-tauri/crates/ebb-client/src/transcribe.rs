//! What was said, as it is heard and all together.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use ebb_core::{
    ErrorBody, Progress, Segment, TranscribeFigures,
    operations::{TranscribeAnswer, TranscribePiece},
};
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};

use crate::{Error, lines::Lines};

/// A part of a transcription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// How much has been heard, in milliseconds of audio.
    Progress(Progress),
    /// A stretch of speech.
    Segment(Segment),
    /// The end, and what it took.
    Figures(TranscribeFigures),
}

/// A transcription as it comes in. Its last item is [`Heard::Figures`] or an error. Dropping it earlier cancels it.
pub struct TranscribeStream(BoxStream<'static, Result<Heard, Error>>);

impl TranscribeStream {
    pub(crate) fn new(lines: Lines) -> Self {
        Self(stream::try_unfold(Some(lines), next).boxed())
    }

    /// Waits for all of it.
    ///
    /// # Errors
    /// The error that the stream ended with.
    pub async fn all(mut self) -> Result<TranscribeAnswer, Error> {
        let mut answer = TranscribeAnswer::default();
        while let Some(part) = self.next().await {
            match part? {
                Heard::Segment(segment) if !segment.partial => {
                    if !answer.text.is_empty() {
                        answer.text.push(' ');
                    }
                    answer.text.push_str(segment.text.trim());
                    answer.segments.push(segment);
                }
                Heard::Progress(_) | Heard::Segment(_) => {}
                Heard::Figures(figures) => answer.figures = figures,
            }
        }
        Ok(answer)
    }
}

impl Stream for TranscribeStream {
    type Item = Result<Heard, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for TranscribeStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TranscribeStream").finish_non_exhaustive()
    }
}

/// `None` as state: the figures were read, nothing may follow.
async fn next(lines: Option<Lines>) -> Result<Option<(Heard, Option<Lines>)>, Error> {
    let Some(mut lines) = lines else { return Ok(None) };
    let part = match lines.record().await? {
        TranscribePiece::Progress(progress) => Heard::Progress(progress),
        TranscribePiece::Segment(segment) => Heard::Segment(segment),
        TranscribePiece::Figures(figures) => return Ok(Some((Heard::Figures(figures), None))),
        TranscribePiece::Error(error) => return Err(Error::Refused(ErrorBody { error }.into())),
    };
    Ok(Some((part, Some(lines))))
}
