//! Pipelines that misbehave: the call fails with the reason, and the next one works.

use std::{path::PathBuf, time::Duration};

use ebb_core::{
    Code, Failure,
    operations::{AskPiece, AskRequest},
};
use ebb_plugins::Plugin;
use futures_util::StreamExt as _;

use super::{GUESTS, Scene};

include!("../../guests/pipeline/behaviours.rs");

/// A behaviour without a test of its name does not compile.
macro_rules! exists {
    ($($name:ident)*) => { const _: &[fn()] = &[$($name),*]; };
}
pipeline_behaviours!(exists);

/// What the pipeline answers; everything is granted, on the model `m` alone.
async fn asked(plugin: &Plugin, question: &str) -> Result<String, Failure> {
    let mut pieces =
        plugin.pipeline().ask(AskRequest { question: question.to_owned(), ..AskRequest::default() });
    let mut answer = String::new();
    while let Some(piece) = pieces.next().await {
        match piece {
            AskPiece::Text(text) => answer += &text,
            AskPiece::Error(error) => return Err(ebb_core::ErrorBody { error }.into()),
            AskPiece::Done { .. } => return Ok(answer),
            AskPiece::Progress(_) | AskPiece::Citations(_) => {}
        }
    }
    panic!("it ended without an end")
}

fn said(question: &str) -> Result<String, Failure> {
    said_with(question, &["m"], Vec::new())
}

#[tokio::main]
async fn said_with(question: &str, models: &[&str], paths: Vec<PathBuf>) -> Result<String, Failure> {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.pipeline, models, paths);
    let said = asked(&plugin, question).await;
    assert_eq!(asked(&plugin, "anything else").await.unwrap(), "it behaves");
    assert_eq!(plugin.memory_bytes(), 0, "nothing of a call stays");
    said
}

fn lines(question: &str) -> Vec<String> {
    said(question).unwrap().lines().map(ToOwned::to_owned).collect()
}

/// That it is stopped so, with the plugin's name in the message.
fn stops_with(question: &str, code: Code, why: &str) {
    let failure = said(question).unwrap_err();
    assert_eq!(failure.code, code, "{failure}");
    assert!(failure.message.starts_with("the plugin 'hostile-pipeline': "), "{failure}");
    assert!(failure.message.contains(why), "{failure}");
}

#[test]
fn loops_forever() {
    stops_with("loops_forever", Code::Timeout, "stopped after 200 ms of processor time");
}

#[test]
fn traps() {
    stops_with("traps", Code::Internal, "it trapped");
}

#[test]
fn allocates() {
    stops_with("allocates", Code::OutOfMemory, "its limit of 256.0 MiB of memory");
}

#[test]
fn uses_a_garbage_handle() {
    stops_with("uses_a_garbage_handle", Code::Internal, "handle");
}

#[test]
fn calls_a_dropped_resource() {
    stops_with("calls_a_dropped_resource", Code::Internal, "handle");
}

#[test]
fn opens_many_handles() {
    stops_with("opens_many_handles", Code::Timeout, "its limit of 100 open handles");
}

#[test]
fn reads_memory() {
    let lines = lines("reads_memory");
    assert_eq!(lines[0], "allowed");
    assert!(lines[1].contains("memory.read was not granted on 'not-granted'"), "{lines:?}");
    assert!(lines[2].contains("memory.read was not granted on 'no-such'"), "{lines:?}");
}

#[test]
fn controls_memory() {
    let lines = lines("controls_memory");
    assert_eq!(lines[0], "allowed");
    assert!(lines[1].contains("memory.control was not granted on 'not-granted'"), "{lines:?}");
}

#[test]
fn embeds() {
    let lines = lines("embeds");
    assert_eq!(lines[0], "allowed");
    assert!(lines[1].contains("inference.embed was not granted on 'not-granted'"), "{lines:?}");
}

#[test]
fn generates() {
    let lines = lines("generates");
    assert_eq!(lines[0], "allowed");
    assert!(lines[1].contains("inference.generate was not granted on 'not-granted'"), "{lines:?}");
}

#[test]
fn transcribes() {
    let lines = lines("transcribes");
    assert_eq!(lines[0], "allowed");
    assert!(lines[1].contains("inference.transcribe was not granted on 'not-granted'"), "{lines:?}");
}

#[test]
fn stores() {
    assert_eq!(lines("stores"), ["allowed", "allowed"]);
}

#[test]
fn reads_documents() {
    assert_eq!(lines("reads_documents"), ["allowed"]);
}

#[test]
fn names_another_plugins_collection() {
    for line in lines("names_another_plugins_collection") {
        assert_ne!(line, "allowed");
    }
}

#[test]
fn tricks_with_paths() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.txt"), "mine").unwrap();
    let told = said_with("tricks_with_paths", &["m"], vec![folder.path().to_owned()]).unwrap();
    for line in told.lines() {
        assert!(line.contains("no such document was granted"), "{told}");
    }
}

#[test]
fn hands_over_too_much() {
    stops_with("hands_over_too_much", Code::TooLarge, "more than 1.0 MiB handed over in one call");
}

#[test]
fn fills_its_store() {
    let said = said("fills_its_store").unwrap();
    let (kept, why) = said.split_once(" kept, then: ").unwrap();
    assert!((1..9).contains(&kept.parse::<u32>().unwrap()), "{said}");
    assert!(why.contains("4.0 MiB"), "{said}");
}

#[test]
fn floods_progress() {
    assert_eq!(said("floods_progress").unwrap(), "told");
}

#[test]
fn lies_about_vectors() {
    for line in lines("lies_about_vectors") {
        assert_ne!(line, "allowed");
    }
}

#[test]
fn calls_too_often() {
    stops_with("calls_too_often", Code::Timeout, "10000 calls of the host a second");
}

#[test]
fn leaves_a_generation_running() {
    generation_is_ended();
}

#[tokio::main]
async fn generation_is_ended() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.pipeline, &["m"], Vec::new());
    assert_eq!(asked(&plugin, "leaves_a_generation_running").await.unwrap(), "one");
    scene.models.generation_ended.notified().await;
}

#[test]
fn what_is_not_granted_is_denied_in_every_interface() {
    for (question, capability) in [
        ("reads_memory", "memory.read"),
        ("controls_memory", "memory.control"),
        ("embeds", "inference.embed"),
        ("generates", "inference.generate"),
        ("transcribes", "inference.transcribe"),
    ] {
        let told = said_with(question, &[], Vec::new()).unwrap();
        assert!(told.contains(&format!("{capability} was not granted on 'm'")), "{told}");
    }
    nothing_granted();
}

#[tokio::main]
async fn nothing_granted() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.pipeline, &["m"], Vec::new());
    plugin.set_grants(Vec::new());
    for (question, capability) in [("stores", "store"), ("reads_documents", "documents")] {
        let told = asked(&plugin, question).await.unwrap();
        assert!(told.contains(&format!("{capability} was not granted")), "{told}");
    }
}

#[tokio::test]
async fn an_ingest_that_is_given_up_leaves_whole_documents() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.pipeline, &["m"], Vec::new());
    let (told, mut steps) = tokio::sync::mpsc::unbounded_channel();
    let pipeline = plugin.pipeline();
    let mut ingest = Box::pin(pipeline.ingest(Box::new(move |progress| drop(told.send(progress)))));
    tokio::select! {
        report = &mut ingest => panic!("it ended too soon: {report:?}"),
        _ = async { for _ in 0..5 { steps.recv().await; } } => {}
    }
    drop(ingest);
    let index = loop {
        let index = plugin.index().await.unwrap();
        // What the disk was doing when it was given up is completed or undone.
        tokio::time::sleep(Duration::from_millis(20)).await;
        if index == plugin.index().await.unwrap() {
            break index;
        }
    };
    let collection = &index.collections[0];
    assert!((5..200).contains(&collection.documents), "{index:?}");
    assert_eq!(collection.chunks, 2 * collection.documents, "no half document");
    let report = plugin.pipeline().ingest(Box::new(|_| {})).await.unwrap();
    assert_eq!((report.documents, report.chunks), (200, 400));
    let collection = &plugin.index().await.unwrap().collections[0];
    assert_eq!((collection.documents, collection.chunks), (200, 400), "nothing twice");
}

#[tokio::test]
async fn an_answer_that_nobody_wants_ends() {
    let scene = Scene::new();
    let plugin = scene.plugin(&GUESTS.pipeline, &["m"], Vec::new());
    let asked = AskRequest { question: "loops_forever".to_owned(), ..AskRequest::default() };
    let pieces = plugin.pipeline().ask(asked);
    while plugin.memory_bytes() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(pieces);
    while plugin.memory_bytes() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
