//! Foreign weights, made into ONNX.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use ebb_core::{
    Code, Failure,
    operations::{ImportModel, PullProgress, PullStage},
};
use ebb_import::{Imported, Options, Progress, Stage};

use super::{PullStream, Telling, at};
use crate::{Host, host::failed_task, names};

impl Host {
    /// Makes an ONNX model of foreign weights in Ebb's folder of models, and adds it. What is ONNX already is added where it
    /// lies.
    ///
    /// # Errors
    /// Where the path is not absolute, or the alias is none or taken. What the import fails with is the last piece.
    pub async fn import_model(&self, request: ImportModel) -> Result<PullStream, Failure> {
        let ImportModel { path, alias, force } = request;
        if !path.is_absolute() {
            // The host's current folder is not the caller's.
            let message = format!("{} is not an absolute path", path.display());
            return Err(Failure::new(Code::InvalidRequest, message)
                .hint("give the whole path of the folder or file")
                .param("path"));
        }
        // A file of safetensors is imported with what lies beside it.
        let path = match path.parent() {
            Some(folder) if has_ending(&path, "safetensors") => folder.to_owned(),
            _ => path,
        };
        let name = named(&path);
        let alias = alias.unwrap_or_else(|| names::alias_of(&name));
        names::check_alias(&alias)?;
        let folder = self.inner.places.models_folder().join(format!("{}--onnx", names::alias_of(&name)));
        let is_onnx = has_ending(&path, "onnx") || has_ending(&path, "ort");
        let place = if is_onnx { &path } else { &folder };
        self.check_new_alias(&alias, place)?;
        let host = self.clone();
        Ok(PullStream::begin(self, |telling| async move {
            let place = if is_onnx {
                path
            } else {
                match made(path.clone(), folder.clone(), force, telling.clone()).await {
                    Ok(_) => folder,
                    Err(Refused::AlreadyOnnx) => path,
                    Err(Refused::Other(failure)) => return Err(failure),
                }
            };
            telling.tell(at(PullStage::Adding));
            host.add_fetched(place, alias).await
        }))
    }
}

/// Why nothing was made.
#[derive(Debug)]
pub(super) enum Refused {
    /// There is nothing to make.
    AlreadyOnnx,
    /// It failed.
    Other(Failure),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::AlreadyOnnx => Self::new(Code::InvalidModel, "what was downloaded is ONNX already"),
            Refused::Other(failure) => failure,
        }
    }
}

/// Imports on a thread of its own. Dropping the future makes the import give up: it then removes what it began.
pub(super) async fn made(
    source: PathBuf,
    dest: PathBuf,
    force: bool,
    telling: Telling,
) -> Result<Imported, Refused> {
    let given_up = GivenUp(Arc::default());
    let heard = Arc::clone(&given_up.0);
    let import = tokio::task::spawn_blocking(move || {
        let mut progress = |at: Progress| {
            telling.tell(of_import(at));
            if heard.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        ebb_import::import(&source, &dest, Options { force }, &mut progress)
    });
    let imported = import.await.map_err(|error| Refused::Other(failed_task(error)))?;
    drop(given_up);
    imported.map_err(|error| match error {
        ebb_import::Error::AlreadyOnnx(_) => Refused::AlreadyOnnx,
        error => Refused::Other(error.into()),
    })
}

/// Told where nobody waits for the import any more.
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn of_import(at: Progress) -> PullProgress {
    let Progress { stage, done_bytes, total_bytes } = at;
    let stage = match stage {
        Stage::Checking => PullStage::Checking,
        Stage::Weights | Stage::Files => PullStage::Importing,
        Stage::Verifying | Stage::Done => PullStage::Verifying,
    };
    PullProgress { stage, file: None, done_bytes, total_bytes, reason: None }
}

/// What the weights are called: the folder's name, the file's without its ending.
fn named(path: &Path) -> String {
    let name = if has_ending(path, "gguf") { path.file_stem() } else { path.file_name() };
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
