//! Transcribing speech.

use bytes::Bytes;
use ebb_core::{
    ChunkBody, Code, ErrorBody, Failure, Figures, Job, JobKind, ModelKind,
    operations::{TranscribeAnswer, TranscribePiece, TranscribeRequest},
};
use ebb_host::RunItem;

use crate::{Host, job::Answering};

impl Host {
    /// What is said in an audio file, once all of it is heard. `audio` is the file as it is.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] where the model does not hear, or the file is in a format that Ebb does not
    /// read; [`Code::InvalidRequest`] where it is empty or broken; [`Code::Busy`], [`Code::Timeout`]; what keeps the model
    /// from loading or running.
    pub async fn transcribe(
        &self,
        alias: &str,
        request: TranscribeRequest,
        audio: Bytes,
    ) -> Result<TranscribeAnswer, Failure> {
        let mut pieces = self.transcribe_stream(alias, request, audio).await?;
        let mut answer = TranscribeAnswer::default();
        while let Some(piece) = pieces.next().await {
            match piece {
                TranscribePiece::Segment(segment) if !segment.partial => {
                    if !answer.text.is_empty() {
                        answer.text.push(' ');
                    }
                    answer.text.push_str(segment.text.trim());
                    answer.segments.push(segment);
                }
                TranscribePiece::Progress(_) | TranscribePiece::Segment(_) => {}
                TranscribePiece::Figures(figures) => answer.figures = figures,
                TranscribePiece::Error(error) => return Err(ErrorBody { error }.into()),
            }
        }
        Ok(answer)
    }

    /// As [`Self::transcribe`], but stretch by stretch. Dropping the stream cancels the job.
    ///
    /// # Errors
    /// As [`Self::transcribe`]; what happens once the job runs comes as [`TranscribePiece::Error`].
    pub async fn transcribe_stream(
        &self,
        alias: &str,
        request: TranscribeRequest,
        audio: Bytes,
    ) -> Result<TranscribeStream, Failure> {
        let TranscribeRequest { transcription, stream: _, options } = request;
        if audio.is_empty() {
            // Known before a model is loaded for it.
            return Err(Failure::new(Code::InvalidRequest, "the audio file is empty").param("file"));
        }
        self.expect_kind(alias, ModelKind::Audio)?;
        let job = Job::new(JobKind::Transcribe(transcription));
        Ok(TranscribeStream(Some(self.begin(alias, job, audio, options).await?)))
    }
}

/// The pieces of a transcription. It is pulled: a reader that waits makes the model wait. `None` once the last piece was
/// given.
#[derive(Debug)]
pub struct TranscribeStream(Option<Answering>);

impl TranscribeStream {
    /// The next piece; `None` after [`TranscribePiece::Figures`] or [`TranscribePiece::Error`].
    pub async fn next(&mut self) -> Option<TranscribePiece> {
        let answering = self.0.as_mut()?;
        let piece = match answering.next().await {
            RunItem::Progress(progress) => TranscribePiece::Progress(progress),
            RunItem::Chunk(chunk) => match chunk.body {
                ChunkBody::Segment(segment) => TranscribePiece::Segment(segment),
                _ => TranscribePiece::Error(ErrorBody::from(answering.no_answer()).error),
            },
            RunItem::Done(Figures::Transcribe(figures)) => TranscribePiece::Figures(figures),
            RunItem::Failed(failure) => TranscribePiece::Error(ErrorBody::from(failure).error),
            RunItem::Done(_) => TranscribePiece::Error(ErrorBody::from(answering.no_answer()).error),
        };
        if matches!(piece, TranscribePiece::Figures(_) | TranscribePiece::Error(_)) {
            self.0 = None;
        }
        Some(piece)
    }
}
