use ebb_plugin_sdk::{
    Arena, Sample,
    inference::{GenerateOptions, Message, ModelInfo, Vectors},
    testing::{Host as TestHost, Model, sample},
};

use super::*;
use crate::host::Ebb;

fn host() -> TestHost {
    TestHost::new()
        .model(Model::embeddings("embed", 64))
        .document("bees.md", "# Bees\n\nA hive holds many bees. They dance to say where flowers are.")
        .document("owls.txt", "Owls hunt at night. They hear a mouse below snow.")
        .install()
}

fn embedded(host: &TestHost) -> usize {
    host.calls().iter().filter(|call| call.starts_with("embed ")).count()
}

#[test]
fn only_what_changed_is_embedded_again() {
    let host = host();
    let first = ingest(&Ebb).unwrap();
    assert_eq!((first.documents, first.chunks, first.unchanged, first.removed), (2, 2, 0, 0));
    let calls = embedded(&host);

    let second = ingest(&Ebb).unwrap();
    assert_eq!((second.documents, second.unchanged), (0, 2));
    assert_eq!(embedded(&host), calls + 1, "the model is probed, nothing is embedded");

    let host = host.document("owls.txt", "Owls sleep by day.").without_document("bees.md");
    let third = ingest(&Ebb).unwrap();
    assert_eq!((third.documents, third.unchanged, third.removed), (1, 0, 1));
    let held = ebb_plugin_sdk::store::Collection::open("embed.64", 64).unwrap();
    assert_eq!(held.count(), Ok(1));
    assert!(host.progress().last().is_some_and(|(fraction, _)| *fraction == 1.0));
}

#[test]
fn other_settings_cut_anew() {
    let host = host();
    ingest(&Ebb).unwrap();
    host.setting("chunk-tokens", 64);
    assert_eq!(ingest(&Ebb).unwrap().documents, 2);
}

#[test]
fn what_cannot_be_read_is_left_out_with_a_reason_and_forgotten() {
    let host = host();
    ingest(&Ebb).unwrap();
    let host = host.document("owls.txt", b"\0\x01\x02".to_vec()).document("empty.pdf", "%PDF-1.4");
    let report = ingest(&Ebb).unwrap();
    let names: Vec<&str> = report.skipped.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["empty.pdf", "owls.txt"]);
    assert!(report.skipped[1].1.contains("named as text"), "{:?}", report.skipped);
    let held = ebb_plugin_sdk::store::Collection::open("embed.64", 64).unwrap().documents().unwrap();
    assert_eq!(held.len(), 1, "what it said before, it says no longer: {held:?}");
    host.setting("max-document-mb", 1).document("large.txt", "x ".repeat(1 << 20));
    let report = ingest(&Ebb).unwrap();
    assert!(
        report.skipped.iter().any(|(name, why)| name == "large.txt" && why.contains("1 MiB")),
        "{report:?}"
    );
}

#[test]
fn another_model_begins_a_new_collection_and_the_old_one_goes() {
    let host = host();
    ingest(&Ebb).unwrap();
    let host = host.model(Model::embeddings("wide", 128)).setting("embedding-model", "wide");
    let report = ingest(&Ebb).unwrap();
    assert_eq!((report.documents, report.unchanged), (2, 0));
    assert!(report.more.contains(&("dropped_collections".to_owned(), 1)));
    assert!(host.calls().contains(&"drop-collection embed.64".to_owned()), "{:?}", host.calls());
    assert_eq!(ingest(&Ebb).unwrap().unchanged, 2);
}

#[test]
fn another_model_behind_the_same_name_is_noticed() {
    host();
    ingest(&Ebb).unwrap();
    let other: Vec<u8> = (0..64).flat_map(|index: i32| f32::from(index == 3).to_le_bytes()).collect();
    ebb_plugin_sdk::store::set("probe/embed.64", &other).unwrap();
    let report = ingest(&Ebb).unwrap();
    assert_eq!((report.documents, report.unchanged), (2, 0));
    assert_eq!(ingest(&Ebb).unwrap().unchanged, 2);
}

#[test]
fn a_document_that_broke_the_reader_is_left_out_then_tried_last_and_then_not_at_all() {
    let host = host();
    let content = hex(&Sha256::digest("Owls hunt at night. They hear a mouse below snow."));
    let note = |host: &Ebb| Suspects::read(host).unwrap().begin(host, "owls.txt", &content).unwrap();
    note(&Ebb);
    let report = ingest(&Ebb).unwrap();
    assert_eq!(report.documents, 1, "the others are indexed");
    assert_eq!(report.skipped[0].0, "owls.txt");
    assert!(report.skipped[0].1.contains("ended while it was read"), "{report:?}");
    let report = ingest(&Ebb).unwrap();
    assert_eq!(
        (report.documents, report.skipped.len()),
        (1, 0),
        "a host that was stopped leaves the same note"
    );

    ebb_plugin_sdk::store::drop_collection("embed.64").unwrap();
    note(&Ebb);
    note(&Ebb);
    // The note of the second try is found by the third.
    let report = ingest(&Ebb).unwrap();
    assert_eq!(report.documents, 1);
    assert!(report.skipped[0].1.contains("broke the reader twice"), "{report:?}");
    assert!(ingest(&Ebb).unwrap().skipped[0].1.contains("broke the reader twice"));

    let host = host.document("owls.txt", "Owls changed.");
    assert_eq!(ingest(&Ebb).unwrap().documents, 1);
    assert!(host.logs().iter().any(|line| line.contains("owls.txt is left out")));
}

#[test]
fn what_the_others_hold_is_kept_before_a_suspect_is_read() {
    let host = host();
    let content =
        hex(&Sha256::digest("# Bees\n\nA hive holds many bees. They dance to say where flowers are."));
    Suspects::read(&Ebb).unwrap().begin(&Ebb, "bees.md", &content).unwrap();
    ingest(&Ebb).unwrap();
    ebb_plugin_sdk::store::drop_collection("embed.64").unwrap();
    let before = host.calls().len();
    assert_eq!(ingest(&Ebb).unwrap().documents, 2);
    let calls = host.calls();
    let at = |what: &str| calls[before..].iter().position(|call| call.starts_with(what)).expect(what);
    assert!(at("commit") < at("read bees.md"), "{calls:?}");
}

#[test]
fn memory_is_given_back_where_it_may_be() {
    let host = host().sample(Sample { model: "embed".into(), ..sample(100, 900) });
    ingest(&Ebb).unwrap();
    assert!(host.calls().iter().any(|call| call.starts_with("shrink-arena embed")), "{:?}", host.calls());
    let host = TestHost::new()
        .model(Model::embeddings("embed", 8))
        .document("a.txt", "Text.")
        .deny("memory.control")
        .deny("memory.read")
        .install();
    let report = ingest(&Ebb).unwrap();
    assert_eq!(report.documents, 1);
    assert!(!report.more.iter().any(|(name, _)| name == "freed_bytes"));
    assert!(host.logs().iter().any(|line| line.contains("memory.control")), "{:?}", host.logs());
}

#[test]
fn a_model_that_was_not_granted_is_named() {
    TestHost::new().document("a.txt", "Text.").install();
    assert_eq!(ingest(&Ebb), Err(Error::Denied("inference.embed, on a model of the kind embeddings".into())));
}

#[test]
fn long_documents_are_embedded_in_batches_and_committed_once() {
    let sentence = "One of many sentences that say little. ";
    let host = TestHost::new()
        .model(Model::embeddings("embed", 8))
        .setting("chunk-tokens", 32)
        .setting("batch-tokens", 256)
        .document("a.txt", sentence.repeat(400))
        .document("b.txt", "Short.")
        .install();
    let report = ingest(&Ebb).unwrap();
    assert!(report.chunks > 100, "{report:?}");
    let batches: Vec<u32> =
        host.calls().iter().filter_map(|call| call.strip_prefix("embed embed ")?.parse().ok()).collect();
    assert!(batches.iter().all(|&texts| texts <= 16) && batches.len() > 12, "{batches:?}");
    let commits = host.calls().iter().filter(|call| call.starts_with("commit")).count();
    assert_eq!((report.documents, commits), (2, 2));
}

/// A host whose model takes few texts at once.
struct Tight;

impl Host for Tight {
    type Generation = <Ebb as Host>::Generation;
    type Collection = <Ebb as Host>::Collection;

    fn embed(&self, model: &str, texts: &[String]) -> Result<Vectors, Error> {
        if texts.len() > 3 { Err(Error::Failed("out of memory".into())) } else { Ebb.embed(model, texts) }
    }
    fn log(&self, level: Level, line: &str) {
        Ebb.log(level, line);
    }
    fn setting(&self, name: &str) -> Option<String> {
        Ebb.setting(name)
    }
    fn progress(&self, fraction: f32, message: &str) {
        Ebb.progress(fraction, message);
    }
    fn granted(&self) -> Result<Vec<Document>, Error> {
        Ebb.granted()
    }
    fn read(&self, id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
        Ebb.read(id, offset, length)
    }
    fn models(&self) -> Result<Vec<ModelInfo>, Error> {
        Ebb.models()
    }
    fn count_tokens(&self, model: &str, texts: &[String]) -> Result<Vec<u32>, Error> {
        Ebb.count_tokens(model, texts)
    }
    fn generate(
        &self,
        model: &str,
        messages: &[Message],
        options: &GenerateOptions,
    ) -> Result<Self::Generation, Error> {
        Ebb.generate(model, messages, options)
    }
    fn arenas(&self, model: &str) -> Result<Vec<Arena>, Error> {
        Ebb.arenas(model)
    }
    fn shrink(&self, model: &str) -> Result<u64, Error> {
        Ebb.shrink(model)
    }
    fn open(&self, collection: &str, dimensions: u32) -> Result<Self::Collection, Error> {
        Ebb.open(collection, dimensions)
    }
    fn drop_collection(&self, name: &str) -> Result<bool, Error> {
        Ebb.drop_collection(name)
    }
    fn kv_get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        Ebb.kv_get(key)
    }
    fn kv_set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        Ebb.kv_set(key, value)
    }
    fn kv_delete(&self, key: &str) -> Result<(), Error> {
        Ebb.kv_delete(key)
    }
}

#[test]
fn a_model_that_is_given_too_much_is_given_less() {
    let host = TestHost::new()
        .model(Model::embeddings("embed", 8))
        .setting("chunk-tokens", 32)
        .document("a.txt", "One of many sentences that say little. ".repeat(100))
        .document("b.txt", "Short.")
        .install();
    let report = ingest(&Tight).unwrap();
    assert_eq!((report.documents, report.skipped.len()), (2, 0));
    let held = ebb_plugin_sdk::store::Collection::open("embed.8", 8).unwrap();
    assert_eq!(held.count(), Ok(u64::from(report.chunks)), "nothing is lost, nothing twice");
    assert!(host.logs().iter().any(|line| line.contains("too many")), "{:?}", host.logs());
}
