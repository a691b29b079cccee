//! Model files in memory: their ONNX Runtime sessions, on one arena.

mod bound;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use ebb_core::{
    DType, Target, TensorInfo,
    options::{ExtendStrategy, OptionLine, Plan, SHRINK_KEY},
};
use ort::{
    ErrorCode,
    session::{
        OutputSelector, RunOptions, Session, SessionInputValue, SessionInputs, SessionOutputs,
        builder::SessionBuilder,
    },
    value::{Outlet, TensorElementType, ValueType},
};

use crate::{
    Error,
    arena::{Arena, Registration},
    environment::Runtime,
    held::Held,
    provider::Chosen,
    settings,
    tick::Tick,
};

/// Least room that a cap must leave beside the weights. At or below them ONNX Runtime's own arithmetic underflows and the cap
/// is void.
const HEADROOM_BYTES: u64 = 64 << 10;

/// An input of a run: its name and its value, which is only borrowed, so that a run can be tried again.
pub(crate) type Input<'a, 'v> = (&'a str, SessionInputValue<'v>);

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran<T> {
    /// What was made of the outputs.
    pub(crate) value: T,
    /// How often the arena's cap was hit, the arena shrunk, and the run tried again.
    pub(crate) cap_retries: u32,
}

/// How the files of a model are to be loaded.
pub(crate) struct Opening<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) files: &'a [PathBuf],
    pub(crate) plan: &'a Plan,
    pub(crate) provider: &'a Chosen,
    pub(crate) threads: Option<u32>,
}

/// A model file in memory, owned by the task that runs it. What it holds goes before the session itself.
#[derive(Debug)]
pub(crate) struct Loaded {
    held: Arc<Held>,
    /// Which of the model's sessions this is.
    index: usize,
    session: Session,
    inputs: Vec<TensorInfo>,
    outputs: Vec<TensorInfo>,
}

impl Loaded {
    /// Loads the files of a model in their order, all on one arena of its own as planned. `lines` get what the sessions show
    /// of their options.
    ///
    /// # Errors
    /// [`Error::Model`] where one is none, [`Error::CapBelowWeights`], [`Error::Provider`], [`Error::Option`].
    pub(crate) fn open(opening: &Opening<'_>, lines: &mut [OptionLine]) -> Result<Vec<Self>, Error> {
        let limit_bytes = limit(opening)?;
        let (loaded, builder) = Self::create(opening, limit_bytes)?;
        let Some(held) = loaded.first().map(Self::held) else { return Ok(loaded) };
        if let (Some(limit_bytes), Some(stats)) = (limit_bytes, held.cpu_stats()) {
            let needed_bytes = stats.reserved_bytes + HEADROOM_BYTES;
            if limit_bytes < needed_bytes {
                return Err(Error::CapBelowWeights {
                    limit_bytes,
                    weights_bytes: stats.reserved_bytes,
                    needed_bytes,
                });
            }
        }
        settings::show(lines, opening.plan, &builder, held);
        Ok(loaded)
    }

    /// Creates the sessions. The arena is registered for as long as that takes, on every way out.
    fn create(opening: &Opening<'_>, limit_bytes: Option<u64>) -> Result<(Vec<Self>, SessionBuilder), Error> {
        let Opening { runtime, files, plan, provider, threads } = *opening;
        let mut builder = settings::builder(runtime, plan, provider, threads)?;
        let failed = |error: Error, file: &Path| at_load(error, file, provider, limit_bytes);
        let first = files.first().map_or(Path::new(""), PathBuf::as_path);
        let registration = plan
            .arena
            .as_ref()
            .map(|arena| Registration::new(&runtime.environment, arena, limit_bytes))
            .transpose()?;
        let tick = registration
            .is_some()
            .then(|| Tick::new(&runtime.environment))
            .transpose()
            .map_err(|error| failed(error, first))?;
        if let Some(tick) = &tick
            && plan.arena.as_ref().is_some_and(|arena| arena.strategy == ExtendStrategy::NextPowerOfTwo)
        {
            tick.prime().map_err(|error| failed(error, first))?;
        }
        let mut sessions = Vec::new();
        for file in files {
            let session = builder.commit_from_file(file).map_err(Error::runtime("load the model"));
            sessions.push(session.map_err(|error| failed(error, file))?);
        }
        let refused = registration.as_ref().map(|made| made.refused().to_vec()).unwrap_or_default();
        drop(registration);
        let held = Held::new(sessions.len(), arenas_of(&sessions, provider)?, tick, refused);
        // Loading leaves free regions behind; from here on, what is reserved is what the model needs.
        held.shrink_cpu()?;
        let held = Arc::new(held);
        let loaded = sessions.into_iter().enumerate().map(|(index, session)| {
            let inputs = session.inputs().iter().map(described).collect();
            let outputs = session.outputs().iter().map(described).collect();
            Self { held: Arc::clone(&held), index, session, inputs, outputs }
        });
        Ok((loaded.collect(), builder))
    }

    /// What other threads may look at and shrink.
    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// What it takes.
    pub(crate) fn inputs(&self) -> &[TensorInfo] {
        &self.inputs
    }

    /// What it gives.
    pub(crate) fn outputs(&self) -> &[TensorInfo] {
        &self.outputs
    }

    /// Runs the model. `wanted` names the outputs, none: all. `take` copies out of them what is needed: when this
    /// returns, no output lives in the arena any more. At the arena's cap the arena is shrunk and the run tried once more.
    ///
    /// # Errors
    /// [`Error::ArenaLimit`] at the cap; [`Error::Request`] where the inputs do not fit the model; what `take` returns.
    pub(crate) fn run<T>(
        &mut self,
        inputs: &[Input<'_, '_>],
        wanted: &[&str],
        run_options: &BTreeMap<String, String>,
        take: impl FnOnce(&SessionOutputs<'_>) -> Result<T, Error>,
    ) -> Result<Ran<T>, Error> {
        let shrink = self.held.waiting(self.index);
        let options = prepared(run_options, &shrink)?.with_outputs(selected(wanted));
        let mut cap_retries = 0;
        loop {
            match self.session.run_with_options(borrowed(inputs), &options) {
                Ok(outputs) => {
                    self.held.shrunk(self.index, &shrink);
                    return Ok(Ran { value: take(&outputs)?, cap_retries });
                }
                Err(error) => retry(&self.held, error, &mut cap_retries)?,
            }
        }
    }
}

/// What to make of a run, or of an allocation in the arena, that failed: at the cap, for the first time, room is made so that
/// it can be tried again.
///
/// # Errors
/// The failure itself where there is no second try; [`Error::ArenaLimit`] at the cap.
pub(crate) fn retry(held: &Held, error: ort::Error, cap_retries: &mut u32) -> Result<(), Error> {
    let hit = LimitHit::read(error.message()).ok_or_else(|| at_run(error))?;
    if *cap_retries > 0 {
        return Err(Error::ArenaLimit {
            limit_bytes: held.cpu_stats().and_then(|stats| stats.limit_bytes).unwrap_or(0),
            requested_bytes: hit.requested_bytes,
            available_bytes: hit.available_bytes,
        });
    }
    // Regions of earlier shapes lie idle under the cap; without them the same run may fit.
    tracing::debug!(hit.requested_bytes, hit.available_bytes, "at the arena's cap: shrinking, trying again");
    held.make_room()?;
    *cap_retries += 1;
    Ok(())
}

/// The cap of the arena: as given, or on top of what the weights take. That is known only once they are loaded, and a cap is
/// set when the arena is made, so the model is loaded once without one.
fn limit(opening: &Opening<'_>) -> Result<Option<u64>, Error> {
    let Some(arena) = &opening.plan.arena else { return Ok(None) };
    let Some(working_bytes) = arena.working_mem_bytes else { return Ok(arena.max_mem_bytes) };
    let (measured, _) = Loaded::create(opening, None)?;
    let held = measured.first().map(Loaded::held);
    let weights_bytes = held.and_then(|held| held.cpu_stats()).unwrap_or_default().reserved_bytes;
    let limit_bytes = weights_bytes.saturating_add(working_bytes);
    Ok(Some(arena.max_mem_bytes.map_or(limit_bytes, |cap| cap.min(limit_bytes))))
}

/// The one CPU arena, and each session's own arena on its GPU.
fn arenas_of(sessions: &[Session], provider: &Chosen) -> Result<Vec<Arena>, Error> {
    let Some(first) = sessions.first() else { return Ok(Vec::new()) };
    let gpu = provider.gpu_arena();
    let gpus = gpu.iter().flat_map(|(memory_name, device)| {
        sessions.iter().filter_map(move |session| Arena::of_gpu(session, memory_name, *device))
    });
    Ok(Arena::of_cpu(first)?.into_iter().chain(gpus).collect())
}

/// What a failure to load means.
fn at_load(error: Error, file: &Path, provider: &Chosen, limit_bytes: Option<u64>) -> Error {
    let Error::Runtime { source, .. } = &error else { return error };
    let message = source.message();
    if let (Some(hit), Some(limit_bytes)) = (LimitHit::read(message), limit_bytes) {
        return Error::CapBelowWeights {
            limit_bytes,
            weights_bytes: limit_bytes.saturating_sub(hit.available_bytes),
            needed_bytes: limit_bytes.saturating_sub(hit.available_bytes) + hit.requested_bytes,
        };
    }
    if is_out_of_memory(message) {
        return Error::OutOfMemory { reason: message.to_owned() };
    }
    // A driver that is missing or too old shows only here, with codes that say little.
    let of_provider = matches!(
        source.code(),
        ErrorCode::ExecutionProviderFailure
            | ErrorCode::EngineError
            | ErrorCode::RuntimeException
            | ErrorCode::GenericFailure
    ) && !message.contains("Load model from");
    if of_provider && !provider.is_cpu() {
        return provider.unavailable(message);
    }
    Error::invalid_model(file, message)
}

/// What a failure to run means.
fn at_run(error: ort::Error) -> Error {
    match error.code() {
        _ if is_out_of_memory(error.message()) => Error::OutOfMemory { reason: error.message().to_owned() },
        ErrorCode::InvalidArgument => {
            Error::Request { message: error.message().to_owned(), param: None, hint: None }
        }
        _ => Error::Runtime { doing: "run the model", source: error },
    }
}

fn is_out_of_memory(message: &str) -> bool {
    ["bad_alloc", "Failed to allocate memory", "bad allocation"].iter().any(|sign| message.contains(sign))
}

/// What ONNX Runtime's arena says when an allocation would pass its cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LimitHit {
    available_bytes: u64,
    requested_bytes: u64,
}

impl LimitHit {
    /// Reads "Available memory of X is smaller than requested bytes of Y"; there is no code for it.
    fn read(message: &str) -> Option<Self> {
        let (_, rest) = message.split_once("Available memory of ")?;
        let (available, rest) = rest.split_once(" is smaller than requested bytes of ")?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some(Self { available_bytes: available.parse().ok()?, requested_bytes: rest[..digits].parse().ok()? })
    }
}

/// Run options that hold for every run of a job; `shrink` for the one that they are made for.
///
/// # Errors
/// [`Error::Option`] where ONNX Runtime refuses one.
pub(crate) fn prepared(
    run_options: &BTreeMap<String, String>,
    shrink: &[Target],
) -> Result<RunOptions, Error> {
    let mut options = RunOptions::new().map_err(Error::runtime("make run options"))?;
    let targets = shrink.iter().map(ToString::to_string).collect::<Vec<_>>().join(";");
    let shrink = (!targets.is_empty()).then(|| (SHRINK_KEY.to_owned(), targets));
    let given = run_options.iter().filter(|(key, _)| *key != SHRINK_KEY);
    for (key, value) in given.chain(shrink.as_ref().map(|(key, value)| (key, value))) {
        options.set(key, value).map_err(|error| Error::Option {
            key: key.clone(),
            value: value.clone(),
            reason: error.message().to_owned(),
        })?;
    }
    Ok(options)
}

fn selected(wanted: &[&str]) -> OutputSelector {
    let selector = if wanted.is_empty() { OutputSelector::default() } else { OutputSelector::no_default() };
    wanted.iter().fold(selector, |selector, name| selector.with(*name))
}

fn borrowed<'a>(inputs: &'a [Input<'_, '_>]) -> SessionInputs<'a, 'a> {
    SessionInputs::ValueMap(
        inputs
            .iter()
            .map(|(name, value)| (Cow::Borrowed(*name), SessionInputValue::View(value.view())))
            .collect(),
    )
}

fn described(outlet: &Outlet) -> TensorInfo {
    let (dtype, shape) = match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => (dtype_of(*ty), shape.to_vec()),
        _ => (None, Vec::new()),
    };
    TensorInfo { name: outlet.name().to_owned(), dtype, shape }
}

/// The type that Ebb passes for an element type of ONNX Runtime.
pub(crate) fn dtype_of(element: TensorElementType) -> Option<DType> {
    Some(match element {
        TensorElementType::Float16 => DType::Float16,
        TensorElementType::Bfloat16 => DType::BFloat16,
        TensorElementType::Float32 => DType::Float32,
        TensorElementType::Float64 => DType::Float64,
        TensorElementType::Int8 => DType::Int8,
        TensorElementType::Int16 => DType::Int16,
        TensorElementType::Int32 => DType::Int32,
        TensorElementType::Int64 => DType::Int64,
        TensorElementType::Uint8 => DType::UInt8,
        TensorElementType::Uint16 => DType::UInt16,
        TensorElementType::Uint32 => DType::UInt32,
        TensorElementType::Uint64 => DType::UInt64,
        TensorElementType::Bool => DType::Bool,
        _ => return None,
    })
}

/// The element type of ONNX Runtime for a type that Ebb passes.
pub(crate) fn element_of(dtype: DType) -> TensorElementType {
    match dtype {
        DType::Float16 => TensorElementType::Float16,
        DType::BFloat16 => TensorElementType::Bfloat16,
        DType::Float32 => TensorElementType::Float32,
        DType::Float64 => TensorElementType::Float64,
        DType::Int8 => TensorElementType::Int8,
        DType::Int16 => TensorElementType::Int16,
        DType::Int32 => TensorElementType::Int32,
        DType::Int64 => TensorElementType::Int64,
        DType::UInt8 => TensorElementType::Uint8,
        DType::UInt16 => TensorElementType::Uint16,
        DType::UInt32 => TensorElementType::Uint32,
        DType::UInt64 => TensorElementType::Uint64,
        DType::Bool => TensorElementType::Bool,
    }
}

#[cfg(test)]
mod tests;
