//! MiniLM in this process, as plugins reach models.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::{Bytes, BytesMut};
use ebb_core::{
    ChunkBody, Code, Control, Failure, Generation, Job, JobKind, LoadOptions, ModelKind, Sample, Session,
    ShrinkReport, Step, Target, options::OptionLine,
};
use ebb_ort::OrtSession;
use ebb_plugins::{ModelSummary, Models, PluginFuture, TextStream, Vectors};

use crate::{THREADS, inprocess};

pub(super) const ALIAS: &str = "minilm";

/// One loaded model. It runs on threads that may wait for it, as it does in a worker.
pub(super) struct Local {
    session: Arc<Mutex<OrtSession>>,
    control: Arc<dyn Control>,
    summary: ModelSummary,
    /// Hosts have one at hand; this one stays as it is, for no memory is capped here.
    sample: Sample,
}

impl Local {
    pub(super) fn open() -> Self {
        let options = LoadOptions { threads: Some(THREADS), ..LoadOptions::default() };
        let session = inprocess::open(inprocess::as_hosts_do(options));
        let control = session.control();
        let info = session.info();
        let embedding = info.embedding.as_ref().expect("it embeds");
        let summary = ModelSummary {
            alias: ALIAS.to_owned(),
            kind: ModelKind::Embeddings,
            loaded: true,
            provider: Some(info.provider.clone()),
            context_tokens: Some(embedding.max_tokens),
            dimensions: Some(embedding.dimensions),
        };
        let sample = Sample::new(ALIAS, 0, 0, control.memory().expect("it is measured"));
        Self { session: Arc::new(Mutex::new(session)), control, summary, sample }
    }
}

fn embed(session: &mut OrtSession, texts: Vec<String>) -> Result<Vectors, Failure> {
    let mut run = session.begin(Job::new(JobKind::Embed { texts }), Bytes::new(), &BTreeMap::new())?;
    let mut chunks = Vec::new();
    while let Step::More(_) = session.step(&mut run, &mut chunks)? {}
    let (mut data, mut all, mut length) = (BytesMut::new(), 0, 0);
    for chunk in chunks {
        if let ChunkBody::Vectors { count, dimensions, .. } = chunk.body {
            (all, length) = (all + count, dimensions);
            data.extend_from_slice(&chunk.data);
        }
    }
    Ok(Vectors { dimensions: length, count: all, data: data.freeze() })
}

/// Does it where it keeps nobody else waiting.
fn aside<'a, T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PluginFuture<'a, T> {
    Box::pin(async { tokio::task::spawn_blocking(work).await.expect("it does not panic") })
}

/// What an ingest does not ask for.
fn unasked<'a, T: Send + 'a>() -> PluginFuture<'a, T> {
    Box::pin(std::future::ready(Err(Failure::new(Code::Unsupported, "it only embeds"))))
}

impl Models for Local {
    fn list(&self) -> Vec<ModelSummary> {
        vec![self.summary.clone()]
    }

    fn latest(&self, _: &str) -> Result<Sample, Failure> {
        Ok(self.sample.clone())
    }

    fn history(&self, _: &str, _: u32) -> Result<Vec<Sample>, Failure> {
        Ok(vec![self.sample.clone()])
    }

    fn shrink<'a>(&'a self, _: &'a str, targets: Option<Vec<Target>>) -> PluginFuture<'a, ShrinkReport> {
        let control = Arc::clone(&self.control);
        aside(move || control.shrink(targets.as_deref()))
    }

    fn embed<'a>(&'a self, _: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vectors> {
        let session = Arc::clone(&self.session);
        aside(move || embed(&mut session.lock().unwrap_or_else(PoisonError::into_inner), texts))
    }

    fn count_tokens<'a>(&'a self, _: &'a str, texts: Vec<String>) -> PluginFuture<'a, Vec<u32>> {
        let control = Arc::clone(&self.control);
        aside(move || control.count_tokens(&texts))
    }

    fn shrink_after_next_run<'a>(&'a self, _: &'a str, _: Option<Vec<Target>>) -> PluginFuture<'a, ()> {
        unasked()
    }

    fn set_runtime_option<'a>(&'a self, _: &'a str, _: &'a str, _: &'a str) -> PluginFuture<'a, ()> {
        unasked()
    }

    fn runtime_options<'a>(&'a self, _: &'a str) -> PluginFuture<'a, Vec<OptionLine>> {
        unasked()
    }

    fn generate<'a>(&'a self, _: &'a str, _: Generation) -> PluginFuture<'a, Box<dyn TextStream>> {
        unasked()
    }

    fn transcribe<'a>(&'a self, _: &'a str, _: Bytes, _: Option<String>) -> PluginFuture<'a, String> {
        unasked()
    }
}
