use ebb_core::Generation;
use proptest::prelude::*;

use super::*;
use crate::scene::weather;

fn found(parts: &[&str]) -> (String, Vec<(String, String)>) {
    let generation = Generation { tools: vec![weather()], ..Generation::default() };
    let mut calls = Calls::new(&generation, Form::Hermes);
    let mut text = String::new();
    parts.iter().for_each(|part| calls.push(part, &mut text));
    let found = calls.finish(&mut text).unwrap();
    (text, found.into_iter().map(|call| (call.name, call.arguments)).collect())
}

const ROM: (&str, &str) = ("weather", r#"{"city":"Rom"}"#);
const BERN: (&str, &str) = ("weather", r#"{"city":"Bern"}"#);

/// What a model writes, the text in it, and the calls.
type Answer = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const ANSWERS: [Answer; 29] = [
    ("Hello.", "Hello.", &[]),
    ("", "", &[]),
    ("  indented", "  indented", &[]),
    (
        r#"<tool_call>
{"name": "weather", "arguments": {"city": "Rom"}}
</tool_call>"#,
        "",
        &[ROM],
    ),
    (
        r#"Let me see.

<tool_call>{"name": "weather", "arguments": {"city": "Rom"}}</tool_call>
<tool_call>{"name": "weather", "arguments": {"city": "Bern"}}</tool_call>"#,
        "Let me see.",
        &[ROM, BERN],
    ),
    (r#"<tool_call>{"name": "weather", "arguments": {"city": "Rom"}}"#, "", &[ROM]),
    (
        r#"<tool_call>{"name": "other", "arguments": {"x": "</tool_call>"}}</tool_call>"#,
        "",
        &[("other", r#"{"x":"</tool_call>"}"#)],
    ),
    (r#"<tool_call>{"name": "weather", "arguments": {"city": "Rom"}}</tool_call> Done."#, "Done.", &[ROM]),
    (
        r#"<tool_call>{"name": "weather", "arguments": {"city": "Rom"}</tool_call>"#,
        r#"<tool_call>{"name": "weather", "arguments": {"city": "Rom"}</tool_call>"#,
        &[],
    ),
    ("<tool_call>weather in Rom</tool_call>", "<tool_call>weather in Rom</tool_call>", &[]),
    (r#"<tool_call>{"arguments": {}}</tool_call>"#, r#"<tool_call>{"arguments": {}}</tool_call>"#, &[]),
    ("a < b and <tool", "a < b and <tool", &[]),
    (r#"{"name": "weather", "parameters": {"city": "Rom"}}"#, "", &[ROM]),
    (r#" {"type": "function", "name": "weather", "parameters": {"city": "Rom"}}"#, "", &[ROM]),
    (
        r#"{"type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Rom\"}"}}"#,
        "",
        &[ROM],
    ),
    (
        r#"{"function": "weather", "parameters": {"city": "Rom"}}; {"function": "weather", "parameters": {"city": "Bern"}}"#,
        "",
        &[ROM, BERN],
    ),
    (
        r#"[{"name": "weather", "arguments": {"city": "Rom"}}, {"name": "weather", "arguments": {"city": "Bern"}}]"#,
        "",
        &[ROM, BERN],
    ),
    (r#"{"name": "weather"}"#, "", &[("weather", "{}")]),
    (r#"{"name": "Ada", "age": 36}"#, r#"{"name": "Ada", "age": 36}"#, &[]),
    (r#"{"city": "Rom"}"#, r#"{"city": "Rom"}"#, &[]),
    ("[1] A note", "[1] A note", &[]),
    (r#"<|python_tag|>{"name": "weather", "parameters": {"city": "Rom"}}"#, "", &[ROM]),
    ("<|python_tag|>print(1)", "print(1)", &[]),
    (r#"[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Rom"}}]"#, "", &[ROM]),
    (r#"[TOOL_CALLS]weather[ARGS]{"city": "Rom"}[TOOL_CALLS]weather{"city": "Bern"}"#, "", &[ROM, BERN]),
    (r#"[TOOL_CALLS]weather[CALL_ID]abc[ARGS]{"city": "Rom"}"#, "", &[ROM]),
    (
        r#"I look.[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rom"}}"#,
        r#"I look.[{"name": "weather", "arguments": {"city": "Rom"}}"#,
        &[],
    ),
    (r#"<|tool_call|>[{"name": "weather", "arguments": {"city": "Rom"}}]<|/tool_call|>"#, "", &[ROM]),
    (r#"{"name": "weather", "arguments": [1]}"#, r#"{"name": "weather", "arguments": [1]}"#, &[]),
];

#[test]
fn calls_are_found_in_the_forms_that_models_write() {
    for (answer, text, calls) in ANSWERS {
        let calls: Vec<(String, String)> =
            calls.iter().map(|&(name, arguments)| (name.to_owned(), arguments.to_owned())).collect();
        assert_eq!(found(&[answer]), (text.to_owned(), calls), "{answer}");
    }
}

#[test]
fn text_that_cannot_be_a_call_is_not_held_back() {
    let generation = Generation { tools: vec![weather()], ..Generation::default() };
    let mut calls = Calls::new(&generation, Form::Hermes);
    let mut text = String::new();
    for (part, ready) in [
        ("The", "The"),
        (" answer ", "The answer"),
        ("is <", "The answer is"),
        ("b>.", "The answer is <b>."),
        ("\n\n<tool_", "The answer is <b>."),
        ("call>{", "The answer is <b>."),
    ] {
        calls.push(part, &mut text);
        assert_eq!(text, ready);
    }

    let mut calls = Calls::new(&generation, Form::Hermes);
    let mut text = String::new();
    calls.push("{\"", &mut text);
    assert_eq!(text, "", "it may be a call");
    calls.push("ci", &mut text);
    assert_eq!(text, "{\"ci", "no call begins so");
}

#[test]
fn calls_are_named_as_the_template_takes_them() {
    let generation = Generation { tools: vec![weather()], ..Generation::default() };
    for (form, length) in [(Form::Hermes, 29), (Form::Mistral, 9)] {
        let mut names = BTreeSet::new();
        for _ in 0..20 {
            let mut calls = Calls::new(&generation, form);
            calls.push(r#"{"name": "weather"}"#, &mut String::new());
            names.extend(calls.finish(&mut String::new()).unwrap().into_iter().map(|call| call.id));
        }
        assert_eq!(names.len(), 20, "no two are alike");
        assert!(names.iter().all(|name| name.len() == length), "{names:?}");
    }
}

proptest! {
    #[test]
    fn any_split_finds_the_same(answer in 0..ANSWERS.len(), cuts in prop::collection::vec(0_usize..140, 0..12)) {
        let answer = ANSWERS[answer].0;
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(answer.len())).collect();
        cuts.extend([0, answer.len()]);
        cuts.sort_unstable();
        let parts: Vec<&str> = cuts.windows(2).map(|pair| &answer[pair[0]..pair[1]]).collect();
        prop_assert_eq!(found(&parts), found(&[answer]));
    }

    #[test]
    fn nothing_that_a_model_writes_panics(answer in "([<{\\[]|\\]|tool_call>|\"name\"|\\[TOOL_CALLS\\]|:|é|\\{\\}|,| |weather){0,12}") {
        found(&[&answer]);
    }
}
