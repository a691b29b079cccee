//! Models of the Hub.

use std::path::{Path, PathBuf};

use ebb_core::{
    Failure,
    operations::{ModelEntry, PullModel, PullProgress, PullStage},
};
use ebb_hub::{Format, Hub, Plan, Progress, Pulled, Reference, Work};

use super::{PullStream, Telling, at, import};
use crate::{Host, atomic, names};

/// The folder that becomes a model: the downloaded one, or the one that is made of it.
pub fn model_folder(models: &Path, plan: &Plan) -> PathBuf {
    let name = plan.folder_name();
    models.join(if plan.format.needs_import() { format!("{name}--onnx") } else { name })
}

/// What is to be imported of what came; `None` where it loads as it is.
pub fn downloaded_weights(pulled: &Pulled) -> Option<PathBuf> {
    match pulled.format {
        Format::Onnx | Format::Genai => None,
        Format::Safetensors => Some(pulled.folder.clone()),
        Format::Gguf => {
            let file = pulled.files.iter().find(|file| file.path.to_ascii_lowercase().ends_with(".gguf"));
            file.map(|file| pulled.folder.join(&file.path))
        }
    }
}

impl Host {
    /// Downloads a model of the Hub, imports it where it must be, and adds it. What was interrupted goes on where it stopped.
    ///
    /// # Errors
    /// Where the name or the alias is none, or the alias is taken. What the Hub or the download fails with is the last piece.
    pub async fn pull_model(&self, request: PullModel) -> Result<PullStream, Failure> {
        let PullModel { model, revision, alias, force } = request;
        let reference: Reference =
            model.parse().map_err(|error: ebb_hub::Error| Failure::from(error).param("model"))?;
        let alias = match alias {
            Some(alias) => alias,
            None => names::alias_of(&reference.name),
        };
        names::check_alias(&alias)?;
        let hub = Hub::from_env().map_err(Failure::from)?;
        let wanted = Wanted { hub, reference, revision, alias, force };
        let host = self.clone();
        Ok(PullStream::begin(self, |telling| wanted.pull(host, telling)))
    }
}

struct Wanted {
    hub: Hub,
    reference: Reference,
    revision: Option<String>,
    alias: String,
    force: bool,
}

impl Wanted {
    async fn pull(self, host: Host, telling: Telling) -> Result<ModelEntry, Failure> {
        let Self { hub, reference, revision, alias, force } = self;
        telling.tell(at(PullStage::Listing));
        let plan = hub.plan(&reference, revision.as_deref()).await.map_err(Failure::from)?;
        let models = host.inner.places.models_folder();
        let folder = model_folder(&models, &plan);
        host.check_new_alias(&alias, &folder)?;
        if !plan.format.needs_import() || force || !holds_something(&folder) {
            std::fs::create_dir_all(&models).map_err(|error| atomic::refused("make", &models, &error))?;
            let mut progress = |at| telling.tell(of_download(at));
            let pulled = hub.pull(&plan, &models, force, &mut progress).await.map_err(Failure::from)?;
            if let Some(weights) = downloaded_weights(&pulled) {
                import::made(weights, folder.clone(), force, telling.clone()).await?;
            }
        }
        telling.tell(at(PullStage::Adding));
        host.add_fetched(folder, alias).await
    }
}

fn of_download(at: Progress) -> PullProgress {
    let Progress { file, done_bytes, total_bytes, work } = at;
    let (stage, reason) = match work {
        Work::Checking => (PullStage::Checking, None),
        Work::Downloading => (PullStage::Downloading, None),
        Work::Waiting { reason, .. } => (PullStage::Waiting, Some(reason)),
    };
    PullProgress { stage, file: Some(file), done_bytes, total_bytes, reason }
}

pub(super) fn holds_something(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}
