use std::{cell::RefCell, rc::Rc};

use ebb_plugin_sdk::{
    inference::Message,
    testing::{Host as TestHost, Model},
};

use super::*;
use crate::{host::Ebb, ingest};

type Seen = Rc<RefCell<Vec<Message>>>;

/// A host with documents that were ingested, and a model that says this; what it was asked last.
fn host(says: &'static str) -> (TestHost, Seen) {
    let seen = Seen::default();
    let heard = seen.clone();
    let chat = Model::chat("chat", move |messages| {
        heard.borrow_mut().clone_from(&messages.to_vec());
        says.to_owned()
    });
    let host = TestHost::new()
        .model(Model::embeddings("embed", 256))
        .model(chat)
        .document("bees.md", "# Bees\n\nA hive holds many bees. They dance to say where flowers are.")
        .document("owls.txt", "Owls hunt at night. They hear a mouse below snow.")
        .document("tea.html", "<title>Tea</title><p>Green tea is brewed at eighty degrees.</p>")
        .install();
    ingest(&Ebb).unwrap();
    (host, seen)
}

fn answered(question: &str, history: &[(&str, &str)]) -> (String, Vec<Citation>) {
    let history: Vec<_> = history.iter().map(|(q, a)| ((*q).to_owned(), (*a).to_owned())).collect();
    let mut answer = ask(&Ebb, question, &history).unwrap();
    let mut text = String::new();
    while let Some(piece) = answer.piece().unwrap() {
        text.push_str(&piece);
    }
    (text, answer.citations().to_vec())
}

#[test]
fn an_answer_cites_passages_that_there_are() {
    let (_host, seen) = host("They dance [1] and sing [9].");
    let (text, citations) = answered("Why do bees dance?", &[]);
    assert_eq!(text, "They dance [1] and sing.");
    let first = &citations[0];
    assert_eq!((first.number, &first.document[..]), (1, "bees.md"));
    let whole = "Bees\n\nA hive holds many bees. They dance to say where flowers are.";
    assert_eq!(first.text, whole[first.start as usize..first.end as usize]);
    let prompt = &seen.borrow().last().unwrap().content.clone();
    let (before, best) = prompt.split_once("[1] ").unwrap();
    assert!(before.contains("[2] "), "the best passage stands next to the question: {prompt}");
    assert!(
        best.starts_with("bees.md\nBees\n\nA hive") && best.ends_with("Question: Why do bees dance?"),
        "{prompt}"
    );
}

#[test]
fn what_a_model_forgets_to_cite_is_cited_where_it_stands() {
    host("They dance to say where the flowers are.");
    assert_eq!(answered("Why do bees dance?", &[]).0, "They dance to say where the flowers are. [1]");
    host("They are fond of music.");
    assert_eq!(answered("Why do bees dance?", &[]).0, "They are fond of music.");
}

#[test]
fn where_nothing_fits_no_model_is_asked() {
    let (host, _) = host("I make things up.");
    let (text, citations) = answered("Quantum chromodynamics?", &[]);
    assert_eq!((&text[..], citations.len()), (NOTHING_FITS, 0));
    assert!(!host.calls().iter().any(|call| call.starts_with("generate")));
    assert_eq!(ask(&Ebb, "  ", &[]).err(), Some(Error::Invalid("there is no question".into())));
}

#[test]
fn before_the_first_ingest_the_answer_says_what_to_do() {
    TestHost::new().model(Model::embeddings("embed", 8)).model(Model::chat("chat", |_| "?".into())).install();
    let (text, _) = answered("Anything?", &[]);
    assert!(text.contains("ingest the documents first"), "{text}");
}

#[test]
fn a_question_may_rest_on_the_one_before() {
    let (host, seen) = host("At night [1].");
    drop(host.setting("passages", 1));
    let history = [("When do owls hunt?", "They hunt at night [3].")];
    let (_, citations) = answered("And why then?", &history);
    assert_eq!(citations[0].document, "owls.txt");
    let roles: Vec<_> = seen.borrow().iter().map(|message| message.role.clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(seen.borrow()[2].content, "They hunt at night.");
}

#[test]
fn a_prompt_fits_into_the_models_context() {
    let (host, seen) = host("Yes.");
    let small = Model::chat("chat", {
        let seen = seen.clone();
        move |messages| {
            seen.borrow_mut().clone_from(&messages.to_vec());
            "Yes.".to_owned()
        }
    });
    let host = host.model(small.with_context(400)).setting("chat-model", "chat");
    let sentence = |index| format!("Bees of hive {index} dance for clover on the southern meadow. ");
    let host = host.document("long.txt", (0..200).map(sentence).collect::<String>());
    ingest(&Ebb).unwrap();
    let long = "What they do is told at length. ".repeat(100);
    let history = [("What do bees do?", &long[..]), ("And owls?", "They hunt.")];
    let (_, citations) = answered("Where do bees dance for clover?", &history);
    assert_eq!(citations.len(), 1, "one passage, cut, is what fits");
    assert!(citations[0].text.ends_with("meadow."), "{}", citations[0].text);
    assert_eq!(seen.borrow().len(), 4, "the newer of two earlier questions fits");
    let error = ask(&Ebb, &"bees dance ".repeat(200), &[]).err();
    assert!(matches!(&error, Some(Error::Invalid(why)) if why.contains("400 tokens")), "{error:?}");
    drop(host);
}

#[test]
fn an_answer_ends_when_it_is_cancelled() {
    host("One two three four.");
    let mut answer = ask(&Ebb, "Why do bees dance?", &[]).unwrap();
    assert!(answer.piece().unwrap().is_some());
    answer.cancel();
    assert_eq!(answer.piece(), Ok(None));
}
