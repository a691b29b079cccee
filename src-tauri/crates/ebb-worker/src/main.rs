//! The worker program: one process, one model, on ONNX Runtime. The host starts it and speaks frames over its stdin and
//! stdout; logs go to stderr, a JSON object a line. It ends when its stdin does.
//!
//! Besides: `ebb-worker --probe` says which library, providers and devices there are, `ebb-worker --inspect PATH` what a
//! model folder holds, both as JSON on stdout, errors in the one form of every door.

use std::{
    io::{BufReader, Write},
    path::PathBuf,
    process::ExitCode,
};

use ebb_core::{Code, ErrorBody, Failure};
use serde::Serialize;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    ebb_ort::prepare_process();
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    match first.as_ref().and_then(|arg| arg.to_str()) {
        None => serve(),
        Some("--version") => print(&env!("CARGO_PKG_VERSION")),
        Some("--probe") => answer(
            Flags::read(args).and_then(|flags| Ok(ebb_ort::probe(flags.library.as_deref(), &flags.folders)?)),
        ),
        Some("--inspect") => {
            answer(args.next().map(PathBuf::from).ok_or_else(|| usage("a path")).and_then(|path| {
                let flags = Flags::read(args)?;
                Ok(ebb_ort::inspect(&path, flags.variant.as_deref())?)
            }))
        }
        Some(other) => answer::<()>(Err(usage(&format!("no argument, --probe or --inspect, not '{other}'")))),
    }
}

/// What `--probe` and `--inspect` take besides.
#[derive(Default)]
struct Flags {
    library: Option<PathBuf>,
    folders: Vec<PathBuf>,
    variant: Option<String>,
}

impl Flags {
    fn read(mut args: impl Iterator<Item = std::ffi::OsString>) -> Result<Self, Failure> {
        let mut flags = Self::default();
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| usage("a value for each flag"))?;
            match name.to_str() {
                Some("--library") => flags.library = Some(value.into()),
                Some("--folder") => flags.folders.push(value.into()),
                Some("--variant") => flags.variant = Some(value.to_string_lossy().into_owned()),
                _ => return Err(usage("--library, --folder or --variant")),
            }
        }
        Ok(flags)
    }
}

fn usage(wanted: &str) -> Failure {
    Failure::new(Code::InvalidRequest, format!("ebb-worker takes {wanted}"))
        .hint("the host starts this program; people use `ebb`")
}

fn serve() -> ExitCode {
    let filter = EnvFilter::try_from_env("EBB_LOG").unwrap_or_else(|_| EnvFilter::new("info,ort=warn"));
    tracing_subscriber::fmt().json().with_env_filter(filter).with_writer(std::io::stderr).init();
    let stdout = match own_stdout() {
        Ok(stdout) => stdout,
        Err(error) => {
            tracing::error!(%error, "stdout cannot be used");
            return ExitCode::FAILURE;
        }
    };
    let load = |spec: &ebb_core::LoadSpec, progress: &mut dyn FnMut(&str)| {
        ebb_ort::open(spec, progress).map_err(Failure::from)
    };
    match ebb_worker::serve(load, BufReader::with_capacity(64 << 10, std::io::stdin()), stdout) {
        Ok(true) => ExitCode::SUCCESS,
        // A step still runs; ending in the usual way would tear ONNX Runtime down under it.
        Ok(false) => end_at_once(),
        Err(error) => {
            let because = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::error!(%error, because, "the worker ends");
            ExitCode::FAILURE
        }
    }
}

/// The way to the host, and nobody else's: whatever a library prints goes to stderr instead of between the frames.
#[cfg(unix)]
fn own_stdout() -> std::io::Result<impl Write + Send> {
    let own = std::fs::File::from(rustix::io::dup(std::io::stdout())?);
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(own)
}

/// The way to the host.
#[cfg(not(unix))]
fn own_stdout() -> std::io::Result<impl Write + Send> {
    Ok(std::io::stdout())
}

#[cfg(unix)]
fn end_at_once() -> ExitCode {
    let killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    tracing::error!(?killed, "the worker could not end itself");
    ExitCode::FAILURE
}

#[cfg(not(unix))]
fn end_at_once() -> ExitCode {
    std::process::abort()
}

fn answer<T: Serialize>(result: Result<T, Failure>) -> ExitCode {
    match result {
        Ok(value) => print(&value),
        Err(failure) => {
            print(&ErrorBody::from(failure));
            ExitCode::FAILURE
        }
    }
}

fn print(value: &impl Serialize) -> ExitCode {
    let written = serde_json::to_writer(std::io::stdout(), value);
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
