//! A pipeline that misbehaves in the way that it is asked for. What it was told is its answer.

mod sys;

use std::hint::black_box;

use ebb_plugin_sdk::{
    Answer, Citation, Error, Ingested, RagPipeline, documents, export_pipeline,
    inference::{self, GenerateOptions, Message, Vectors},
    memory::{self, Runtime},
    progress,
    store::{self, Chunk, Collection, Query},
};

include!("../behaviours.rs");

/// What a behaviour came to, for the test to look at.
type Told = Result<String, Error>;

macro_rules! choose {
    ($($name:ident)*) => {
        fn behaviour(question: &str) -> Option<fn() -> Told> {
            match question {
                $(stringify!($name) => Some($name),)*
                _ => None,
            }
        }
    };
}

pipeline_behaviours!(choose);

#[derive(Default)]
struct Hostile;

export_pipeline!(Hostile);

impl RagPipeline for Hostile {
    type Answer = Said;

    fn ingest(&mut self) -> Result<Ingested, Error> {
        // Slow on purpose, and cut off in the middle by some tests.
        let collection = Collection::open("numbers", 2)?;
        for number in 0..200_u32 {
            let document = format!("document {number}");
            let chunk = |part: u32| Chunk {
                id: part.to_string(),
                text: format!("part {part} of {document}"),
                metadata: "{}".to_owned(),
            };
            let vectors = Vectors::new(&[[1.0, number as f32], [2.0, number as f32]])?;
            collection.stage(&document, &[chunk(0), chunk(1)], &vectors)?;
            collection.commit(&document, "1")?;
            progress(number as f32 / 200.0, &document);
        }
        Ok(Ingested { documents: 200, chunks: 400, ..Ingested::default() })
    }

    fn ask(&mut self, question: &str, _: &[(String, String)]) -> Result<Said, Error> {
        match behaviour(question) {
            Some(act) => act().map(|text| Said(Some(text))),
            None => Ok(Said(Some("it behaves".to_owned()))),
        }
    }
}

struct Said(Option<String>);

impl Answer for Said {
    fn citations(&mut self) -> Result<Vec<Citation>, Error> {
        Ok(Vec::new())
    }

    fn next(&mut self) -> Result<Option<String>, Error> {
        Ok(self.0.take())
    }
}

/// An outcome in words, so that the test sees each of several.
fn said<T>(outcome: Result<T, Error>) -> String {
    match outcome {
        Ok(_) => "allowed".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn lines(outcomes: impl IntoIterator<Item = String>) -> Told {
    Ok(outcomes.into_iter().collect::<Vec<_>>().join("\n"))
}

fn loops_forever() -> Told {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn traps() -> Told {
    sys::trap()
}

fn allocates() -> Told {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        held.push(black_box(vec![1; 16 << 20]));
    }
}

fn uses_a_garbage_handle() -> Told {
    sys::close_runtime(4_242);
    Ok("the host took a handle that it never gave".to_owned())
}

fn calls_a_dropped_resource() -> Told {
    let handle = sys::open_runtime("m");
    sys::drop_runtime(handle);
    sys::close_runtime(handle);
    Ok("the host took a handle that it had taken back".to_owned())
}

fn opens_many_handles() -> Told {
    let mut held = Vec::new();
    for opened in 0..100_000 {
        match Runtime::open("m") {
            Ok(runtime) => held.push(runtime),
            Err(error) => return Ok(format!("{opened} opened, then: {error}")),
        }
    }
    Ok("all opened".to_owned())
}

fn reads_memory() -> Told {
    lines([
        said(memory::latest("m")),
        said(memory::history("not-granted", 5)),
        said(memory::latest("no-such")),
    ])
}

fn controls_memory() -> Told {
    let shrunk = Runtime::open("m").and_then(|runtime| runtime.shrink_arena(&[]).map(drop));
    lines([said(shrunk), said(Runtime::open("not-granted"))])
}

fn embeds() -> Told {
    let texts = ["a text".to_owned()];
    lines([said(inference::embed("m", &texts)), said(inference::embed("not-granted", &texts))])
}

fn generates() -> Told {
    let messages = [Message::user("go on")];
    let start = |model| inference::generate(model, &messages, &GenerateOptions::default());
    lines([said(start("m").and_then(|generation| generation.text())), said(start("not-granted"))])
}

fn transcribes() -> Told {
    lines([
        said(inference::transcribe("m", &[0.0; 16], None)),
        said(inference::transcribe("not-granted", &[0.0; 16], None)),
    ])
}

fn stores() -> Told {
    lines([said(store::set("key", b"value")), said(Collection::open("mine", 2))])
}

fn reads_documents() -> Told {
    lines([said(documents::granted())])
}

fn names_another_plugins_collection() -> Told {
    let names = ["../rag/store", "/etc/passwd", "rag\0mine", "", "a/b", "c:\\d"];
    lines(names.map(|name| said(Collection::open(name, 2))))
}

fn tricks_with_paths() -> Told {
    let ids = ["/etc/passwd", "../../etc/passwd", "", ".", "\0", "%2e%2e/etc/passwd"];
    lines(ids.map(|id| said(documents::read(id, 0, 10))))
}

fn hands_over_too_much() -> Told {
    let huge = "x".repeat(64 << 20);
    lines([said(inference::embed("m", &[huge.clone()])), said(store::set("huge", huge.as_bytes()))])
}

fn fills_its_store() -> Told {
    let block = vec![7; 512 << 10];
    for number in 0..100 {
        if let Err(error) = store::set(&number.to_string(), &block) {
            return Ok(format!("{number} kept, then: {error}"));
        }
    }
    Ok("all kept".to_owned())
}

fn floods_progress() -> Told {
    for step in 0..10_000 {
        progress(f32::NAN, &format!("step {step}"));
    }
    Ok("told".to_owned())
}

fn lies_about_vectors() -> Told {
    let collection = Collection::open("lies", 2)?;
    let chunk = || Chunk { id: "1".into(), text: "t".into(), metadata: "{}".into() };
    let vectors = |dimensions, count, bytes| Vectors { dimensions, count, data: vec![0; bytes] };
    let stage = |vectors| said(collection.stage("d", &[chunk()], &vectors));
    let wrong = Query { vector: Some(vectors(3, 1, 12)), ..Query::default() };
    lines([
        stage(vectors(2, u32::MAX, 8)),
        stage(vectors(u32::MAX, u32::MAX, 8)),
        stage(vectors(2, 1, 7)),
        stage(vectors(3, 1, 12)),
        said(collection.stage("d", &[], &vectors(2, 1, 8))),
        said(collection.search(&wrong)),
        said(Collection::open("lies", 3)),
    ])
}

fn leaves_a_generation_running() -> Told {
    let mut generation = inference::generate("m", &[Message::user("go on")], &GenerateOptions::default())?;
    let first = generation.next().transpose()?;
    // Never dropped: the host has to end it.
    std::mem::forget(generation);
    Ok(first.unwrap_or_default())
}

fn calls_too_often() -> Told {
    for call in 0..1_000_000 {
        if let Err(error) = memory::latest("m") {
            return Ok(format!("{call} answered, then: {error}"));
        }
    }
    Ok("all answered".to_owned())
}
