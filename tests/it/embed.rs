//! Embeddings: right vectors whatever the batches, bounded work whatever the texts.

use std::{collections::BTreeMap, path::Path};

use bytes::Bytes;
use ebb_core::{
    Chunk, ChunkBody, Code, EmbedFigures, Failure, Figures, Job, JobKind, LoadOptions, LoadSpec, Pooling,
    Progress, Session, Step, Truncation,
};
use ebb_ort::OrtSession;
use ebb_tests::{
    home::{real_model, runtime_library},
    models::{self, Embedder},
    reference,
};

fn open(path: &Path, options: LoadOptions) -> Result<OrtSession, Failure> {
    let spec = LoadSpec {
        alias: "m".to_owned(),
        path: path.to_owned(),
        options: LoadOptions { threads: Some(2), ..options },
        runtime_library: Some(runtime_library()),
        runtime_folders: Vec::new(),
    };
    Ok(ebb_ort::open(&spec, &mut |_| ())?)
}

fn minilm(batch_tokens: Option<u32>) -> OrtSession {
    open(&real_model("minilm"), LoadOptions { batch_tokens, ..LoadOptions::default() }).expect("it loads")
}

/// What a job came to.
struct Embedded {
    vectors: Vec<Vec<f32>>,
    figures: EmbedFigures,
    progress: Vec<Progress>,
    chunk_texts: Vec<u32>,
}

fn embed(session: &mut OrtSession, texts: &[String]) -> Result<Embedded, Failure> {
    let job = Job::new(JobKind::Embed { texts: texts.to_vec() });
    let mut run = session.begin(job, Bytes::new(), &BTreeMap::new())?;
    let (mut vectors, mut chunk_texts, mut progress) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let mut chunks = Vec::new();
        let step = session.step(&mut run, &mut chunks)?;
        for Chunk { body, data } in chunks {
            let ChunkBody::Vectors { first, count, dimensions } = body else { panic!("{body:?}") };
            assert_eq!(first as usize, vectors.len(), "chunks come in order");
            assert_eq!(data.len(), (count * dimensions * 4) as usize);
            chunk_texts.push(count);
            let numbers: Vec<f32> =
                data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            vectors.extend(numbers.chunks_exact(dimensions as usize).map(<[f32]>::to_vec));
        }
        match step {
            Step::More(so_far) => progress.push(so_far),
            Step::Done(Figures::Embed(figures)) => {
                assert_eq!(vectors.len(), texts.len());
                return Ok(Embedded { vectors, figures, progress, chunk_texts });
            }
            Step::Done(other) => panic!("{other:?}"),
        }
    }
}

fn assert_close(left: &[Vec<f32>], right: &[Vec<f32>]) {
    assert_eq!(left.len(), right.len());
    for (index, (left, right)) in left.iter().zip(right).enumerate() {
        let most = left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 1e-5, "text {index} differs by {most}");
    }
}

/// Peak of what the arena lent out, above what it held before.
fn working_bytes(session: &OrtSession, before: u64) -> u64 {
    session.control().memory().expect("it can be measured").arenas[0].peak_in_use_bytes - before
}

fn in_use_bytes(session: &OrtSession) -> u64 {
    session.control().memory().expect("it can be measured").arenas[0].in_use_bytes
}

#[test]
fn vectors_equal_the_reference() {
    let mut session = minilm(None);
    let info = session.info().embedding.clone().unwrap();
    assert_eq!(
        (info.dimensions, info.max_tokens, info.pooling, info.normalized),
        (384, 256, Pooling::Mean, true)
    );
    let done = embed(&mut session, &reference::texts()).unwrap();
    for (index, (got, want)) in done.vectors.iter().zip(reference::vectors()).enumerate() {
        let likeness = reference::cosine(got, &want);
        assert!(likeness >= 0.99999, "text {index}: {likeness}");
    }
}

#[test]
fn vectors_do_not_depend_on_the_batches() {
    let texts = reference::texts();
    let alone: Vec<Vec<f32>> = {
        let mut session = minilm(None);
        texts
            .iter()
            .map(|text| embed(&mut session, std::slice::from_ref(text)).unwrap().vectors.remove(0))
            .collect()
    };
    for batch_tokens in [1, 300, 16_384] {
        let mut session = minilm(Some(batch_tokens));
        assert_close(&embed(&mut session, &texts).unwrap().vectors, &alone);
    }
    let reversed: Vec<String> = texts.iter().rev().cloned().collect();
    let mut vectors = embed(&mut minilm(None), &reversed).unwrap().vectors;
    vectors.reverse();
    assert_close(&vectors, &alone);
}

/// C15: more texts at once take no more memory than a batch.
#[test]
fn the_budget_bounds_the_peak() {
    let texts: Vec<String> =
        (0..64).map(|index| format!("{index} {}", "the tide goes out ".repeat(80))).collect();
    let mut session = minilm(None);
    let before = in_use_bytes(&session);
    let done = embed(&mut session, &texts).unwrap();
    assert_eq!(done.figures.batches, 16);
    let peak = working_bytes(&session, before);
    assert!(peak < 64 << 20, "{peak} bytes");
}

/// C16: one text of 8,000 tokens among short ones is cut, told, and pads nothing.
#[test]
fn a_long_text_does_not_pad_the_others() {
    let mut texts: Vec<String> = (0..31).map(|index| format!("short text number {index}")).collect();
    texts.insert(7, "word ".repeat(8_000));
    let done = embed(&mut minilm(None), &texts).unwrap();
    assert_eq!(done.figures.truncated, [Truncation { index: 7, tokens: 8_002, exact: true, used: 256 }]);
    assert!(done.figures.padding_tokens < 64, "{:?}", done.figures);
    assert_eq!(done.figures.batches, 2);
}

/// C17: 43,000 texts come in order, chunk by chunk, and can be stopped half-way.
#[test]
fn many_texts_are_streamed() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&models::embedder(folder.path()), LoadOptions::default()).unwrap();
    let texts: Vec<String> = (0..43_000).map(|index| format!("{index:x}").repeat(1 + index % 7)).collect();
    let before = in_use_bytes(&session);
    let done = embed(&mut session, &texts).unwrap();
    assert_eq!(done.figures.texts, 43_000);
    assert!(done.chunk_texts.len() > 40 && done.chunk_texts.iter().all(|&count| count <= 1024));
    assert!(done.progress.windows(2).all(|pair| pair[0].done <= pair[1].done && pair[1].total == 43_000));
    assert!(working_bytes(&session, before) < 4 << 20);
    let some: Vec<String> = texts.iter().step_by(1_000).cloned().collect();
    let again: Vec<Vec<f32>> = done.vectors.iter().step_by(1_000).cloned().collect();
    assert_close(&embed(&mut session, &some).unwrap().vectors, &again);

    let job = Job::new(JobKind::Embed { texts });
    let mut run = session.begin(job, Bytes::new(), &BTreeMap::new()).unwrap();
    for _ in 0..10 {
        assert!(matches!(session.step(&mut run, &mut Vec::new()).unwrap(), Step::More(_)));
    }
    drop(run);
    assert_eq!(in_use_bytes(&session), before);
    assert_close(&embed(&mut session, &some).unwrap().vectors, &again);
}

#[test]
fn odd_texts_have_vectors_and_no_texts_is_an_error() {
    let mut session = minilm(None);
    let texts = ["", "  ", "\0", "a\0b", &"x".repeat(1 << 20), &"many words ".repeat(100_000), "ordinary"];
    let texts = texts.map(str::to_owned);
    let done = embed(&mut session, &texts).unwrap();
    for vector in &done.vectors {
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
    assert_close(&done.vectors[..1], &done.vectors[1..2]);
    assert_eq!(done.figures.truncated.len(), 1);
    let Truncation { index, tokens, exact, used } = done.figures.truncated[0];
    assert!(index == 5 && tokens > 1_000 && !exact && used == 256);
    let failure = embed(&mut session, &[]).err().unwrap();
    assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidRequest, Some("texts")));
}

#[test]
fn a_text_longer_than_the_position_table_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(&models::embedder_with_limit(folder.path(), 16), LoadOptions::default()).unwrap();
    assert_eq!(session.info().embedding.as_ref().unwrap().max_tokens, 16);
    let texts = ["0123456789abcdef".to_owned(), "0123456789abcdef and more".to_owned()];
    let done = embed(&mut session, &texts).unwrap();
    assert_close(&done.vectors[..1], &done.vectors[1..]);
    assert_eq!(done.figures.truncated, [Truncation { index: 1, tokens: 25, exact: true, used: 16 }]);
}

#[test]
fn a_model_that_pools_by_itself_is_left_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut own = open(&models::embedder(&folder.path().join("a")), LoadOptions::default()).unwrap();
    let mut pooled =
        open(&models::embedder_pooled(&folder.path().join("b")), LoadOptions::default()).unwrap();
    assert_eq!(pooled.info().embedding.as_ref().unwrap().pooling, Pooling::Model);
    let texts = ["", "ebb", "ebb and flow, of different length"].map(str::to_owned);
    assert_close(&embed(&mut own, &texts).unwrap().vectors, &embed(&mut pooled, &texts).unwrap().vectors);
}

#[test]
fn a_folder_that_lost_something_says_what() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, spoil: &dyn Fn(&Path)| {
        let model = models::embedder(&folder.path().join(name));
        spoil(&model);
        open(&model, LoadOptions::default()).err().unwrap()
    };
    for (name, spoil) in [
        ("lost", &models::remove_tokenizer as &dyn Fn(&Path)),
        ("größer, broken", &|model: &Path| models::break_tokenizer(model)),
    ] {
        let failure = refused(name, spoil);
        assert_eq!(failure.code, Code::InvalidTokenizer);
        assert!(failure.message.contains(name) && failure.message.contains("tokenizer.json"), "{failure}");
    }
    for (name, spoil) in [
        ("cut", &(|model: &Path| models::truncate_half(&model.join("model.onnx"))) as &dyn Fn(&Path)),
        ("dense", &|model: &Path| {
            let dense = r#"[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]"#;
            std::fs::write(model.join("modules.json"), dense).unwrap();
        }),
        ("no pooling", &|model: &Path| std::fs::remove_dir_all(model.join("1_Pooling")).unwrap()),
    ] {
        let failure = refused(name, spoil);
        assert_eq!(failure.code, Code::InvalidModel, "{name}: {failure}");
    }
    let zero = LoadOptions { batch_tokens: Some(0), ..LoadOptions::default() };
    let whole = Embedder::default().write(&folder.path().join("whole"));
    assert_eq!(open(&whole, zero).err().unwrap().param.as_deref(), Some("batch_tokens"));
}
