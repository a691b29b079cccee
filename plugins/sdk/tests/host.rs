//! The host for tests behaves as the contract says, so that what passes on it holds on the real one.

use ebb_plugin_sdk::{
    Error, documents,
    inference::{self, GenerateOptions, Message, Vectors},
    memory::{self, Runtime},
    now_ms, progress, store,
    store::{Chunk, Collection, Query},
    testing::{Host, Model, sample},
    warn,
};

fn chunk(id: &str, text: &str) -> Chunk {
    Chunk { id: id.into(), text: text.into(), metadata: "{}".into() }
}

fn vectors(vectors: &[[f32; 2]]) -> Vectors {
    Vectors::new(vectors).unwrap()
}

#[test]
fn a_document_is_seen_once_it_is_committed_and_replaced_as_a_whole() {
    Host::new().install();
    let notes = Collection::open("notes", 2).unwrap();
    notes
        .stage("a.md", &[chunk("1", "old one"), chunk("2", "old two")], &vectors(&[[1.0, 0.0], [0.0, 1.0]]))
        .unwrap();
    notes.stage("a.md", &[chunk("2", "old again")], &vectors(&[[0.6, 0.8]])).unwrap();
    assert_eq!((notes.count(), notes.search(&Query::words("old")).unwrap().len()), (Ok(0), 0));
    notes.commit("a.md", "f1").unwrap();
    assert_eq!(notes.count(), Ok(2));
    assert_eq!(notes.search(&Query::words("again")).unwrap()[0].id, "2");

    notes.stage("a.md", &[chunk("1", "new")], &vectors(&[[1.0, 0.0]])).unwrap();
    notes.commit("a.md", "f2").unwrap();
    let documents = notes.documents().unwrap();
    assert_eq!((documents[0].fingerprint.as_str(), documents[0].chunks), ("f2", 1));
    assert_eq!(notes.search(&Query::words("old")), Ok(Vec::new()));
    assert_eq!((notes.remove("a.md"), notes.count()), (Ok(1), Ok(0)));
    assert_eq!((store::drop_collection("notes"), store::drop_collection("notes")), (Ok(true), Ok(false)));
    assert!(matches!(notes.count(), Err(Error::NotFound(_))));
}

#[test]
fn rankings_are_fused_by_reciprocal_rank() {
    Host::new().install();
    let notes = Collection::open("notes", 2).unwrap();
    for (document, text, vector) in
        [("near", "nothing", [1.0, 0.0]), ("both", "tide", [0.8, 0.6]), ("words", "tide table", [0.0, 1.0])]
    {
        notes.stage(document, &[chunk("1", text)], &vectors(&[vector])).unwrap();
        notes.commit(document, "").unwrap();
    }
    let found = |query: &Query| -> Vec<String> {
        notes.search(query).unwrap().into_iter().map(|hit| hit.document).collect()
    };
    let near = vectors(&[[1.0, 0.0]]);
    assert_eq!(found(&Query::near(near.clone())), ["near", "both", "words"]);
    assert_eq!(found(&Query::near(near.clone()).limit(1)), ["near"]);
    assert_eq!(found(&Query::hybrid("tide", near.clone())), ["both", "words", "near"]);
    assert_eq!(found(&Query::hybrid("tide", near).within(vec!["words".into()])), ["words"]);
    let best = &notes.search(&Query::hybrid("tide", vectors(&[[1.0, 0.0]]))).unwrap()[0];
    assert!((best.score - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-6, "{}", best.score);
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    Host::new()
        .model(Model::embeddings("e", 2))
        .model(Model::chat("c", |_| "yes".into()).with_context(3))
        .install();
    let notes = Collection::open("notes", 2).unwrap();
    let refused = |error: Error, words: &str| {
        assert!(matches!(&error, Error::Invalid(reason) if reason.contains(words)), "{error}");
    };
    refused(Collection::open("notes", 3).unwrap_err(), "another model");
    refused(Collection::open("../notes", 3).unwrap_err(), "../notes");
    refused(notes.stage("a", &[chunk("1", "")], &vectors(&[])).unwrap_err(), "one vector a chunk");
    refused(notes.search(&Query::default()).unwrap_err(), "neither");
    refused(notes.search(&Query::near(Vectors::new(&[[1.0_f32]]).unwrap())).unwrap_err(), "length");
    refused(Vectors::new(&[vec![1.0], vec![]]).unwrap_err(), "different lengths");
    refused(inference::embed("c", &["a".into()]).unwrap_err(), "chat");
    let long = [Message::user("one two three four")];
    refused(inference::generate("c", &long, &GenerateOptions::default()).unwrap_err(), "4 tokens, 3 fit");
    assert_eq!(inference::embed("x", &[]).unwrap_err(), Error::NotFound("the model 'x'".into()));
}

#[test]
fn a_refusal_names_the_capability() {
    let host = Host::new().deny("store").deny("memory.control").install();
    assert_eq!(store::set("a", b"b"), Err(Error::Denied("store".into())));
    assert_eq!(Runtime::open("m").unwrap_err().to_string(), "not granted: memory.control");
    assert_eq!(documents::granted(), Ok(Vec::new()));
    assert_eq!(host.calls(), ["kv-set a", "open m", "granted"]);
}

#[test]
fn a_generation_is_an_iterator_that_can_be_cancelled() {
    Host::new().model(Model::chat("c", |messages| messages[0].content.to_uppercase())).install();
    let prompt = [Message::user("one two three")];
    let mut generation = inference::generate("c", &prompt, &GenerateOptions::default()).unwrap();
    assert_eq!(generation.next(), Some(Ok("ONE ".into())));
    assert_eq!(generation.usage().unwrap().finish, None);
    generation.cancel();
    assert_eq!((generation.next(), generation.usage().unwrap().completion_tokens), (None, 1));
    assert_eq!(generation.usage().unwrap().finish.as_deref(), Some("cancelled"));

    let two = GenerateOptions { max_tokens: Some(2), ..GenerateOptions::default() };
    let generation = inference::generate("c", &prompt, &two).unwrap();
    assert_eq!(generation.text(), Ok("ONE TWO ".into()));
}

#[test]
fn vectors_are_floats_again() {
    let three = Vectors::new(&[[1.0, -0.5], [2.0, 0.25], [3.0, 0.0]]).unwrap();
    assert_eq!((three.dimensions, three.count, three.data.len()), (2, 3, 24));
    assert_eq!(three.get(1), Some(vec![2.0, 0.25]));
    assert_eq!(
        (three.get(3), three.single(3), three.slice(2, 4), three.slice(2, 1)),
        (None, None, None, None)
    );
    assert_eq!(three.single(2).unwrap().iter().collect::<Vec<_>>(), [[3.0, 0.0]]);
    assert_eq!(three.slice(0, 2).unwrap(), Vectors::new(&[[1.0, -0.5], [2.0, 0.25]]).unwrap());
    assert_eq!(Vectors::new::<[f32; 0]>(&[]).unwrap().iter().count(), 0);
}

#[test]
fn documents_are_read_block_by_block() {
    let content: Vec<u8> = (0..3_000_000_u32).map(|byte| byte as u8).collect();
    let host = Host::new().at_ms(7).document("a/b.PDF", content.clone()).document("c.md", "short").install();
    assert_eq!(now_ms(), 7);
    let granted = documents::granted().unwrap();
    assert_eq!((granted[0].media_type.as_str(), granted[0].modified_ms), ("application/pdf", 7));
    assert_eq!(granted[0].read_all(3_000_000), Ok(content));
    assert!(matches!(granted[0].read_all(2_999_999), Err(Error::Invalid(_))));
    assert_eq!(documents::read("c.md", 3, 99), Ok(b"rt".to_vec()));
    assert_eq!(documents::read("c.md", u64::MAX, u64::MAX), Ok(Vec::new()));
    host.without_document("c.md");
    assert!(matches!(granted[1].read_all(9), Err(Error::NotFound(_))));
}

#[test]
fn samples_shrinks_and_progress_are_there_to_be_seen() {
    let first = sample(90 << 20, 100 << 20);
    let host = Host::new().sample(first.clone()).sample(sample(90 << 20, 300 << 20)).install();
    assert_eq!(memory::history("model", 9).unwrap()[0], first);
    let runtime = Runtime::open("model").unwrap();
    let report = runtime.shrink_arena(&[]).unwrap();
    assert_eq!((report.freed_bytes >> 20, report.reserved_after_bytes >> 20), (210, 90));
    assert_eq!(memory::latest("model").unwrap().slack_bytes(), 0);
    runtime.set_runtime_option("a", Some("b")).unwrap();
    runtime.set_runtime_option("c", None).unwrap();
    assert_eq!(runtime.runtime_options(), Ok(vec![("a".into(), "b".into())]));
    progress(2.0, "done");
    warn!("{} of {}", 1, 2);
    assert_eq!((host.progress(), host.logs()), (vec![(1.0, "done".into())], vec!["1 of 2".into()]));
}
