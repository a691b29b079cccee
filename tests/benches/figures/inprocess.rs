//! The model in this very process, without a worker.

use std::{collections::BTreeMap, time::Instant};

use ebb_core::{Job, JobKind, LoadOptions, LoadSpec, Session, Step};
use ebb_ort::OrtSession;
use ebb_tests::home;

/// What loads MiniLM.
pub(crate) fn minilm(options: LoadOptions) -> LoadSpec {
    LoadSpec {
        alias: "minilm".to_owned(),
        path: home::real_model("minilm"),
        options,
        runtime_library: Some(home::runtime_library()),
        runtime_folders: Vec::new(),
    }
}

/// Loads MiniLM here.
pub(crate) fn open(options: LoadOptions) -> OrtSession {
    ebb_ort::open(&minilm(options), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Embeds, and says how long that took.
pub(crate) fn embed_us(session: &mut OrtSession, texts: &[String]) -> f64 {
    let started = Instant::now();
    let job = Job::new(JobKind::Embed { texts: texts.to_vec() });
    let mut run = session.begin(job, bytes::Bytes::new(), &BTreeMap::new()).expect("texts are taken");
    let mut chunks = Vec::new();
    while let Step::More(_) = session.step(&mut run, &mut chunks).expect("texts are embedded") {}
    started.elapsed().as_secs_f64() * 1e6
}
