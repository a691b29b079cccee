//! The model in a worker process, through the host's own handle: what every door stands on.

use std::time::Instant;

use bytes::Bytes;
use ebb_core::{Figures, Job, JobKind, LoadOptions, Policy, ShrinkEvery};
use ebb_host::{HostConfig, ModelHandle, RunItem, Supervisor};
use ebb_tests::home;

use crate::{inprocess, peer::Generated};

/// A host whose workers are the real program.
pub(crate) fn supervisor() -> Supervisor {
    Supervisor::new(HostConfig::new(home::program("ebb-worker")))
}

/// Loads MiniLM under this alias.
pub(crate) async fn load(supervisor: &Supervisor, alias: &str, options: LoadOptions) -> ModelHandle {
    let policies: Vec<Box<dyn Policy>> = match options.shrink_every {
        Some(every) => vec![Box::new(ShrinkEvery::new(every))],
        None => Vec::new(),
    };
    let spec = ebb_core::LoadSpec { alias: alias.to_owned(), ..inprocess::minilm(options) };
    supervisor.load(spec, policies).await.expect("minilm loads");
    supervisor.model(alias).expect("it was just loaded")
}

/// Loads the chat model under this alias.
pub(crate) async fn load_chat(supervisor: &Supervisor, alias: &str, options: LoadOptions) -> ModelHandle {
    let spec = ebb_core::LoadSpec { alias: alias.to_owned(), ..inprocess::smollm2(options) };
    supervisor.load(spec, Vec::new()).await.expect("smollm2 loads");
    supervisor.model(alias).expect("it was just loaded")
}

/// Generates to the end.
pub(crate) async fn generate(model: &ModelHandle, job: Job) -> Generated {
    let mut running = model.run(&job, &Bytes::new()).await.expect("there is room");
    loop {
        match running.next().await.expect("an end") {
            RunItem::Done(Figures::Generate(figures)) => return inprocess::generated(&figures, 0),
            RunItem::Done(figures) => panic!("{figures:?}"),
            RunItem::Failed(failure) => panic!("{failure}"),
            RunItem::Progress(_) | RunItem::Chunk(_) => {}
        }
    }
}

/// Embeds, and says how long that took.
pub(crate) async fn embed_us(model: &ModelHandle, texts: &[String]) -> f64 {
    let started = Instant::now();
    let job = Job::new(JobKind::Embed { texts: texts.to_vec() });
    let mut running = model.run(&job, &Bytes::new()).await.expect("there is room");
    loop {
        match running.next().await.expect("an end") {
            RunItem::Done(_) => return started.elapsed().as_secs_f64() * 1e6,
            RunItem::Failed(failure) => panic!("{failure}"),
            RunItem::Progress(_) | RunItem::Chunk(_) => {}
        }
    }
}
