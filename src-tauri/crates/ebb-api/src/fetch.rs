//! Models from elsewhere: downloaded or imported into Ebb's folder of models, and added. It goes on for as long as somebody
//! hears of it.

mod import;
mod pull;

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

use ebb_core::{
    Code, ErrorBody, Failure,
    operations::{AddModel, ModelEntry, PullPiece, PullProgress, PullStage},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep_until},
};

use crate::{Host, host::failed_task, names};

pub use self::pull::{downloaded_weights, model_folder};

/// No more often than this anybody hears how far it is.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The pieces of a pull or an import, pulled. Dropping it ends the work.
#[derive(Debug)]
pub struct PullStream {
    progress: watch::Receiver<PullProgress>,
    last_told: Option<Instant>,
    /// `None` once its end was told.
    work: Option<JoinHandle<Result<ModelEntry, Failure>>>,
}

impl PullStream {
    /// Begins work that tells how far it is.
    fn begin<F>(host: &Host, work: impl FnOnce(Telling) -> F) -> Self
    where
        F: Future<Output = Result<ModelEntry, Failure>> + Send + 'static,
    {
        let (sender, progress) = watch::channel(at(PullStage::Checking));
        let (fetching, work) = (Fetching::of(host), work(Telling(sender)));
        let work = tokio::spawn(async move {
            let _fetching = fetching;
            work.await
        });
        Self { progress, last_told: None, work: Some(work) }
    }

    /// The next piece; `None` after the last. Progress that came in between is passed over.
    pub async fn next(&mut self) -> Option<PullPiece> {
        let work = self.work.as_mut()?;
        let later = self.last_told.map(|told| told + PROGRESS_EVERY);
        let progress = async {
            self.progress.changed().await?;
            if let Some(later) = later {
                sleep_until(later).await;
            }
            Ok::<_, watch::error::RecvError>(self.progress.borrow_and_update().clone())
        };
        let ended = tokio::select! {
            biased;
            ended = &mut *work => ended,
            Ok(progress) = progress => {
                self.last_told = Some(Instant::now());
                return Some(PullPiece::Progress(progress));
            }
        };
        self.work = None;
        Some(match ended.map_err(failed_task).flatten() {
            Ok(entry) => PullPiece::Report(entry),
            Err(failure) => PullPiece::Error(ErrorBody::from(failure).error),
        })
    }
}

impl Drop for PullStream {
    fn drop(&mut self) {
        if let Some(work) = &self.work {
            work.abort();
        }
    }
}

/// Tells how far the work is.
#[derive(Debug, Clone)]
struct Telling(watch::Sender<PullProgress>);

impl Telling {
    fn tell(&self, progress: PullProgress) {
        self.0.send_replace(progress);
    }
}

/// Counts work that goes on, so that a host with nothing else to do does not end meanwhile.
struct Fetching(Host);

impl Fetching {
    fn of(host: &Host) -> Self {
        host.inner.fetching.fetch_add(1, Ordering::Relaxed);
        Self(host.clone())
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        self.0.inner.fetching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stage that has no figures.
fn at(stage: PullStage) -> PullProgress {
    PullProgress { stage, file: None, done_bytes: 0, total_bytes: 0, reason: None }
}

impl Host {
    /// Refuses an alias that is not plain, or taken by another model than the one in `folder`: told before gigabytes come, not
    /// after.
    fn check_new_alias(&self, alias: &str, folder: &Path) -> Result<(), Failure> {
        names::check_alias(alias)?;
        match self.added(alias) {
            Ok(added) if added.path != folder => Err(Failure::new(
                Code::AlreadyExists,
                format!("there is another model '{alias}' already, at {}", added.path.display()),
            )
            .hint("choose another alias, or remove that model first")
            .param("alias")),
            _ => Ok(()),
        }
    }

    /// Takes the model into the catalogue, where it is not.
    async fn add_fetched(&self, path: PathBuf, alias: String) -> Result<ModelEntry, Failure> {
        if self.added(&alias).is_ok_and(|added| added.path == path) {
            return self.model(&alias).await;
        }
        self.add_model(AddModel { path, alias: Some(alias) }).await
    }
}
