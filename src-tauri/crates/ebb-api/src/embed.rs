//! Embedding texts.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use ebb_core::{
    Chunk, ChunkBody, Code, ErrorBody, Failure, Figures, Job, JobKind,
    operations::{EmbedAnswer, EmbedPiece, EmbedRequest, RequestOptions},
};
use ebb_host::RunItem;

use crate::{Host, job::Answering};

impl Host {
    /// One vector for each text, in order.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::InvalidRequest`] without texts; [`Code::Busy`] where the queue is full; what keeps the
    /// model from loading or running.
    pub async fn embed(&self, alias: &str, request: EmbedRequest) -> Result<EmbedAnswer, Failure> {
        let mut answering = self.begin_embed(alias, request).await?;
        let mut vectors = Vec::new();
        loop {
            match answering.next().await {
                RunItem::Progress(_) => {}
                RunItem::Chunk(chunk) => append_vectors(&mut vectors, &chunk)?,
                RunItem::Done(Figures::Embed(figures)) => return Ok(EmbedAnswer { vectors, figures }),
                RunItem::Failed(failure) => return Err(failure),
                RunItem::Done(_) => return Err(answering.no_answer()),
            }
        }
    }

    /// As [`Self::embed`], but the answer comes piece by piece. Dropping the stream cancels the job.
    ///
    /// # Errors
    /// As [`Self::embed`]; what happens once the job runs comes as [`EmbedPiece::Error`].
    pub async fn embed_stream(&self, alias: &str, request: EmbedRequest) -> Result<EmbedStream, Failure> {
        Ok(EmbedStream(Some(self.begin_embed(alias, request).await?)))
    }

    async fn begin_embed(&self, alias: &str, request: EmbedRequest) -> Result<Answering, Failure> {
        let EmbedRequest { texts, stream: _, shrink_after, run_options, timeout_ms, keep_alive } = request;
        if texts.is_empty() {
            // Known before a model is loaded for it.
            return Err(Failure::new(Code::InvalidRequest, "no texts were given").param("texts"));
        }
        let options = RequestOptions { shrink_after, run_options, timeout_ms, keep_alive };
        self.begin(alias, Job::new(JobKind::Embed { texts }), Bytes::new(), options).await
    }
}

/// The pieces of an embed answer. It is pulled: a reader that waits makes the model wait. `None` once the last piece was
/// given.
#[derive(Debug)]
pub struct EmbedStream(Option<Answering>);

impl EmbedStream {
    /// The next piece; `None` after [`EmbedPiece::Figures`] or [`EmbedPiece::Error`].
    pub async fn next(&mut self) -> Option<EmbedPiece> {
        let answering = self.0.as_mut()?;
        let piece = match answering.next().await {
            RunItem::Progress(progress) => EmbedPiece::Progress(progress),
            RunItem::Chunk(Chunk { body: ChunkBody::Vectors { first, count, dimensions }, data }) => {
                EmbedPiece::Vectors { first, count, dimensions, data: BASE64.encode(&data) }
            }
            RunItem::Done(Figures::Embed(figures)) => EmbedPiece::Figures(figures),
            RunItem::Failed(failure) => EmbedPiece::Error(ErrorBody::from(failure).error),
            RunItem::Chunk(_) | RunItem::Done(_) => {
                EmbedPiece::Error(ErrorBody::from(answering.no_answer()).error)
            }
        };
        if matches!(piece, EmbedPiece::Figures(_) | EmbedPiece::Error(_)) {
            self.0 = None;
        }
        Some(piece)
    }
}

/// Takes a chunk's vectors apart.
fn append_vectors(vectors: &mut Vec<Vec<f32>>, chunk: &Chunk) -> Result<(), Failure> {
    let ChunkBody::Vectors { count, dimensions, .. } = chunk.body else {
        return Err(Failure::new(Code::Internal, "an embed job answered with a tensor"));
    };
    let (count, dimensions) = (count as usize, dimensions as usize);
    if chunk.data.len() != count * dimensions * size_of::<f32>() {
        return Err(Failure::new(Code::Internal, "an embed job answered with vectors of a wrong length"));
    }
    let (numbers, _) = chunk.data.as_chunks::<4>();
    for index in 0..count {
        let vector = &numbers[index * dimensions..(index + 1) * dimensions];
        vectors.push(vector.iter().map(|number| f32::from_le_bytes(*number)).collect());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_taken_apart() {
        let numbers: Vec<u8> =
            [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let chunk = |count, dimensions| Chunk {
            body: ChunkBody::Vectors { first: 0, count, dimensions },
            data: numbers.clone().into(),
        };
        let mut vectors = Vec::new();
        append_vectors(&mut vectors, &chunk(2, 2)).unwrap();
        assert_eq!(vectors, [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(append_vectors(&mut vectors, &chunk(3, 2)).unwrap_err().code, Code::Internal);
    }
}
