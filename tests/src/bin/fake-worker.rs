//! A worker with a fake session instead of a model, for tests of what lies around workers: it answers at once, and always
//! the same. What it is for it takes from the model's name: `chat…`, `speech…`, `tensors…`, else embeddings.

use std::{path::Path, process::ExitCode};

use ebb_core::{Failure, Inspection, LoadSpec, ModelKind, fake};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match (args.next().as_ref().and_then(|arg| arg.to_str()), args.next()) {
        (None, _) => serve(),
        (Some("--inspect"), Some(path)) => {
            let path = Path::new(&path);
            let kind = kind_of(path);
            let inspection = Inspection {
                kind,
                file: path.to_owned(),
                variants: Vec::new(),
                weights_bytes: fake::WEIGHTS_BYTES,
            };
            // Hosts read it from its stdout.
            match serde_json::to_writer(std::io::stdout(), &inspection) {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            }
        }
        _ => ExitCode::FAILURE,
    }
}

fn serve() -> ExitCode {
    let load = |spec: &LoadSpec, _: &mut dyn FnMut(&str)| -> Result<_, Failure> {
        Ok(fake::FakeSession::of_kind(&spec.alias, kind_of(&spec.path)))
    };
    match ebb_worker::serve(load, std::io::stdin(), std::io::stdout()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the fake worker ends");
            ExitCode::FAILURE
        }
    }
}

fn kind_of(path: &Path) -> ModelKind {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.as_ref() {
        name if name.starts_with("chat") => ModelKind::Chat,
        name if name.starts_with("speech") => ModelKind::Audio,
        name if name.starts_with("tensors") => ModelKind::Tensors,
        _ => ModelKind::Embeddings,
    }
}
