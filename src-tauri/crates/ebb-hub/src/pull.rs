//! Models of a Hub: listed, chosen, downloaded, checked.

mod chosen;
mod disk;
mod download;
mod endpoint;
mod hash;
mod http;
mod listing;
mod onnx;
mod patience;
mod place;
mod plan;
mod reference;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Format};

pub use endpoint::{Settings, Token};
pub use hash::{Checked, Hash};
pub use patience::Patience;
pub use plan::{Plan, PlannedFile};
pub use reference::Reference;

use disk::check_room;
use download::Download;
use http::Http;
use place::{Place, Record};

/// A Hub, asked through its HTTP interface.
#[derive(Debug)]
pub struct Hub {
    http: Http,
}

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The file that is worked on, by its path in the model's folder.
    pub file: String,
    /// Bytes that are here, those of earlier tries included.
    pub done_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
    /// What is being done.
    pub work: Work,
}

/// What a download does at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Reading what is here of an earlier try.
    Checking,
    /// Bytes come in.
    Downloading,
    /// Something failed; it is tried again.
    Waiting {
        /// In how long.
        wait_ms: u64,
        /// What failed.
        reason: String,
    },
}

/// A model that is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pulled {
    /// The repository: `ORG/NAME`.
    pub repo: String,
    /// The commit that the files are of.
    pub commit: String,
    /// How the model is stored.
    pub format: Format,
    /// Its folder.
    pub folder: PathBuf,
    /// What is in it.
    pub files: Vec<PulledFile>,
    /// Whether it was there before, and nothing was done.
    pub already_there: bool,
    /// Bytes that came over the network now.
    pub downloaded_bytes: u64,
}

/// A file of a pulled model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PulledFile {
    /// Its path in the model's folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// How it was found to be the one that the Hub means.
    pub checked: Checked,
}

impl Hub {
    /// The Hub that the environment names, with the user's token.
    ///
    /// # Errors
    /// [`Error::BadEndpoint`], [`Error::Offline`].
    pub fn from_env() -> Result<Self, Error> {
        Ok(Self::new(Settings::from_env()?))
    }

    /// A Hub by its settings. Nothing is sent yet.
    pub fn new(settings: Settings) -> Self {
        Self { http: Http::new(settings) }
    }

    /// What would be downloaded for a model, of its main branch where no revision (branch, tag, commit) is given.
    ///
    /// # Errors
    /// Where the Hub refuses or cannot be reached, and where nothing in the repository fits: see [`Error`].
    pub async fn plan(&self, reference: &Reference, revision: Option<&str>) -> Result<Plan, Error> {
        plan::plan(&self.http, reference, revision).await
    }

    /// Downloads what a plan says into a folder of its own under `models`. The folder appears when every file is there
    /// and was checked; `force` lets it take the place of another of that name. Dropping the future stops it: what came
    /// so far stays, and the next call goes on from there.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn pull(
        &self,
        plan: &Plan,
        models: &Path,
        force: bool,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Pulled, Error> {
        let destination = models.join(plan.folder_name());
        if let Some(record) = Record::of(&destination).filter(|record| record.is_of(plan, &destination)) {
            return Ok(record.into_pulled(destination));
        }
        let place = Place::open(&destination, force)?;
        check_room(&place, plan)?;
        let mut download = Download::new(&self.http, plan, &place, progress);
        let mut files = Vec::with_capacity(plan.files.len());
        for file in &plan.files {
            files.push(download.fetch(file).await?);
        }
        let downloaded_bytes = download.downloaded_bytes();
        let record = Record::new(plan, files);
        record.write(place.folder())?;
        let folder = place.publish()?;
        tracing::info!(repo = plan.repo, commit = plan.commit, downloaded_bytes, "pulled");
        Ok(Pulled { already_there: false, downloaded_bytes, ..record.into_pulled(folder) })
    }
}
