//! One file after another: gone on with where an earlier try stopped, checked, put in its place.

use std::{
    io,
    path::{Path, PathBuf},
};

use http_body_util::BodyExt as _;
use hyper::{HeaderMap, StatusCode, header::CONTENT_RANGE};
use tokio::{
    fs,
    io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufWriter},
    time::timeout,
};

use super::{
    Checked, Plan, PlannedFile, Progress, PulledFile, Work,
    hash::Hasher,
    http::{About, Http},
    patience::Tries,
    place::Place,
    plan::address,
};
use crate::Error;

/// Written and read at once.
const BLOCK_BYTES: usize = 1 << 20;

/// A download at work.
pub(super) struct Download<'a> {
    http: &'a Http,
    plan: &'a Plan,
    place: &'a Place,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    total_bytes: u64,
    /// Of the files before the one that is worked on.
    done_bytes: u64,
    downloaded_bytes: u64,
}

impl<'a> Download<'a> {
    pub(super) fn new(
        http: &'a Http,
        plan: &'a Plan,
        place: &'a Place,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> Self {
        Self {
            http,
            plan,
            place,
            progress,
            total_bytes: plan.total_bytes(),
            done_bytes: 0,
            downloaded_bytes: 0,
        }
    }

    /// Bytes that came over the network.
    pub(super) fn downloaded_bytes(&self) -> u64 {
        self.downloaded_bytes
    }

    /// Brings one file in its place.
    pub(super) async fn fetch(&mut self, file: &PlannedFile) -> Result<PulledFile, Error> {
        let checked = match self.kept(file).await? {
            Some(checked) => checked,
            None => self.load(file).await?,
        };
        self.done_bytes = self.done_bytes.saturating_add(file.bytes);
        Ok(PulledFile { path: file.local.clone(), bytes: file.bytes, checked })
    }

    /// A file that is whole since an earlier try is checked again: the repository may have changed since.
    async fn kept(&mut self, file: &PlannedFile) -> Result<Option<Checked>, Error> {
        let path = self.place.whole(file);
        if !fs::metadata(&path).await.is_ok_and(|about| about.len() == file.bytes) {
            return Ok(None);
        }
        let part = Part::open(&path, file, |at| self.tell(file, at, Work::Checking)).await?;
        Ok(part.hasher.check(&file.local, &file.hash).ok())
    }

    /// Content that is wrong after it was put together of two tries gets one more, from the start.
    async fn load(&mut self, file: &PlannedFile) -> Result<Checked, Error> {
        let path = self.place.part(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).await.map_err(|source| Error::io(folder, source))?;
        }
        loop {
            let mut part = Part::open(&path, file, |at| self.tell(file, at, Work::Checking)).await?;
            let resumed = part.at > 0;
            self.fill(&mut part, file).await?;
            match part.finish(file, &self.place.whole(file)).await {
                Err(Error::WrongContent { .. }) if resumed => {
                    tracing::warn!(file = file.local, "what was kept of an earlier try was not of this file");
                }
                done => return done,
            }
        }
    }

    async fn fill(&mut self, part: &mut Part, file: &PlannedFile) -> Result<(), Error> {
        let url = address(self.http, self.plan, &file.remote)?;
        let mut tries = Tries::new(self.http.patience());
        while part.at < file.bytes {
            let before = part.at;
            let Err(error) = self.attempt(&url, part, file).await else { break };
            part.flush().await?;
            if part.at > before {
                tries.renew();
            }
            let at = part.at;
            tries
                .wait(error, |wait, error| {
                    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    self.tell(file, at, Work::Waiting { wait_ms, reason: error.to_string() });
                })
                .await?;
        }
        part.flush().await
    }

    /// Takes bytes for as long as they come.
    async fn attempt(&mut self, url: &url::Url, part: &mut Part, file: &PlannedFile) -> Result<(), Error> {
        let about = About { repo: &self.plan.repo, revision: &self.plan.commit, file: Some(&file.remote) };
        let asked = self.http.get(url, part.at, about).await;
        // What is here is as long as the file there, or longer: it cannot be of it.
        if let Err(Error::Status { status: 416, host, .. }) = asked {
            part.restart().await?;
            return Err(Error::Status { host, status: 503, retry_after: None });
        }
        let (answer, host) = asked?;
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            // The whole file comes, whatever was asked for.
            part.restart().await?;
        } else if starts_at(answer.headers()) != Some(part.at) {
            return Err(Error::Protocol(format!(
                "{host} sends another part of {} than was asked for",
                file.remote
            )));
        }
        let silence = self.http.patience().silence;
        let mut body = answer.into_body();
        while part.at < file.bytes {
            let frame = timeout(silence, body.frame())
                .await
                .map_err(|_| Error::Stalled { host: host.clone(), after: silence })?;
            let cut = |source| Error::Connection { host: host.clone(), source };
            let frame = frame.ok_or_else(|| cut("it ended too early".into()))?;
            let Ok(bytes) = frame.map_err(|error| cut(error.into()))?.into_data() else { continue };
            part.write(&bytes, file).await?;
            self.downloaded_bytes += bytes.len() as u64;
            self.tell(file, part.at, Work::Downloading);
        }
        // One frame more tells a file that is longer than it should be from one that is whole.
        match timeout(silence, body.frame()).await {
            Ok(Some(Ok(frame))) if frame.data_ref().is_some_and(|more| !more.is_empty()) => {
                Err(part.too_long(file).await)
            }
            _ => Ok(()),
        }
    }

    fn tell(&mut self, file: &PlannedFile, at: u64, work: Work) {
        let done_bytes = self.done_bytes.saturating_add(at);
        (self.progress)(Progress {
            file: file.local.clone(),
            done_bytes,
            total_bytes: self.total_bytes,
            work,
        });
    }
}

/// Where the bytes of a partial answer begin: `bytes 100-199/200`.
fn starts_at(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}

/// A file that is being put together, hashed as it grows.
struct Part {
    path: PathBuf,
    file: BufWriter<fs::File>,
    at: u64,
    hasher: Hasher,
    fresh: Box<dyn Fn() -> Hasher + Send + Sync>,
}

impl Part {
    /// Opens what is here and hashes it. What is longer than the file should be is thrown away.
    async fn open(path: &Path, planned: &PlannedFile, mut tell: impl FnMut(u64)) -> Result<Self, Error> {
        let failed = |source| Error::io(path, source);
        let mut file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .await
            .map_err(failed)?;
        let (hash, bytes) = (planned.hash.clone(), planned.bytes);
        let fresh = Box::new(move || Hasher::new(&hash, bytes));
        let mut hasher = fresh();
        let mut at = 0;
        if file.metadata().await.map_err(failed)?.len() <= bytes {
            let mut block = vec![0; BLOCK_BYTES];
            loop {
                let read = file.read(&mut block).await.map_err(failed)?;
                if read == 0 {
                    break;
                }
                hasher.update(&block[..read]);
                at += read as u64;
                tell(at);
            }
        }
        let mut part = Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(BLOCK_BYTES, file),
            at,
            hasher,
            fresh,
        };
        if at == 0 {
            part.restart().await?;
        }
        Ok(part)
    }

    async fn write(&mut self, bytes: &[u8], file: &PlannedFile) -> Result<(), Error> {
        if bytes.len() as u64 > file.bytes - self.at {
            return Err(self.too_long(file).await);
        }
        self.file.write_all(bytes).await.map_err(|source| Error::io(&self.path, source))?;
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Error> {
        self.file.flush().await.map_err(|source| Error::io(&self.path, source))
    }

    /// Begins again with nothing.
    async fn restart(&mut self) -> Result<(), Error> {
        let emptied: io::Result<()> = async {
            self.file.seek(io::SeekFrom::Start(0)).await?;
            self.file.get_ref().set_len(0).await
        }
        .await;
        emptied.map_err(|source| Error::io(&self.path, source))?;
        self.hasher = (self.fresh)();
        self.at = 0;
        Ok(())
    }

    /// Checks the content and gives it its name; content that is wrong is deleted.
    async fn finish(self, planned: &PlannedFile, whole: &Path) -> Result<Checked, Error> {
        let Self { path, file, hasher, .. } = self;
        let failed = |source| Error::io(&path, source);
        file.get_ref().sync_all().await.map_err(failed)?;
        drop(file);
        let checked = hasher.check(&planned.local, &planned.hash);
        if checked.is_ok() {
            fs::rename(&path, whole).await.map_err(failed)?;
        } else {
            fs::remove_file(&path).await.map_err(failed)?;
        }
        checked
    }

    /// More comes than the Hub said. Nothing of it can be trusted.
    async fn too_long(&mut self, file: &PlannedFile) -> Error {
        if let Err(source) = fs::remove_file(&self.path).await {
            return Error::io(&self.path, source);
        }
        Error::WrongContent {
            file: file.local.clone(),
            how: "bytes",
            expected: file.bytes.to_string(),
            actual: "more".to_owned(),
        }
    }
}
