//! A model that is ready to serve: what it is for decides which task drives its sessions.

use std::collections::BTreeMap;

use bytes::Bytes;
use ebb_core::{Chunk, Code, Failure, Job, JobKind, ModelInfo, Step};

use crate::{
    Error,
    embed::{EmbedRun, Embedder},
    tensors::{TensorRun, Tensors},
};

/// A loaded model.
#[derive(Debug)]
pub struct OrtSession {
    task: Task,
    info: ModelInfo,
}

/// What a model is for. Each task owns the sessions that it runs.
#[derive(Debug)]
enum Task {
    Embed(Embedder),
    Tensors(Tensors),
}

/// A job in flight.
#[derive(Debug)]
pub struct OrtRun(Kind);

#[derive(Debug)]
enum Kind {
    Embed(EmbedRun),
    Tensors(TensorRun),
}

impl OrtSession {
    pub(crate) fn begin(
        &mut self,
        job: Job,
        data: Bytes,
        run_options: &BTreeMap<String, String>,
    ) -> Result<OrtRun, Error> {
        Ok(OrtRun(match (&mut self.task, job.kind) {
            (Task::Embed(embedder), JobKind::Embed { texts }) => Kind::Embed(embedder.begin(texts, run_options)?),
            (Task::Tensors(tensors), JobKind::Tensors { inputs, outputs }) => {
                Kind::Tensors(tensors.begin(inputs, outputs, data, run_options)?)
            }
            (Task::Embed(_), _) => return Err(Error::Unsupported("this model embeds texts".to_owned())),
            (Task::Tensors(_), _) => return Err(Error::Unsupported("this model takes tensors".to_owned())),
        }))
    }

    pub(crate) fn step(&mut self, run: &mut OrtRun, chunks: &mut Vec<Chunk>) -> Result<Step, Failure> {
        let step = match (&mut self.task, &mut run.0) {
            (Task::Embed(embedder), Kind::Embed(run)) => embedder.step(run, chunks)?,
            (Task::Tensors(tensors), Kind::Tensors(run)) => tensors.step(run, chunks)?,
            _ => return Err(Failure::new(Code::Internal, format!("a run of another model than {}", self.info.alias))),
        };
        Ok(step)
    }
}
