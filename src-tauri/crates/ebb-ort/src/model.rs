//! A model that is ready to serve: what it is for decides which task drives its sessions.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Instant};

use bytes::Bytes;
use ebb_core::{
    Chunk, Code, Control, Failure, Inspection, Job, JobKind, LoadOptions, LoadSpec, ModelInfo, ModelKind,
    Session, Step,
    options::{self, OptionLine, Requested},
};

use crate::{
    Error,
    control::{Counter, OrtControl},
    embed::{EmbedRun, Embedder},
    environment::{self, Runtime},
    folder,
    generate::{self, GenerateRun, Generator},
    provider::{self, Chosen},
    session::{Loaded, Opening},
    settings, sys,
    tensors::{TensorRun, Tensors},
    transcribe::{Parts, TranscribeRun, Transcriber},
};

/// A loaded model. Its parts go in the order of the fields: sessions with what they hold, then the heap that they leave.
#[derive(Debug)]
pub struct OrtSession {
    task: Task,
    control: Arc<OrtControl>,
    info: ModelInfo,
    _trim: TrimOnDrop,
}

/// What a model is for. Each task owns the sessions that it runs.
#[derive(Debug)]
enum Task {
    Embed(Box<Embedder>),
    Generate(Box<Generator>),
    Tensors(Box<Tensors>),
    Transcribe(Box<Transcriber>),
}

/// A job in flight.
#[derive(Debug)]
pub struct OrtRun(Kind);

#[derive(Debug)]
enum Kind {
    Embed(EmbedRun),
    Generate(Box<GenerateRun>),
    Tensors(TensorRun),
    Transcribe(Box<TranscribeRun>),
}

/// Gives the heap back once all that lived in it is gone.
#[derive(Debug)]
struct TrimOnDrop;

impl Drop for TrimOnDrop {
    fn drop(&mut self) {
        sys::trim_heap();
    }
}

impl Drop for OrtSession {
    fn drop(&mut self) {
        self.control.close();
    }
}

/// Loads a model. `progress` is told in words what is being done.
///
/// # Errors
/// Where the library, the model, the provider or an option does not do; see [`Error`].
pub fn open(spec: &LoadSpec, progress: &mut dyn FnMut(&str)) -> Result<OrtSession, Error> {
    let span = tracing::info_span!("load", model = spec.alias);
    let _entered = span.enter();
    let started = Instant::now();
    progress("looking at the model");
    let found = folder::inspect(&spec.path, spec.options.variant.as_deref())?;
    let defaults = match found.kind {
        ModelKind::Chat => generate::load_defaults(&spec.path)?,
        _ => LoadOptions::default(),
    };
    let given = &spec.options;
    let spec = &LoadSpec { options: given.clone().over(defaults), ..spec.clone() };
    progress("loading ONNX Runtime");
    let wanted = provider::first_wanted(spec.options.provider.as_deref());
    let runtime = environment::runtime(spec.runtime_library.as_deref(), &spec.runtime_folders, &wanted)?;
    progress("loading the model");
    let files = match found.kind {
        ModelKind::Audio => Parts::find(&spec.path, &found.file)?.files(),
        _ => vec![found.file.clone()],
    };
    let (loaded, provider, mut lines) = load(&runtime, spec, &files)?;
    if found.kind == ModelKind::Chat {
        generate::name_origin(&mut lines, given);
    }
    progress("preparing to serve");
    let session = ready(spec, found, &runtime, loaded, &provider, lines, started)?;
    // What reading the files took is of no use any more, and would else be held until the first shrink.
    sys::trim_heap();
    tracing::info!(provider = session.info.provider, load_ms = session.info.load_ms, "the model is loaded");
    Ok(session)
}

/// Loads the files on the first provider that takes them: the one that was named, or what `auto` finds.
fn load(
    runtime: &Runtime,
    spec: &LoadSpec,
    files: &[PathBuf],
) -> Result<(Vec<Loaded>, Chosen, Vec<OptionLine>), Error> {
    let options = &spec.options;
    let requested = Requested::all(options);
    let candidates =
        provider::candidates(runtime, options.provider.as_deref(), options.device, &spec.runtime_folders)?;
    let last = candidates.len() - 1;
    for (index, provider) in candidates.into_iter().enumerate() {
        let mut plan = options::plan(&requested, &provider.name)?;
        let mut lines = std::mem::take(&mut plan.lines);
        lines.extend(settings::default_line(&plan));
        let opening = Opening { runtime, files, plan: &plan, provider: &provider, threads: options.threads };
        match Loaded::open(&opening, &mut lines) {
            Ok(loaded) => return Ok((loaded, provider, lines)),
            Err(error) if index < last => {
                tracing::warn!(provider = provider.name, %error, "not usable, trying the next provider");
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::Unsupported("no execution provider was found".to_owned()))
}

fn ready(
    spec: &LoadSpec,
    found: Inspection,
    runtime: &Runtime,
    mut loaded: Vec<Loaded>,
    provider: &Chosen,
    lines: Vec<OptionLine>,
    started: Instant,
) -> Result<OrtSession, Error> {
    // The files that were asked for are there, at least one.
    let first = loaded.remove(0);
    let control =
        Arc::new(OrtControl::new(&spec.alias, provider, found.weights_bytes, Arc::clone(first.held())));
    let mut info = ModelInfo {
        alias: spec.alias.clone(),
        kind: found.kind,
        file: found.file.display().to_string(),
        provider: provider.name.clone(),
        arenas: control.targets().to_vec(),
        weights_bytes: found.weights_bytes,
        inputs: first.inputs().to_vec(),
        outputs: first.outputs().to_vec(),
        embedding: None,
        chat: None,
        audio: None,
        options: lines,
        runtime_version: runtime.library.version.clone(),
        runtime_library: runtime.library.path.display().to_string(),
        load_ms: 0,
    };
    let task = match found.kind {
        ModelKind::Embeddings => {
            let embedder = Embedder::open(&spec.path, first, &spec.options)?;
            info.embedding = Some(embedder.info().clone());
            control.count_with(Counter::Texts(Arc::clone(embedder.tokenizer())));
            Task::Embed(Box::new(embedder))
        }
        ModelKind::Chat => {
            let generator = Generator::open(&spec.path, &found.file, first, provider, &spec.options)?;
            info.chat = Some(generator.info().clone());
            control.count_with(Counter::Chat(Arc::clone(generator.language())));
            Task::Generate(Box::new(generator))
        }
        ModelKind::Audio => {
            let parts = Parts::find(&spec.path, &found.file)?;
            let transcriber = Transcriber::open(&spec.path, &parts, [first].into_iter().chain(loaded))?;
            info.audio = Some(transcriber.info().clone());
            Task::Transcribe(Box::new(transcriber))
        }
        ModelKind::Tensors => Task::Tensors(Box::new(Tensors::new(first))),
    };
    info.load_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(OrtSession { task, control, info, _trim: TrimOnDrop })
}

impl Session for OrtSession {
    type Run = OrtRun;

    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn control(&self) -> Arc<dyn Control> {
        Arc::clone(&self.control) as Arc<dyn Control>
    }

    fn begin(
        &mut self,
        job: Job,
        data: Bytes,
        run_options: &BTreeMap<String, String>,
    ) -> Result<OrtRun, Failure> {
        Ok(OrtRun(match (&mut self.task, job.kind) {
            (Task::Embed(embedder), JobKind::Embed { texts }) => {
                Kind::Embed(embedder.begin(texts, run_options)?)
            }
            (Task::Generate(generator), JobKind::Generate(generation)) => {
                Kind::Generate(Box::new(generator.begin(&generation, run_options)?))
            }
            (Task::Tensors(tensors), JobKind::Tensors { inputs, outputs }) => {
                Kind::Tensors(tensors.begin(inputs, outputs, data, run_options)?)
            }
            (Task::Transcribe(transcriber), JobKind::Transcribe(asked)) => {
                Kind::Transcribe(Box::new(transcriber.begin(&asked, data, run_options)?))
            }
            (task, job) => return Err(misfit(task, &job)),
        }))
    }

    fn step(&mut self, run: &mut OrtRun, chunks: &mut Vec<Chunk>) -> Result<Step, Failure> {
        let step = match (&mut self.task, &mut run.0) {
            (Task::Embed(embedder), Kind::Embed(run)) => embedder.step(run, chunks)?,
            (Task::Generate(generator), Kind::Generate(run)) => generator.step(run, chunks)?,
            (Task::Tensors(tensors), Kind::Tensors(run)) => tensors.step(run, chunks)?,
            (Task::Transcribe(transcriber), Kind::Transcribe(run)) => transcriber.step(run, chunks)?,
            _ => return Err(Failure::new(Code::Internal, "the job belongs to another model")),
        };
        Ok(step)
    }
}

/// A job for another kind of model.
fn misfit(task: &Task, job: &JobKind) -> Failure {
    let (takes, hint) = match task {
        Task::Embed(_) => ("texts to embed", "embed texts with it"),
        Task::Generate(_) => ("messages", "ask it for text: `ebb chat`"),
        Task::Tensors(_) => ("tensors", "run tensors through it: `ebb run`"),
        Task::Transcribe(_) => ("speech", "have it write down what is said: `ebb transcribe`"),
    };
    let asked = match job {
        JobKind::Embed { .. } => "to embed texts",
        JobKind::Tensors { .. } => "to run tensors",
        JobKind::Generate(_) => "to generate text",
        JobKind::Transcribe(_) => "to transcribe speech",
    };
    Failure::new(Code::Unsupported, format!("this model takes {takes}; it was asked {asked}"))
        .hint(format!("{hint}, or name a model of the right kind: `ebb model list`"))
        .param("model")
}
