//! Texts a second on a corpus of mixed length, against plain onnxruntime in Python on the same model and threads. The peer
//! takes batches of 32 as its users make them; Ebb takes the same texts and makes its own batches.

use ebb_core::LoadOptions;

use crate::{THREADS, inprocess, paired, peer::Peer, workload};

const ROUNDS: usize = 12;
const TEXTS_A_ROUND: usize = 64;
const PEER_BATCH: usize = 32;

pub(crate) fn print() {
    let texts: Vec<String> = workload::mixed(80).concat().into_iter().take(ROUNDS * TEXTS_A_ROUND).collect();
    let batches: Vec<Vec<String>> = texts.chunks(PEER_BATCH).map(<[String]>::to_vec).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = ebb_tests::home::real_model("minilm");
    let mut peer = Peer::start(&model, folder.path(), &batches, THREADS);
    let mut ours = inprocess::open(LoadOptions { threads: Some(THREADS), ..LoadOptions::default() });
    inprocess::embed_us(&mut ours, &texts[..8]);

    let (mut ours_us, mut peer_us) = (Vec::new(), Vec::new());
    for (round, texts) in texts.chunks(TEXTS_A_ROUND).enumerate() {
        ours_us.push(inprocess::embed_us(&mut ours, texts));
        let first = round * TEXTS_A_ROUND / PEER_BATCH;
        peer_us.push(
            (first..first + texts.len().div_ceil(PEER_BATCH)).map(|batch| peer.run(batch).took_us).sum(),
        );
    }
    let per_second = |took_us: &[f64]| TEXTS_A_ROUND as f64 / paired::median(took_us) * 1e6;
    println!(
        "texts a second: Ebb {:.1}, onnxruntime in Python {:.1}",
        per_second(&ours_us),
        per_second(&peer_us)
    );
    println!("Ebb over the peer: {}   (at least 1, aim 1.3)", paired::ratio(&peer_us, &ours_us));
}
