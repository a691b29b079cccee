//! The mixed workload of 150 batches: what a worker holds afterwards with `--shrink-every 10`, without shrinking, and what
//! plain onnxruntime in Python holds; and what the shrinking costs in latency, batch by batch in turns.

use ebb_core::{LoadOptions, format_bytes};
use ebb_host::ModelHandle;

use crate::{THREADS, hosted, paired, peer::Peer, workload};

const BATCHES: usize = 150;
const EVERY: u32 = 10;

pub(crate) async fn print() {
    let batches = workload::mixed(BATCHES);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut peer = Peer::start(&ebb_tests::home::real_model("minilm"), folder.path(), &batches, THREADS);
    let supervisor = hosted::supervisor();
    let never = LoadOptions { threads: Some(THREADS), ..LoadOptions::default() };
    let often = LoadOptions { shrink_every: Some(EVERY), ..never.clone() };
    let never = hosted::load(&supervisor, "never", never).await;
    let often = hosted::load(&supervisor, "often", often).await;
    let warm_up = ["warm up".to_owned()];
    let mut loaded = Vec::new();
    for model in [&never, &often] {
        hosted::embed_us(model, &warm_up).await;
        loaded.push(settled(model).await);
    }

    let (mut never_us, mut often_us) = (Vec::new(), Vec::new());
    let (mut peer_end, mut peer_most) = (0, 0);
    for (index, texts) in batches.iter().enumerate() {
        // In turns, and the first of a pair alternates too.
        if index % 2 == 0 {
            never_us.push(hosted::embed_us(&never, texts).await);
            often_us.push(hosted::embed_us(&often, texts).await);
        } else {
            often_us.push(hosted::embed_us(&often, texts).await);
            never_us.push(hosted::embed_us(&never, texts).await);
        }
        peer_end = peer.run(index).resident_bytes;
        peer_most = peer_most.max(peer_end);
    }

    row("plain onnxruntime", peer.loaded_bytes, peer_most, peer_end);
    for (name, model, loaded) in
        [("Ebb, never shrinking", &never, loaded[0]), ("Ebb, --shrink-every 10", &often, loaded[1])]
    {
        let peak = model.sample().await.expect("it serves").arenas[0].peak_in_use_bytes;
        row(name, loaded, peak, settled(model).await);
    }
    println!("(the peak of Ebb's rows is the arena's highest in-use; the aim is within 15 % of after load)");
    println!("latency, shrinking over not: {}   (at most 1.05)", paired::ratio(&often_us, &never_us));
    let report = never.shrink(None).await.expect("it shrinks");
    println!(
        "one shrink of the model that never did: {} arena bytes in {} us, trimmed in {} us, resident {} -> {}",
        format_bytes(report.freed_bytes),
        report.took_us,
        report.trim_us,
        format_bytes(report.resident_before_bytes),
        format_bytes(report.resident_after_bytes)
    );
    supervisor.close(std::time::Duration::ZERO).await;
}

pub(crate) fn row(name: &str, loaded: u64, peak: u64, end: u64) {
    println!(
        "{name:24} resident after load {:>10}, peak {:>10}, at the end {:>10} ({:+.1} %)",
        format_bytes(loaded),
        format_bytes(peak),
        format_bytes(end),
        (end as f64 / loaded as f64 - 1.0) * 100.0
    );
}

/// Resident bytes: the median of five samples, from two seconds after now.
pub(crate) async fn settled(model: &ModelHandle) -> u64 {
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let mut samples = Vec::new();
    for _ in 0..5 {
        samples.push(model.sample().await.expect("it serves").resident_bytes as f64);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    paired::median(&samples) as u64
}
