//! Running a bare model on tensors.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::{Bytes, BytesMut};
use ebb_core::{
    Chunk, ChunkBody, Code, Failure, Figures, Job, JobKind,
    operations::{RequestOptions, RunAnswer, RunRequest, TensorValue},
};
use ebb_host::RunItem;

use crate::Host;

impl Host {
    /// Runs a bare model on tensors.
    ///
    /// # Errors
    /// As [`Self::embed`]; [`Code::InvalidRequest`] where data does not fit its shape.
    pub async fn run(&self, alias: &str, request: RunRequest) -> Result<RunAnswer, Failure> {
        let RunRequest { inputs, outputs, shrink_after, run_options, timeout_ms, keep_alive } = request;
        let data = tensor_data(&inputs)?;
        let inputs = inputs.into_iter().map(|input| input.spec).collect();
        let job = Job::new(JobKind::Tensors { inputs, outputs });
        let options = RequestOptions { shrink_after, run_options, timeout_ms, keep_alive };
        let mut answering = self.begin(alias, job, data, options).await?;
        let mut outputs = Vec::new();
        loop {
            match answering.next().await {
                RunItem::Progress(_) => {}
                RunItem::Chunk(Chunk { body: ChunkBody::Tensor(spec), data }) => {
                    outputs.push(TensorValue { spec, data: BASE64.encode(&data) });
                }
                RunItem::Done(Figures::Tensors(figures)) => return Ok(RunAnswer { outputs, figures }),
                RunItem::Failed(failure) => return Err(failure),
                RunItem::Chunk(_) | RunItem::Done(_) => return Err(answering.no_answer()),
            }
        }
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
}
