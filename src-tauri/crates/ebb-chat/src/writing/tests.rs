use ebb_core::{Code, Failure, ToolChoice};

use super::*;
use crate::scene::{
    BYTES, EOS, PYTHON, SIZE, START, Scene, TOOL_CALLS, WORDS, ask, bytes, weather, write, write_by,
};

fn language() -> Arc<Language> {
    Scene::byte_level().template("{{ messages[0].content }}").open()
}

fn word(text: &str) -> u32 {
    BYTES + 256 + WORDS.iter().position(|&word| word == text).unwrap() as u32
}

#[test]
fn a_language_is_shared_and_an_answer_can_be_written_on_any_thread() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Language>();
    sent::<Writing>();
    let writing = language().write(&ask("x"), &[]).unwrap();
    let seed = writing.seed();
    assert_eq!(std::thread::spawn(move || writing.seed()).join().unwrap(), seed);
}

#[test]
fn an_answer_ends_where_the_model_ends_it() {
    let written = write(&language(), &ask("x"), &[word("hello"), word(" world"), EOS, word("hello")]);
    assert_eq!(written.text, "hello world");
    assert_eq!(written.pieces, ["hello", " world"]);
    assert_eq!(written.finish, Some(FinishReason::Stop));
    assert_eq!(written.stop, None);
}

#[test]
fn characters_come_whole_and_special_tokens_do_not_come() {
    let tokens = [&[START][..], &bytes("é🦀"), &[TOOL_CALLS, 299]].concat();
    let written = write(&language(), &ask("x"), &tokens);
    assert_eq!(written.pieces, ["é", "🦀"]);
    let written = write(&language(), &ask("x"), &bytes("é🦀")[..4]);
    assert_eq!(written.text, "é\u{fffd}", "a character that was cut off");
}

#[test]
fn a_stop_text_ends_the_answer_across_tokens_and_is_left_out() {
    let generation = Generation { stop: vec!["lo wor".to_owned(), "###".to_owned()], ..ask("x") };
    let written = write(&language(), &generation, &[word("hello"), word(" world"), word("ab")]);
    assert_eq!((written.text.as_str(), written.stop.as_deref()), ("hel", Some("lo wor")));
    assert_eq!(written.finish, Some(FinishReason::Stop));
    let written = write(&language(), &generation, &[word("hello"), EOS]);
    assert_eq!((written.text.as_str(), written.stop), ("hello", None), "what was held back comes at the end");
}

#[test]
fn each_token_is_told_with_the_probability_that_the_model_gave_it() {
    let generation = Generation { logprobs: Some(2), logit_bias: [(BYTES + 1, 50.0)].into(), ..ask("x") };
    let mut writing = language().write(&generation, &[]).unwrap();
    let mut scores = vec![f32::NEG_INFINITY; SIZE];
    scores[BYTES as usize] = 3_f32.ln();
    scores[BYTES as usize + 1] = 0.0;
    let next = writing.next(&mut scores).unwrap();
    assert_eq!(next.token, BYTES + 1, "the bias decides");
    let [ChunkBody::Piece(piece)] = next.chunks.as_slice() else { panic!("{:?}", next.chunks) };
    let [told] = piece.logprobs.as_slice() else { panic!("{piece:?}") };
    assert!((told.logprob - 0.25_f32.ln()).abs() < 1e-6, "before the bias: {told:?}");
    assert_eq!((told.bytes.as_slice(), told.token.as_str()), (&[1_u8][..], "\u{1}"));
    let top: Vec<(u32, f32)> = told.top.iter().map(|top| (top.token_id, top.logprob.exp())).collect();
    assert_eq!(top.len(), 2);
    assert!(top[0].0 == BYTES && (top[0].1 - 0.75).abs() < 1e-6, "{top:?}");
}

#[test]
fn every_token_of_the_text_is_told_once() {
    let generation = Generation { logprobs: Some(0), stop: vec!["!".to_owned()], ..ask("x") };
    let written = write(&language(), &generation, &[&bytes("aé")[..], &bytes("!")].concat());
    let told: Vec<Vec<u8>> = written.logprobs.iter().map(|told| told.bytes.clone()).collect();
    assert_eq!(told, [vec![b'a'], vec![0xC3], vec![0xA9]], "those of the stop text are not");
    assert!(written.logprobs.iter().all(|told| told.top.is_empty() && told.logprob <= 0.0));
}

#[test]
fn the_same_seed_writes_the_same_and_the_seed_is_told() {
    let language = language();
    let run = |seed| {
        let generation = Generation { temperature: Some(1.0), seed, ..ask("x") };
        let mut writing = language.write(&generation, &[]).unwrap();
        let written = write_by(&mut writing, 20, || (0..SIZE).map(|place| (place % 13) as f32).collect());
        (writing.seed(), written.text)
    };
    assert_eq!(run(Some(3)), run(Some(3)));
    assert_eq!(run(Some(3)).0, 3);
    let (seed, text) = run(None);
    assert_eq!(run(Some(seed)).1, text, "a seed that was drawn can be used again");
    assert_ne!(run(None).0, seed);
}

#[test]
fn calls_end_an_answer_with_tools() {
    let generation = Generation { tools: vec![weather()], ..ask("x") };
    let call = r#"{"name": "weather", "arguments": {"city": "Rom"}}"#;
    let tokens = [&bytes("Wait.\n")[..], &[5], &bytes(call), &[word("</tool_call>"), EOS]].concat();
    let written = write(&language(), &generation, &tokens);
    assert_eq!((written.text.as_str(), written.finish), ("Wait.", Some(FinishReason::ToolCalls)));
    assert_eq!(written.calls[0].arguments, r#"{"city":"Rom"}"#);

    for mark in [TOOL_CALLS, PYTHON] {
        let written = write(&language(), &generation, &[&[mark][..], &bytes(call), &[EOS]].concat());
        assert_eq!((written.text.as_str(), written.calls.len()), ("", 1), "a special token may be a mark");
    }

    let untold = Generation { tool_choice: ToolChoice::None, ..generation };
    let written = write(&language(), &untold, &[&bytes(call)[..], &[EOS]].concat());
    assert_eq!((written.text.as_str(), written.finish), (call, Some(FinishReason::Stop)));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    for (generation, param) in [
        (Generation { max_tokens: Some(0), ..ask("x") }, "max_tokens"),
        (Generation { stop: vec![String::new()], ..ask("x") }, "stop[0]"),
        (Generation { top_p: Some(2.0), ..ask("x") }, "top_p"),
    ] {
        let failure = Failure::from(language().write(&generation, &[]).unwrap_err());
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some(param)));
    }
}

#[test]
fn scores_that_are_no_numbers_end_with_an_error() {
    let mut writing = language().write(&ask("x"), &[]).unwrap();
    let failure = Failure::from(writing.next(&mut [f32::NAN; SIZE]).unwrap_err());
    assert_eq!(failure.code, Code::Internal);
}
