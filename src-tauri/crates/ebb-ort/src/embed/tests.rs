use ebb_core::{Code, Failure, options::ArenaPlan};

use super::*;
use crate::scene;

fn minilm(working_mem_bytes: u64) -> Embedder {
    let folder = ebb_tests::home::real_model("minilm");
    let arena = ArenaPlan { working_mem_bytes: Some(working_mem_bytes), ..ArenaPlan::default() };
    let loaded = scene::load(&folder.join("model.onnx"), scene::with_arena(arena)).unwrap();
    let options = LoadOptions { batch_tokens: Some(4_096), ..LoadOptions::default() };
    Embedder::open(&folder, loaded, &options).unwrap()
}

fn embed(embedder: &mut Embedder, texts: Vec<String>) -> Result<(Vec<Chunk>, EmbedFigures), Error> {
    let mut run = embedder.begin(texts, &BTreeMap::new())?;
    let mut chunks = Vec::new();
    loop {
        if let Step::Done(Figures::Embed(figures)) = embedder.step(&mut run, &mut chunks)? {
            return Ok((chunks, figures));
        }
    }
}

/// Texts that fill the model, and a short one between them.
fn texts() -> Vec<String> {
    let mut texts = vec!["the tide goes out ".repeat(80); 16];
    texts.insert(3, "short".to_owned());
    texts
}

/// C08: under a cap that a whole batch exceeds, smaller ones are run: the same vectors, counted and shown.
#[test]
fn a_tight_cap_makes_smaller_batches() {
    let (roomy, figures) = embed(&mut minilm(512 << 20), texts()).unwrap();
    assert_eq!((figures.batches, figures.cap_retries), (2, 0));
    let (tight, figures) = embed(&mut minilm(40 << 20), texts()).unwrap();
    assert!(figures.batches > 2 && figures.cap_retries > 0, "{figures:?}");
    assert_eq!(roomy.len(), tight.len());
    let numbers = |chunks: &[Chunk]| -> Vec<f32> {
        chunks[0].data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    };
    let most = numbers(&roomy).iter().zip(numbers(&tight)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(most < 1e-5, "{most}");
}

/// C09: what fits in no batch is a typed error, and the next request is served.
#[test]
fn a_text_above_the_cap_is_an_error_with_figures() {
    let mut embedder = minilm(2 << 20);
    let failure: Failure = embed(&mut embedder, texts()).unwrap_err().into();
    assert_eq!(failure.code, Code::ArenaLimit);
    for figure in ["limit_bytes", "requested_bytes", "available_bytes"] {
        assert!(failure.details.contains_key(figure), "{failure:?}");
    }
    let (chunks, figures) = embed(&mut embedder, vec!["short".to_owned()]).unwrap();
    assert_eq!((chunks.len(), figures.texts), (1, 1));
}
