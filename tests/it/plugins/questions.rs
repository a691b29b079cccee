//! The pipeline `rag` on the corpus that it is judged by (`plugins/rag/eval`), with the real MiniLM in a real worker: it finds the
//! right passages, and what it cites is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use ebb_core::{
    Capability,
    operations::{AddModel, AskPiece, AskRequest, Citation, Grant, Grants, IngestPiece},
};
use ebb_tests::{
    home::{program, real_model},
    models::ChatModel,
};
use rag::extract::{Limits, extract};
use serde_json::Value;

use super::Scene;

const DOCUMENTS: usize = 17;

fn eval() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/rag/eval")
}

/// What is asked, where it is answered, and by which words.
struct Question {
    question: String,
    documents: Vec<String>,
    phrase: String,
}

fn questions() -> Vec<Question> {
    let json: Value = serde_json::from_slice(&fs::read(eval().join("questions.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let question = |value: &Value| Question {
        question: text(&value["question"]),
        documents: value["documents"].as_array().unwrap().iter().map(text).collect(),
        phrase: text(&value["phrase"]),
    };
    json["questions"].as_array().unwrap().iter().map(question).collect()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Question {
    /// Whether this passage answers it. A document's name begins with that of the folder that was granted.
    fn is_answered_by(&self, passage: &Citation) -> bool {
        let is_in = |document: &String| passage.document.ends_with(&format!("/{document}"));
        self.documents.iter().any(is_in) && flat(&passage.text).contains(&self.phrase)
    }
}

/// A host in which `rag` has read the corpus, and answers with this chat model.
async fn read_by_rag(chat: impl FnOnce(&Path) -> PathBuf) -> Scene {
    let scene = Scene::real(tempfile::tempdir().unwrap(), program("ebb-worker"));
    let chat = chat(&scene.folder.path().join("chat"));
    for (alias, path) in [("minilm", real_model("minilm")), ("chat", chat)] {
        scene.host.add_model(AddModel { path, alias: Some(alias.to_owned()) }).await.unwrap();
    }
    let grant = |capability: Capability| Grant {
        capability,
        models: if capability.is_of_models() { vec!["*".to_owned()] } else { Vec::new() },
        paths: if capability == Capability::Documents { vec![eval().join("docs")] } else { Vec::new() },
    };
    let asked = scene.entry("rag").await.manifest.capabilities;
    let grants = asked.into_iter().map(|asked| grant(asked.capability)).collect();
    scene.host.grant_plugin("rag", Grants { grants }).await.unwrap();
    let mut pieces = scene.host.ingest("rag").await.unwrap();
    let report = loop {
        match pieces.next().await.unwrap() {
            IngestPiece::Progress(_) => {}
            IngestPiece::Report(report) => break report,
            IngestPiece::Error(error) => panic!("{}", error.message),
        }
    };
    assert_eq!((report.documents as usize, &report.skipped[..]), (DOCUMENTS, &[][..]));
    scene
}

fn ask(question: &str) -> AskRequest {
    AskRequest { question: question.to_owned(), ..AskRequest::default() }
}

/// What an answer would rest on. It comes before the answer, which nobody waits for.
async fn found(scene: &Scene, question: &str) -> Vec<Citation> {
    let mut pieces = scene.host.ask("rag", ask(question)).await.unwrap();
    loop {
        match pieces.next().await.unwrap() {
            AskPiece::Progress(_) => {}
            AskPiece::Citations(citations) => return citations,
            piece => panic!("{question}: {piece:?}"),
        }
    }
}

/// The text of each document as the plugin reads it, by name.
fn texts() -> BTreeMap<String, String> {
    let folders = fs::read_dir(eval().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let read = |file: PathBuf| {
        let name = file.strip_prefix(eval()).unwrap().to_str().unwrap().replace('\\', "/");
        let extracted = extract("", &name, &fs::read(&file).unwrap(), &Limits::default()).unwrap();
        (name, extracted.text)
    };
    files.map(read).collect()
}

/// The passage is where it says.
fn assert_holds(citation: &Citation, texts: &BTreeMap<String, String>) {
    let text = texts.get(&citation.document).unwrap_or_else(|| panic!("there is no {}", citation.document));
    let place = text.get(citation.start as usize..citation.end as usize);
    assert_eq!(place, Some(&citation.text[..]), "{}", citation.document);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_right_passage_is_found_for_thirty_questions() {
    // Prompts are written for it, and what it says is nobody's concern. Its tokens are bytes.
    let chat = ChatModel { context_tokens: 12_000, layers: 1, ..ChatModel::default() };
    let scene = read_by_rag(|folder| chat.write(folder)).await;
    scene.set("rag", &[("prompt-tokens", 10_000.into())]).await;
    let (questions, texts) = (questions(), texts());
    assert_eq!(questions.len(), 30);
    let mut ranks = Vec::new();
    for question in &questions {
        let citations = found(&scene, &question.question).await;
        citations.iter().for_each(|citation| assert_holds(citation, &texts));
        let rank = citations.iter().position(|passage| question.is_answered_by(passage));
        if rank != Some(0) {
            tell(&format!("rank {:?}: {}", rank.map(|rank| rank + 1), question.question));
        }
        ranks.push(rank);
    }
    let hits = |k: usize| ranks.iter().flatten().filter(|&&rank| rank < k).count();
    let mrr = ranks.iter().flatten().map(|&rank| 1.0 / (rank as f64 + 1.0)).sum::<f64>() / ranks.len() as f64;
    tell(&format!("retrieval: hit@1 {}/30, hit@3 {}/30, MRR {mrr:.3}", hits(1), hits(3)));
    assert!(hits(3) >= 28 && hits(1) >= 24, "hit@1 {}/30, hit@3 {}/30: {ranks:?}", hits(1), hits(3));
}

/// Says a figure even where the test passes.
fn tell(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").unwrap();
}

/// The numbers in square brackets.
fn cited(answer: &str) -> BTreeSet<u32> {
    answer.split('[').skip(1).filter_map(|rest| rest.split_once(']')?.0.parse().ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_answer_cites_is_in_the_documents() {
    let scene = read_by_rag(|_| real_model("smollm2")).await;
    scene.set("rag", &[("answer-tokens", 64.into())]).await;
    let texts = texts();
    let mut citing = 0;
    // One of each kind of document; the text is in Latin-1.
    for question in [
        "How fast may the water wheel turn at most?",
        "What happened to the steam engine?",
        "At what temperature are the cheese scones baked?",
        "When does the music have to stop at a wedding?",
    ] {
        let answer = scene.host.ask("rag", ask(question)).await.unwrap().whole().await.unwrap();
        assert!(!answer.answer.trim().is_empty() && !answer.citations.is_empty(), "{question}: {answer:?}");
        let numbers: Vec<u32> = answer.citations.iter().map(|citation| citation.number).collect();
        assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>(), "{question}");
        answer.citations.iter().for_each(|citation| assert_holds(citation, &texts));
        let cited = cited(&answer.answer);
        assert!(cited.iter().all(|number| numbers.contains(number)), "{question}: {answer:?}");
        citing += usize::from(!cited.is_empty());
    }
    assert!(citing > 0, "small models forget to cite, but not always");
}
