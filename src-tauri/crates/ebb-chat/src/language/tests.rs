use std::sync::LazyLock;

use ebb_core::{Code, Failure};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    scene::{BOS, BYTES, SIZE, Scene, ask, bytes, write},
    utf8::Utf8Stream,
};

fn bare(prompt: &str) -> Generation {
    Generation { prompt: Some(prompt.to_owned()), ..Generation::default() }
}

#[test]
fn a_template_writes_all_special_tokens_by_itself() {
    let language = Scene::byte_level().template("<s>{{ messages[0].content }}<|im_end|>").open();
    assert!(language.has_template());
    assert_eq!(language.prompt(&ask("hi")).unwrap(), [&[BOS][..], &bytes("hi"), &[1]].concat());
    assert_eq!(language.prompt(&bare("hi")).unwrap(), [&[BOS][..], &bytes("hi")].concat());
}

#[test]
fn without_a_template_a_bare_prompt_is_asked_for() {
    let language = Scene::byte_level().open();
    assert!(!language.has_template() && !language.takes_tools());
    let failure = Failure::from(language.prompt(&ask("hi")).unwrap_err());
    assert_eq!(failure.code, Code::InvalidRequest);
    assert_eq!(failure.hint.as_deref(), Some("send the text to continue as `prompt`"));
    assert_eq!(language.prompt(&bare("")).unwrap(), [BOS], "there is something to begin with");
}

#[test]
fn a_prompt_longer_than_the_context_is_told_with_its_length() {
    let scene = Scene::byte_level().with("config.json", &json!({"max_position_embeddings": 64}));
    let language = scene.open();
    assert_eq!(language.prompt(&bare(&"x".repeat(63))).unwrap().len(), 64);
    let failure = Failure::from(language.prompt(&bare(&"x".repeat(99))).unwrap_err());
    assert_eq!(failure.message, "the prompt has 100 tokens, 36 more than the 64 that the model takes");
    assert_eq!((failure.code, failure.details["prompt_tokens"]), (Code::InvalidRequest, 100));
    let failure = Failure::from(language.prompt(&bare(&"x".repeat(50_000_000))).unwrap_err());
    assert_eq!(
        failure.message,
        "the prompt has at least 1025 tokens, 961 more than the 64 that the model takes"
    );
}

#[test]
fn a_tokenizer_for_a_larger_model_is_told() {
    let scene = Scene::byte_level();
    let language = Language::open(scene.folder.path(), BYTES as usize + 64).unwrap();
    assert!(language.prompt(&bare("?")).is_ok());
    let failure = Failure::from(language.prompt(&bare("x")).unwrap_err());
    assert_eq!(failure.code, Code::InvalidTokenizer);
}

#[test]
fn tokens_are_counted_without_special_ones() {
    assert_eq!(Scene::byte_level().open().count_tokens("hello").unwrap(), 5);
    assert_eq!(Scene::byte_fallback().open().count_tokens("hi").unwrap(), 1);
}

#[test]
fn pieces_with_byte_fallback_are_text() {
    let language = Scene::byte_fallback().template("{{ messages[0].content }}").open();
    for text in ["hi", "hill é", " two  blanks ", "🦀 crab", "a\nb"] {
        let tokens = language.tokenizer.encode_fast(text, false).unwrap().get_ids().to_vec();
        assert_eq!(
            write(&language, &ask("x"), &tokens).text,
            text,
            "the answer's own first blank is no part of it"
        );
        let continued = write(&language, &bare("x"), &tokens).text;
        assert_eq!(continued, format!(" {text}"), "a continued text needs it");
    }
}

/// The text of tokens by our own table, without special ones.
fn spelled(language: &Language, tokens: &[u32]) -> String {
    let (mut stream, mut text) = (Utf8Stream::default(), String::new());
    for &token in tokens.iter().filter(|&&token| !language.vocabulary.is_special(token)) {
        stream.push(language.vocabulary.bytes(token), &mut text);
    }
    stream.finish(&mut text);
    text
}

static BYTE_LEVEL: LazyLock<Arc<Language>> = LazyLock::new(|| Scene::byte_level().open());
static BYTE_FALLBACK: LazyLock<Arc<Language>> = LazyLock::new(|| Scene::byte_fallback().open());

proptest! {
    #[test]
    fn byte_level_tokens_spell_what_the_tokenizer_decodes(tokens in prop::collection::vec(0..SIZE as u32, 0..40)) {
        let language = &*BYTE_LEVEL;
        let decoded = language.tokenizer.decode(&tokens, true).unwrap();
        prop_assert_eq!(spelled(language, &tokens), decoded);
    }

    #[test]
    fn any_text_comes_back_from_its_tokens(text in "[a-zé 🦀\n]{0,20}") {
        let language = &*BYTE_FALLBACK;
        let tokens = language.tokenizer.encode_fast(text.as_str(), false).unwrap().get_ids().to_vec();
        let decoded = language.tokenizer.decode(&tokens, true).unwrap();
        let spelled = spelled(language, &tokens);
        prop_assert_eq!(spelled.strip_prefix(' ').unwrap_or(&spelled), decoded);
    }
}
