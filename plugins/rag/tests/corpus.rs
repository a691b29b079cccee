//! The corpus and its questions fit together.

use std::{convert::Infallible, fs, path::Path};

use rag::{
    chunk::{Size, chunks},
    extract::{Extracted, Limits, extract},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Questions {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    documents: Vec<String>,
    phrase: String,
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/eval"))
}

fn read(name: &str) -> Extracted {
    let bytes = fs::read(folder().join("docs").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    extract("", name, &bytes, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_phrase_is_whole_in_a_chunk_of_its_document() {
    let json = fs::read(folder().join("questions.json")).unwrap();
    let Questions { questions } = serde_json::from_slice(&json).unwrap();
    assert_eq!(questions.len(), 30);
    for Question { question, documents, phrase } in questions {
        for name in documents {
            let extracted = read(&name);
            let size = Size { tokens: 200, overlap: 30 };
            let words = |texts: &[String]| {
                Ok::<_, Infallible>(texts.iter().map(|text| text.len() as u32 / 4).collect())
            };
            let Ok(chunks) = chunks(&extracted, &name, size, words);
            let is_in = |text: &str| flat(text).contains(&phrase);
            assert!(
                chunks.iter().any(|chunk| is_in(&extracted.text[chunk.range.clone()])),
                "{question}: {name}"
            );
        }
    }
}

#[test]
fn what_is_no_text_of_a_page_is_not_read() {
    for (name, hidden) in [
        ("mill/history.html", "1999"),
        ("mill/history.html", "Home"),
        ("mill/flour.html", "Basket"),
        ("house/energy-report.html", "99 kilowatts"),
    ] {
        assert!(!read(name).text.contains(hidden), "{name} gives {hidden}");
    }
}

#[test]
fn a_packed_pdf_has_its_headings_and_pages() {
    let extracted = read("garden/bats-and-birds.pdf");
    let headings: Vec<_> =
        extracted.headings.iter().map(|one| (one.level, &extracted.text[one.start..one.end])).collect();
    let expected = [
        (1, "Survey of bats and birds"),
        (2, "Counts"),
        (2, "What follows for the building"),
        (2, "Birds"),
        (2, "Methods"),
    ];
    assert_eq!(headings, expected);
    assert_eq!(extracted.pages.len(), 2);
    assert!(
        extracted.text.contains("minutes after sunset. Two long-eared"),
        "a word that was broken is whole again"
    );
}
