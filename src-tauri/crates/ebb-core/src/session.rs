//! The seam between a worker and whatever runs the model: ONNX Runtime in production, [`crate::fake`] in tests.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use crate::{
    Chunk, Failure, Figures, Job, Memory, ModelInfo, Progress, ShrinkReport, Target, options::OptionLine,
};

/// What a step of a job came to.
#[derive(Debug)]
pub enum Step {
    /// There is more to do.
    More(Progress),
    /// The job is complete; its chunks have all been given.
    Done(Figures),
}

/// A loaded model, owned by one thread. Jobs advance step by step (a batch, a decode step), so that several can share the
/// model fairly and any can be cancelled between steps: dropping a [`Session::Run`] frees all that it holds.
pub trait Session: Send {
    /// A job in flight.
    type Run: Send;

    /// What was loaded.
    fn info(&self) -> &ModelInfo;

    /// The controls, which other threads use while a job runs.
    fn control(&self) -> Arc<dyn Control>;

    /// Checks a job and prepares it; `data` is the bulk data that belongs to it, `run_options` what holds for it: the
    /// model's options overlaid with the job's own, without the shrink key.
    ///
    /// # Errors
    /// Where the job does not fit the model.
    fn begin(
        &mut self,
        job: Job,
        data: Bytes,
        run_options: &BTreeMap<String, String>,
    ) -> Result<Self::Run, Failure>;

    /// Does the next piece of work and puts what is ready into `chunks`, in order. When it returns, no output lives in an
    /// arena any more.
    ///
    /// # Errors
    /// Where the model fails; the job is over then, the session goes on.
    fn step(&mut self, run: &mut Self::Run, chunks: &mut Vec<Chunk>) -> Result<Step, Failure>;
}

/// Controls of a loaded model. They answer at once, also while a job runs.
pub trait Control: Send + Sync {
    /// What the model holds now.
    ///
    /// # Errors
    /// Where the system does not tell.
    fn memory(&self) -> Result<Memory, Failure>;

    /// Gives wholly free arena regions back now, and the process heap after them; before that, caches that nobody uses now
    /// are dropped. `None`: every arena that the model has; a target without an arena is reported in
    /// [`ShrinkReport::dropped`], never an error.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses.
    fn shrink(&self, targets: Option<&[Target]>) -> Result<ShrinkReport, Failure>;

    /// As [`Control::shrink`], but the caches stay. This is what standing rules do: a rule that fires a second after each
    /// answer would else leave no conversation the cache of its last turn. Caches have a limit of their own.
    ///
    /// # Errors
    /// Where ONNX Runtime refuses.
    fn shrink_slack(&self, targets: Option<&[Target]>) -> Result<ShrinkReport, Failure>;

    /// Says what a run option will do on this model: checked, with its nearest known key where it is unknown. The worker
    /// keeps the options; a session only judges them.
    ///
    /// # Errors
    /// Where the value is malformed (see [`Target::parse_list`]) or too long for ONNX Runtime.
    fn judge_run_option(&self, key: &str, value: &str) -> Result<OptionLine, Failure>;

    /// Counts the tokens that the model's own tokenizer makes of each text, special tokens not counted.
    ///
    /// # Errors
    /// [`crate::Code::Unsupported`] where the model has no tokenizer.
    fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, Failure>;
}
