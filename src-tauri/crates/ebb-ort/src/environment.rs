//! ONNX Runtime in this process: one library, one environment, for good.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ort::{environment::Environment, logging::LogLevel};
use tracing::Level;

use crate::{Error, library, library::Library};

/// The target under which ONNX Runtime's own log lines go out.
const LOG_TARGET: &str = "onnxruntime";

/// Held for as long as the process lives: ONNX Runtime allows one environment for each process, and the crate `ort` one
/// library.
static RUNTIME: Mutex<Option<Arc<Runtime>>> = Mutex::new(None);

/// ONNX Runtime, loaded.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) environment: Environment,
    pub(crate) library: Library,
    /// Libraries of plug-in providers that were registered, by their path, with what came of it.
    pub(crate) plug_ins: Mutex<BTreeMap<PathBuf, Result<(), String>>>,
}

/// Loads ONNX Runtime, preferably a library that has `provider`, or gives what is loaded already.
///
/// # Errors
/// [`Error::Library`], [`Error::OtherLibrary`].
pub(crate) fn runtime(
    named: Option<&Path>,
    folders: &[PathBuf],
    provider: &str,
) -> Result<Arc<Runtime>, Error> {
    let mut place = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*place {
        return match named {
            Some(wanted) if !same_file(wanted, &runtime.library.path) => {
                Err(Error::OtherLibrary { loaded: runtime.library.path.clone(), wanted: wanted.to_owned() })
            }
            _ => Ok(Arc::clone(runtime)),
        };
    }
    if std::env::var_os("ORT_DISABLE_TELEMETRY").is_none_or(|value| value != "1") {
        tracing::warn!("ORT_DISABLE_TELEMETRY is not set to 1: ONNX Runtime will write telemetry files");
    }
    let library = library::find(named, folders, provider)?;
    let runtime =
        Arc::new(Runtime { environment: environment(&library)?, library, plug_ins: Mutex::default() });
    tracing::info!(path = %runtime.library.path.display(), version = runtime.library.version, "ONNX Runtime is loaded");
    *place = Some(Arc::clone(&runtime));
    Ok(runtime)
}

fn same_file(wanted: &Path, loaded: &Path) -> bool {
    let wanted = wanted.canonicalize().unwrap_or_else(|_| wanted.to_owned());
    wanted == *loaded || (wanted.is_dir() && loaded.starts_with(wanted))
}

fn environment(library: &Library) -> Result<Environment, Error> {
    let refused = |reason: String| Error::Library {
        tried: vec![library::Attempt { path: library.path.clone(), reason }],
    };
    let environment = ort::init_from(&library.path)
        .map_err(|error| refused(error.to_string()))?
        .with_name("ebb")
        .with_telemetry(false)
        .with_logger(Arc::new(log))
        .build()
        .map_err(|error| refused(error.message().to_owned()))?;
    // ONNX Runtime formats every line that its level lets through, whether or not anyone reads it.
    environment.set_log_level(if tracing::enabled!(target: LOG_TARGET, Level::TRACE) {
        LogLevel::Verbose
    } else if tracing::enabled!(target: LOG_TARGET, Level::DEBUG) {
        LogLevel::Info
    } else {
        LogLevel::Warning
    });
    Ok(environment)
}

/// ONNX Runtime's log lines in ours. Its Info is our debug: it tells of every arena extension.
fn log(level: LogLevel, category: &str, id: &str, place: &str, message: &str) {
    match level {
        LogLevel::Verbose => tracing::trace!(target: LOG_TARGET, category, id, place, "{message}"),
        LogLevel::Info => tracing::debug!(target: LOG_TARGET, category, id, place, "{message}"),
        LogLevel::Warning => tracing::warn!(target: LOG_TARGET, category, id, place, "{message}"),
        LogLevel::Error | LogLevel::Fatal => {
            tracing::error!(target: LOG_TARGET, category, id, place, "{message}");
        }
    }
}
