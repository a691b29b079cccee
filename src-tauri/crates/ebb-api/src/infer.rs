//! Embedding texts and running tensors. A model that is not in memory is loaded first, with the options that it last had.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::{Bytes, BytesMut};
use ebb_core::{
    Chunk, ChunkBody, Code, ErrorBody, Failure, Figures, Job, JobKind,
    operations::{EmbedAnswer, EmbedPiece, EmbedRequest, RunAnswer, RunRequest, TensorValue},
};
use ebb_host::{RunItem, Running};

use crate::Host;

impl Host {
    /// One vector for each text, in order.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::InvalidRequest`] without texts; [`Code::Busy`] where the queue is full; what keeps the
    /// model from loading or running.
    pub async fn embed(&self, alias: &str, request: EmbedRequest) -> Result<EmbedAnswer, Failure> {
        let mut running = self.begin_embed(alias, request).await?;
        let mut vectors = Vec::new();
        loop {
            match running.next().await {
                Some(RunItem::Progress(_)) => {}
                Some(RunItem::Chunk(chunk)) => append_vectors(&mut vectors, &chunk)?,
                Some(RunItem::Done(Figures::Embed(figures))) => return Ok(EmbedAnswer { vectors, figures }),
                Some(RunItem::Failed(failure)) => return Err(failure),
                Some(RunItem::Done(Figures::Tensors(_))) | None => return Err(no_answer(alias)),
            }
        }
    }

    /// As [`Self::embed`], but the answer comes piece by piece. Dropping the stream cancels the job.
    ///
    /// # Errors
    /// As [`Self::embed`]; what happens once the job runs comes as [`EmbedPiece::Error`].
    pub async fn embed_stream(&self, alias: &str, request: EmbedRequest) -> Result<EmbedStream, Failure> {
        let running = self.begin_embed(alias, request).await?;
        Ok(EmbedStream { alias: alias.to_owned(), running: Some(running) })
    }

    /// Runs a bare model on tensors.
    ///
    /// # Errors
    /// As [`Self::embed`]; [`Code::InvalidRequest`] where data does not fit its shape.
    pub async fn run(&self, alias: &str, request: RunRequest) -> Result<RunAnswer, Failure> {
        let RunRequest { inputs, outputs, shrink_after, run_options } = request;
        let data = tensor_data(&inputs)?;
        let inputs = inputs.into_iter().map(|input| input.spec).collect();
        let job = Job { kind: JobKind::Tensors { inputs, outputs }, run_options, shrink_after };
        let mut running = self.on_demand(alias).await?.run(job, data).await?;
        let mut outputs = Vec::new();
        loop {
            match running.next().await {
                Some(RunItem::Progress(_)) => {}
                Some(RunItem::Chunk(Chunk { body: ChunkBody::Tensor(spec), data })) => {
                    outputs.push(TensorValue { spec, data: BASE64.encode(&data) });
                }
                Some(RunItem::Done(Figures::Tensors(figures))) => return Ok(RunAnswer { outputs, figures }),
                Some(RunItem::Failed(failure)) => return Err(failure),
                Some(RunItem::Chunk(_) | RunItem::Done(Figures::Embed(_))) | None => {
                    return Err(no_answer(alias));
                }
            }
        }
    }

    async fn begin_embed(&self, alias: &str, request: EmbedRequest) -> Result<Running, Failure> {
        let EmbedRequest { texts, stream: _, shrink_after, run_options } = request;
        if texts.is_empty() {
            // Known before a model is loaded for it.
            return Err(Failure::new(Code::InvalidRequest, "no texts were given").param("texts"));
        }
        let job = Job { kind: JobKind::Embed { texts }, run_options, shrink_after };
        self.on_demand(alias).await?.run(job, Bytes::new()).await
    }
}

/// The pieces of an embed answer. It is pulled: a reader that waits makes the model wait.
#[derive(Debug)]
pub struct EmbedStream {
    alias: String,
    /// `None` once the last piece was given.
    running: Option<Running>,
}

impl EmbedStream {
    /// The next piece; `None` after [`EmbedPiece::Figures`] or [`EmbedPiece::Error`].
    pub async fn next(&mut self) -> Option<EmbedPiece> {
        let piece = match self.running.as_mut()?.next().await {
            Some(RunItem::Progress(progress)) => EmbedPiece::Progress(progress),
            Some(RunItem::Chunk(Chunk { body: ChunkBody::Vectors { first, count, dimensions }, data })) => {
                EmbedPiece::Vectors { first, count, dimensions, data: BASE64.encode(&data) }
            }
            Some(RunItem::Done(Figures::Embed(figures))) => EmbedPiece::Figures(figures),
            Some(RunItem::Failed(failure)) => EmbedPiece::Error(ErrorBody::from(failure).error),
            Some(RunItem::Chunk(_) | RunItem::Done(_)) | None => {
                EmbedPiece::Error(ErrorBody::from(no_answer(&self.alias)).error)
            }
        };
        if matches!(piece, EmbedPiece::Figures(_) | EmbedPiece::Error(_)) {
            self.running = None;
        }
        Some(piece)
    }
}

/// The data of all tensors, one after the other, as a job carries it.
fn tensor_data(inputs: &[TensorValue]) -> Result<Bytes, Failure> {
    let mut all = BytesMut::new();
    for TensorValue { spec, data } in inputs {
        let wrong = |message: String| {
            Failure::new(Code::InvalidRequest, format!("input '{}': {message}", spec.name)).param("inputs")
        };
        let data = BASE64.decode(data).map_err(|error| wrong(format!("its data is not base64: {error}")))?;
        match spec.len_bytes() {
            Some(length) if length == data.len() => all.extend_from_slice(&data),
            Some(length) => {
                return Err(wrong(format!(
                    "its shape and type need {length} bytes, its data has {}",
                    data.len()
                )));
            }
            None => return Err(wrong("its shape is too large".to_owned())),
        }
    }
    Ok(all.freeze())
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

fn no_answer(alias: &str) -> Failure {
    Failure::new(Code::Internal, format!("'{alias}' ended the job without an answer that fits it"))
        .hint("see the host's log: `ebb server logs`")
}

#[cfg(test)]
mod tests {
    use ebb_core::{DType, TensorSpec};

    use super::*;

    fn input(shape: &[u64], data: &str) -> TensorValue {
        let spec = TensorSpec { name: "x".into(), dtype: DType::Float32, shape: shape.to_vec() };
        TensorValue { spec, data: data.into() }
    }

    #[test]
    fn tensors_follow_each_other() {
        let one = BASE64.encode(1.0_f32.to_le_bytes());
        let two = BASE64.encode(2.0_f32.to_le_bytes());
        let data = tensor_data(&[input(&[1], &one), input(&[], &two), input(&[0, 3], "")]).unwrap();
        assert_eq!(data, [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat());
    }

    #[test]
    fn data_that_does_not_fit_is_refused_by_name() {
        for (input, part) in [
            (input(&[2], &BASE64.encode([0; 4])), "need 8 bytes"),
            (input(&[1], "#"), "not base64"),
            (input(&[u64::MAX, 2], ""), "too large"),
        ] {
            let failure = tensor_data(&[input]).unwrap_err();
            assert_eq!(failure.code, Code::InvalidRequest);
            assert!(failure.message.contains("'x'") && failure.message.contains(part), "{failure}");
        }
    }

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
