//! The model in this very process, without a worker.

use std::{collections::BTreeMap, time::Instant};

use ebb_core::{Figures, GenerateFigures, Generation, Job, JobKind, LoadOptions, LoadSpec, Session, Step};
use ebb_ort::OrtSession;
use ebb_tests::home;

use crate::peer::Generated;

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

/// These options over the profile that holds where none is chosen, which hosts lay under what they are given.
pub(crate) fn as_hosts_do(options: LoadOptions) -> LoadOptions {
    let profile =
        ebb_core::built_in_profiles().iter().find(|profile| profile.name == ebb_core::DEFAULT_PROFILE);
    options.over(profile.map(|profile| profile.options.clone()).unwrap_or_default())
}

/// What loads the chat model.
pub(crate) fn smollm2(options: LoadOptions) -> LoadSpec {
    LoadSpec {
        alias: "smollm2".to_owned(),
        path: home::real_model("smollm2"),
        ..minilm(as_hosts_do(options))
    }
}

/// Loads the chat model here.
pub(crate) fn open_chat(options: LoadOptions) -> OrtSession {
    ebb_ort::open(&smollm2(options), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Greedy text after a bare prompt: as many tokens as were asked for, whatever the model would rather do.
pub(crate) fn generation(prompt: &str, tokens: u32) -> Generation {
    Generation {
        prompt: Some(prompt.to_owned()),
        max_tokens: Some(tokens),
        temperature: Some(0.0),
        repetition_penalty: Some(1.0),
        // Its two ends, so that it has none.
        logit_bias: [(0, -100.0), (2, -100.0)].into(),
        ..Generation::default()
    }
}

/// Generates to the end, here.
pub(crate) fn generate(session: &mut OrtSession, generation: Generation) -> GenerateFigures {
    let job = Job::new(JobKind::Generate(Box::new(generation)));
    let mut run = session.begin(job, bytes::Bytes::new(), &BTreeMap::new()).expect("a prompt is taken");
    let mut chunks = Vec::new();
    loop {
        match session.step(&mut run, &mut chunks).expect("text is generated") {
            Step::More(_) => {}
            Step::Done(Figures::Generate(figures)) => return figures,
            Step::Done(figures) => panic!("{figures:?}"),
        }
    }
}

/// Figures in the form of the peer's.
pub(crate) fn generated(figures: &GenerateFigures, resident_bytes: u64) -> Generated {
    Generated {
        tokens: u64::from(figures.completion_tokens),
        first_token_us: figures.first_token_us as f64,
        took_us: figures.took_us as f64,
        resident_bytes,
    }
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
