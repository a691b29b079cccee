//! What host and worker say to each other. Requests of the host carry an id of its own choice, which every answer repeats.

use ebb_core::{
    ChunkBody, Failure, Figures, Job, LoadSpec, ModelInfo, Outcome, Progress, Sample, ShrinkReport, Target,
    options::OptionLine,
};
use serde::{Deserialize, Serialize};

/// From the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Load this model: the first message, and sent once.
    Load(Box<LoadSpec>),
    /// Do this job; its bulk data is the frame's tail.
    Run {
        /// Names the job.
        id: u64,
        /// The job.
        job: Box<Job>,
        /// Chunks that may come before the host asks for more with [`ToWorker::Credit`].
        credit: u32,
    },
    /// More chunks of a job may come: the reader took some.
    Credit {
        /// The job.
        id: u64,
        /// How many more.
        chunks: u32,
    },
    /// Give a job up. It is answered with a failure of code `cancelled`, unless it ended before.
    Cancel {
        /// The job.
        id: u64,
    },
    /// A control, answered at once, also while a job runs.
    Ask {
        /// Names the question.
        id: u64,
        /// The question.
        ask: Ask,
    },
}

/// A control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// What the model holds now.
    Sample,
    /// Shrink now, and drop idle caches before; `None`: every arena.
    Shrink {
        /// Which arenas.
        targets: Option<Vec<Target>>,
    },
    /// Shrink now, and leave the caches; `None`: every arena.
    ShrinkSlack {
        /// Which arenas.
        targets: Option<Vec<Target>>,
    },
    /// Shrink at the end of the next request to end.
    ShrinkAfterNextRun {
        /// Which arenas.
        targets: Option<Vec<Target>>,
    },
    /// Set a run option; an empty value removes it.
    SetRunOption {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// Which run options hold.
    RunOptions,
    /// How many tokens the model's tokenizer makes of each text.
    CountTokens {
        /// The texts.
        texts: Vec<String>,
    },
}

/// Answer to a control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// To [`Ask::Sample`].
    Sample {
        /// What it holds.
        sample: Sample,
        /// The run at whose end it will shrink, counted since load from 1; `None`: no shrink is armed.
        shrink_after_run: Option<u64>,
    },
    /// To [`Ask::Shrink`] and [`Ask::ShrinkSlack`].
    Shrunk(ShrinkReport),
    /// To [`Ask::ShrinkAfterNextRun`].
    Armed {
        /// The run at whose end it will shrink, counted since load from 1.
        run: u64,
    },
    /// To [`Ask::SetRunOption`] and [`Ask::RunOptions`]: all that hold.
    RunOptions(Vec<OptionLine>),
    /// To [`Ask::CountTokens`]: one count a text.
    Tokens(Vec<u32>),
}

/// From the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// Loading has come this far.
    Loading {
        /// In words.
        stage: String,
    },
    /// The model is ready.
    Loaded {
        /// What was loaded.
        info: Box<ModelInfo>,
        /// What it holds.
        sample: Sample,
    },
    /// The model could not be loaded; the worker ends.
    LoadFailed(Failure),
    /// A job has come this far.
    Progress {
        /// The job.
        id: u64,
        /// How far.
        progress: Progress,
    },
    /// A part of a job's answer; its data is the frame's tail.
    Chunk {
        /// The job.
        id: u64,
        /// What it is.
        body: ChunkBody,
    },
    /// A job is complete.
    Done {
        /// The job.
        id: u64,
        /// What it amounted to.
        figures: Figures,
    },
    /// A job failed, or was given up.
    Failed {
        /// The job.
        id: u64,
        /// Why.
        failure: Failure,
    },
    /// Answer to a control.
    Answer {
        /// The question.
        id: u64,
        /// The answer.
        answer: Result<Answer, Failure>,
    },
    /// Told after a job's answer is out, and after what was to be shrunk at its end.
    Ended(Box<Ended>),
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its number since load, from 1.
    pub run: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// From the start of the work to the answer.
    pub took_us: u64,
    /// Items of the request.
    pub items: u32,
    /// How often the cap was hit and the run tried again.
    pub cap_retries: u32,
    /// What the model holds now.
    pub sample: Sample,
    /// What was shrunk at its end, and because of what.
    pub shrink: Option<(Cause, Result<ShrinkReport, Failure>)>,
}

/// Why memory was given back at the end of a job; where several hold, the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// [`Ask::ShrinkAfterNextRun`].
    AfterRun,
    /// The job itself asked for it.
    Request,
    /// The run option that shrinks after each request.
    RuntimeOption,
}

impl Cause {
    /// As events write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AfterRun => "after_run",
            Self::Request => "request",
            Self::RuntimeOption => "runtime_option",
        }
    }
}
