//! Carrying a plan out: session options before the session is made, and what shows afterwards that they hold.

use std::{fs, thread};

use ebb_core::{
    Code, Failure,
    options::{OptionLine, Plan, Scope, SessionPlan},
};
use ort::session::{
    Session,
    builder::{BuilderResult, GraphOptimizationLevel, SessionBuilder},
};

use crate::{Error, environment::Runtime, held::Held, provider::Chosen, sys};

/// Entries that Ebb decides by itself, by the plan of the arena: given by hand they would part the model from the arena that
/// was registered for it.
const OURS: [&str; 2] = ["session.use_env_allocators", "session.enable_cpu_mem_arena"];

/// Whether threads of the intra-op pool burn their core while they wait for work. ONNX Runtime's default suits one model
/// that has the machine to itself. Beside other work it doubles latency (MiniLM, 2 threads, busy machine: a short text 7.2
/// instead of 3.5 ms), and a model that is asked 50 times a second takes 93 % of a core instead of 19 %.
const SPINNING: &str = "session.intra_op.allow_spinning";

/// Most threads that a model takes by itself. Beyond four, small models gain little, and several workers share the cores.
const MOST_THREADS: usize = 4;

/// Most threads that a pool may be asked for. ONNX Runtime starts them all while it loads, and thousands bring the machine
/// to its knees before anything could be said: no machine that runs this has so many cores.
const TOO_MANY_THREADS: u32 = 1024;

/// The session options of a plan.
///
/// # Errors
/// [`Error::Option`] with what ONNX Runtime refuses, [`Error::Provider`].
pub(crate) fn builder(
    runtime: &Runtime,
    plan: &Plan,
    provider: &Chosen,
    threads: Option<u32>,
) -> Result<SessionBuilder, Error> {
    let session = &plan.session;
    let made = Session::builder(&runtime.environment).map_err(Error::runtime("make session options"))?;
    let mut builder = if plan.arena.is_some() {
        made.with_env_allocators()
    } else {
        made.with_config_entry("session.enable_cpu_mem_arena", "0")
    }
    .map_err(|error| refusal("session.enable_cpu_mem_arena", "", &error))?;
    let threads = sane_threads(threads.or(session.intra_threads).unwrap_or_else(default_threads))?;
    builder = set(builder.with_intra_threads(threads as usize), "intra_op_num_threads", threads)?;
    builder = typed(builder, session)?;
    if !spinning_is_given(plan) {
        builder = set(builder.with_config_entry(SPINNING, "0"), SPINNING, "0")?;
    }
    for (key, value) in session.entries.iter().filter(|(key, _)| !OURS.contains(&key.as_str())) {
        builder = set(builder.with_config_entry(key, value), key, value)?;
    }
    let options = plan.providers.iter().find(|options| options.name == provider.name);
    let options = options.map(|options| options.options.as_slice()).unwrap_or_default();
    if let Some((key, value)) = options.iter().find(|(key, value)| key.contains('\0') || value.contains('\0'))
    {
        return Err(Error::Option {
            key: key.clone(),
            value: value.clone(),
            reason: "it holds a NUL byte".to_owned(),
        });
    }
    provider.apply(runtime, builder, options)
}

/// What has a typed call; as an entry ONNX Runtime would ignore it.
fn typed(mut builder: SessionBuilder, session: &SessionPlan) -> Result<SessionBuilder, Error> {
    if let Some(threads) = session.inter_threads {
        let threads = sane_threads(threads)?;
        builder = set(builder.with_inter_threads(threads as usize), "inter_op_num_threads", threads)?;
    }
    if let Some(parallel) = session.parallel_execution {
        builder = set(builder.with_parallel_execution(parallel), "execution_mode", parallel)?;
    }
    if let Some(level) = session.graph_optimization_level {
        let meant = optimization_level(level).ok_or_else(|| Error::Option {
            key: "graph_optimization_level".to_owned(),
            value: level.to_string(),
            reason: "it is 0, 1, 2, 3 or 99".to_owned(),
        })?;
        builder = set(builder.with_optimization_level(meant), "graph_optimization_level", level)?;
    }
    if let Some(on) = session.mem_pattern {
        builder = set(builder.with_memory_pattern(on), "enable_mem_pattern", on)?;
    }
    if let Some(path) = &session.optimized_model_path {
        builder = set(builder.with_optimized_model_path(path), "optimized_model_path", path)?;
    }
    if let Some(prefix) = &session.profiling_prefix {
        builder = set(builder.with_profiling(prefix), "profiling", prefix)?;
    }
    if let Some(id) = &session.log_id {
        builder = set(builder.with_log_id(id), "log_id", id)?;
    }
    if let Some(level) = session.log_severity {
        builder = set(builder.with_log_level(log_level(level)), "log_severity_level", level)?;
    }
    if let Some(level) = session.log_verbosity {
        builder = set(builder.with_log_verbosity(level), "log_verbosity_level", level)?;
    }
    if let Some(on) = session.deterministic {
        builder = set(builder.with_deterministic_compute(on), "use_deterministic_compute", on)?;
    }
    Ok(builder)
}

fn set(result: BuilderResult, key: &str, value: impl ToString) -> Result<SessionBuilder, Error> {
    result.map_err(|error| refusal(key, &value.to_string(), &error))
}

fn refusal(key: &str, value: &str, error: &ort::Error<SessionBuilder>) -> Error {
    Error::Option { key: key.to_owned(), value: value.to_owned(), reason: error.message().to_owned() }
}

fn optimization_level(level: u32) -> Option<GraphOptimizationLevel> {
    Some(match level {
        0 => GraphOptimizationLevel::Disable,
        1 => GraphOptimizationLevel::Level1,
        2 => GraphOptimizationLevel::Level2,
        3 => GraphOptimizationLevel::Level3,
        99 => GraphOptimizationLevel::All,
        _ => return None,
    })
}

fn log_level(level: u32) -> ort::logging::LogLevel {
    use ort::logging::LogLevel;
    match level {
        0 => LogLevel::Verbose,
        1 => LogLevel::Info,
        2 => LogLevel::Warning,
        3 => LogLevel::Error,
        _ => LogLevel::Fatal,
    }
}

/// # Errors
/// [`Error::Failure`] where a pool would be too large.
fn sane_threads(threads: u32) -> Result<u32, Error> {
    if threads <= TOO_MANY_THREADS {
        return Ok(threads);
    }
    let message = format!("a pool of {threads} threads is too large: at most {TOO_MANY_THREADS}");
    let refused = Failure::new(Code::InvalidValue, message);
    Err(Error::Failure(refused.hint("more threads than cores only slow a model down").param("threads")))
}

/// Threads for a model that says nothing: the physical cores, because two threads on one core share its arithmetic, and at
/// most [`MOST_THREADS`].
pub(crate) fn default_threads() -> u32 {
    let logical = thread::available_parallelism().map_or(1, usize::from);
    let threads = physical_cores().unwrap_or(logical).min(logical).clamp(1, MOST_THREADS);
    u32::try_from(threads).unwrap_or(1)
}

/// Cores of the machine, where the system tells: each core is named by the hardware threads that it runs.
fn physical_cores() -> Option<usize> {
    let mut cores = std::collections::BTreeSet::new();
    for entry in fs::read_dir("/sys/devices/system/cpu").ok()?.filter_map(Result::ok) {
        if let Ok(siblings) = fs::read_to_string(entry.path().join("topology/thread_siblings_list")) {
            cores.insert(siblings);
        }
    }
    (!cores.is_empty()).then_some(cores.len())
}

/// Fills in what the loaded session shows of each option.
pub(crate) fn show(lines: &mut [OptionLine], plan: &Plan, builder: &SessionBuilder, held: &Held) {
    for line in lines.iter_mut().filter(|line| line.effective.is_none()) {
        let Some(forwarded) = line.forwarded.as_deref() else { continue };
        let key = forwarded.split_once('=').map_or(forwarded, |(key, _)| key);
        if !matches!(line.scope, Scope::Arena | Scope::Session) {
            continue;
        }
        if held.refused.iter().any(|refused| refused == key) {
            line.effective = Some("no effect".to_owned());
            let said = "ONNX Runtime refused this key; the arena was made without it";
            let note = line.note.take().map_or_else(|| said.to_owned(), |note| format!("{said}; {note}"));
            line.note = Some(note);
            line.warning = true;
        } else if ["session.enable_cpu_mem_arena", "CreateAndRegisterAllocator"].contains(&key) {
            line.effective = Some(u8::from(held.cpu_stats().is_some()).to_string());
        } else if line.scope == Scope::Arena {
            line.effective = arena_shows(key, plan, held);
        } else {
            line.effective = sys::config_entry(builder, key);
        }
    }
}

/// What shows of an arena's key: the cap by its statistics, the rest by what it was made with.
fn arena_shows(key: &str, plan: &Plan, held: &Held) -> Option<String> {
    let arena = plan.arena.as_ref()?;
    let bytes = match key {
        "arena_extend_strategy" => return Some(arena.strategy.name().to_owned()),
        "max_mem" => held.cpu_stats().and_then(|stats| stats.limit_bytes),
        "initial_chunk_size_bytes" => arena.initial_chunk_size_bytes,
        "max_dead_bytes_per_chunk" => arena.max_dead_bytes_per_chunk,
        "initial_growth_chunk_size_bytes" => arena.initial_growth_chunk_size_bytes,
        "max_power_of_two_extend_bytes" => arena.max_power_of_two_extend_bytes,
        other => arena.more.iter().find(|(key, _)| key == other).map(|(_, value)| *value),
    };
    bytes.map(|bytes| bytes.to_string())
}

/// The line for what Ebb sets by itself here, where the user did not.
pub(crate) fn default_line(plan: &Plan) -> Option<OptionLine> {
    (!spinning_is_given(plan)).then(|| OptionLine {
        scope: Scope::Session,
        key: SPINNING.to_owned(),
        requested: String::new(),
        forwarded: Some(format!("{SPINNING}=0")),
        effective: None,
        note: Some(
            "Ebb's default: the threads of several models share the cores, so idle ones sleep".to_owned(),
        ),
        warning: false,
    })
}

fn spinning_is_given(plan: &Plan) -> bool {
    plan.session.entries.iter().any(|(key, _)| key == SPINNING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_pool_is_refused_before_it_is_made() {
        assert!(matches!(sane_threads(4), Ok(4)));
        let refused = sane_threads(1_000_000).unwrap_err().to_string();
        assert!(refused.contains("1000000") && refused.contains("1024"), "{refused}");
    }
}
