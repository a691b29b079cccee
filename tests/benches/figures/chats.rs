//! Twelve chats of 20 to 1,000 words: what Ebb's worker holds after them and one shrink, against what onnxruntime-genai
//! holds, which Foundry Local runs on. And four conversations at once against one.

use std::time::Instant;

use ebb_core::{Generation, Job, JobKind, LoadOptions, Message};
use ebb_host::ModelHandle;

use crate::{
    THREADS, hosted, inprocess, paired,
    peer::Peer,
    shrinking::{row, settled},
    workload,
};

/// Words of the messages.
const WORDS: [usize; 12] = [20, 60, 1_000, 120, 300, 40, 700, 200, 500, 80, 1_000, 20];

/// Tokens answered to each.
const TOKENS: u32 = 48;

pub(crate) async fn print() {
    let messages: Vec<String> =
        WORDS.iter().enumerate().map(|(place, &words)| workload::prose(place, words)).collect();
    let supervisor = hosted::supervisor();
    let options = LoadOptions { threads: Some(THREADS), ..LoadOptions::default() };
    let model = hosted::load_chat(&supervisor, "smollm2", options).await;
    hosted::generate(&model, chat("warm up", 4)).await;
    // What the warm-up left for its next turn is no part of a model that was just loaded.
    model.shrink(None).await.expect("it shrinks");
    let loaded = settled(&model).await;
    let mut peak = 0;
    for message in &messages {
        hosted::generate(&model, chat(message, TOKENS)).await;
        peak = peak.max(model.sample().await.expect("it serves").resident_bytes);
    }
    let before = settled(&model).await;
    let report = model.shrink(None).await.expect("it shrinks");
    let after = settled(&model).await;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut peer = Peer::chat(&ebb_tests::home::real_model("smollm2"), folder.path(), &messages, THREADS);
    let (mut peer_end, mut peer_peak) = (0, 0);
    for index in 0..messages.len() {
        peer_end = peer.generate(index, TOKENS).resident_bytes;
        peer_peak = peer_peak.max(peer_end);
    }
    row("onnxruntime-genai", peer.loaded_bytes, peer_peak, peer_end);
    row("Ebb, not yet shrunk", loaded, peak, before);
    row("Ebb, after one shrink", loaded, peak, after);
    println!(
        "(the aim: within 15 % of after load, and a lower peak; the shrink took {} us and {} us to trim)",
        report.took_us, report.trim_us
    );
    four(&model).await;
    supervisor.close(std::time::Duration::ZERO).await;
}

/// Tokens a second of one conversation and of four at once, in turns.
async fn four(model: &ModelHandle) {
    let (mut one, mut all) = (Vec::new(), Vec::new());
    for turn in 0..5 {
        one.push(together(model, turn, 1).await);
        all.push(together(model, turn, 4).await);
    }
    println!(
        "four at once: {:.1} tokens/s together, one alone {:.1}; ratio {}   (at least 1.0)",
        paired::median(&all),
        paired::median(&one),
        paired::ratio(&all, &one)
    );
}

async fn together(model: &ModelHandle, turn: usize, count: usize) -> f64 {
    let started = Instant::now();
    let running: Vec<_> = (0..count)
        .map(|which| {
            let (model, text) = (model.clone(), workload::prose(turn * 4 + which, 20));
            let job = Job::new(JobKind::Generate(Box::new(inprocess::generation(&text, 64))));
            tokio::spawn(async move { hosted::generate(&model, job).await.tokens })
        })
        .collect();
    let mut tokens = 0;
    for one in running {
        tokens += one.await.expect("it generates");
    }
    tokens as f64 / started.elapsed().as_secs_f64()
}

fn chat(message: &str, tokens: u32) -> Job {
    let generation = Generation {
        messages: vec![Message::new("user", message)],
        prompt: None,
        ..inprocess::generation("", tokens)
    };
    Job::new(JobKind::Generate(Box::new(generation)))
}
