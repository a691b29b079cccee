//! Generating text.

use bytes::Bytes;
use ebb_core::{
    ChunkBody, Code, ErrorBody, Failure, Figures, Job, JobKind, ModelKind,
    operations::{GenerateAnswer, GeneratePiece, GenerateRequest},
};
use ebb_host::RunItem;

use crate::{Host, job::Answering};

impl Host {
    /// What a chat model answers, once it is complete.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Unsupported`] where the model does not generate text; [`Code::InvalidRequest`] where there is
    /// nothing to answer to, or more than the model's context holds; [`Code::Busy`], [`Code::Timeout`]; what keeps the
    /// model from loading or running.
    pub async fn generate(&self, alias: &str, request: GenerateRequest) -> Result<GenerateAnswer, Failure> {
        let mut pieces = self.generate_stream(alias, request).await?;
        let mut answer = GenerateAnswer::default();
        while let Some(piece) = pieces.next().await {
            match piece {
                GeneratePiece::Progress(_) => {}
                GeneratePiece::Piece(piece) => {
                    answer.text.push_str(&piece.text);
                    answer.logprobs.extend(piece.logprobs);
                }
                GeneratePiece::ToolCall(call) => answer.tool_calls.push(call),
                GeneratePiece::Figures(figures) => answer.figures = figures,
                GeneratePiece::Error(error) => return Err(ErrorBody { error }.into()),
            }
        }
        Ok(answer)
    }

    /// As [`Self::generate`], but the answer comes piece by piece. Dropping the stream cancels the generation.
    ///
    /// # Errors
    /// As [`Self::generate`]; what happens once the job runs comes as [`GeneratePiece::Error`].
    pub async fn generate_stream(
        &self,
        alias: &str,
        request: GenerateRequest,
    ) -> Result<GenerateStream, Failure> {
        let GenerateRequest { generation, stream: _, options } = request;
        if generation.messages.is_empty() && generation.prompt.is_none() {
            // Known before a model is loaded for it.
            return Err(Failure::new(Code::InvalidRequest, "there is neither a message nor a prompt")
                .hint("give messages: [{\"role\": \"user\", \"content\": \"...\"}], or a prompt")
                .param("messages"));
        }
        self.expect_kind(alias, ModelKind::Chat)?;
        let job = Job::new(JobKind::Generate(Box::new(generation)));
        Ok(GenerateStream(Some(self.begin(alias, job, Bytes::new(), options).await?)))
    }
}

/// The pieces of a generated text. It is pulled: a reader that waits makes the model wait. `None` once the last piece was
/// given.
#[derive(Debug)]
pub struct GenerateStream(Option<Answering>);

impl GenerateStream {
    /// The next piece; `None` after [`GeneratePiece::Figures`] or [`GeneratePiece::Error`].
    pub async fn next(&mut self) -> Option<GeneratePiece> {
        let answering = self.0.as_mut()?;
        let piece = match answering.next().await {
            RunItem::Progress(progress) => GeneratePiece::Progress(progress),
            RunItem::Chunk(chunk) => match chunk.body {
                ChunkBody::Piece(piece) => GeneratePiece::Piece(piece),
                ChunkBody::ToolCall(call) => GeneratePiece::ToolCall(call),
                _ => GeneratePiece::Error(ErrorBody::from(answering.no_answer()).error),
            },
            RunItem::Done(Figures::Generate(figures)) => GeneratePiece::Figures(figures),
            RunItem::Failed(failure) => GeneratePiece::Error(ErrorBody::from(failure).error),
            RunItem::Done(_) => GeneratePiece::Error(ErrorBody::from(answering.no_answer()).error),
        };
        if matches!(piece, GeneratePiece::Figures(_) | GeneratePiece::Error(_)) {
            self.0 = None;
        }
        Some(piece)
    }
}
