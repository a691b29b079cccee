use ebb_core::{Code, Failure};
use serde_json::json;

use super::*;
use crate::{Language, scene::Scene};

#[test]
fn all_files_say_what_ends_an_answer() {
    let scene = Scene::byte_level()
        .with("genai_config.json", &json!({"model": {"eos_token_id": [7, 8], "context_length": 512}}))
        .with("config.json", &json!({"eos_token_id": 9, "max_position_embeddings": 1024}))
        .with(
            "tokenizer_config.json",
            &json!({"eos_token": {"content": "<|im_start|>"}, "bos_token": "<s>"}),
        );
    let folder = Folder::read(scene.folder.path()).unwrap();
    assert_eq!(folder.ends, [1, 2, 7, 8, 9].into());
    assert_eq!(folder.context_tokens, Some(512));
    assert_eq!(folder.special["bos_token"], "<s>");
}

#[test]
fn a_model_is_sampled_as_its_files_say() {
    let read = |generation: Value, genai: Value| {
        let scene = Scene::byte_level()
            .with("generation_config.json", &generation)
            .with("genai_config.json", &json!({"search": genai}));
        Folder::read(scene.folder.path()).unwrap().defaults
    };
    let greedy = read(json!({"temperature": 0.6}), json!({"do_sample": false, "top_k": 50}));
    assert_eq!(greedy, Defaults { temperature: Some(0.0), top_k: Some(50), ..Defaults::default() });
    let sampled = read(json!({"do_sample": true, "temperature": 0.6, "top_k": -1}), json!({"top_p": 0.9}));
    let expected =
        Defaults { temperature: Some(0.6), top_k: Some(0), top_p: Some(0.9), ..Defaults::default() };
    assert_eq!(sampled, expected);
    assert_eq!(read(json!({}), json!({"do_sample": true})).temperature, Some(1.0));
    assert_eq!(read(json!({}), json!({})).temperature, Some(0.0));
}

#[test]
fn the_template_file_comes_before_the_others() {
    let config = json!({"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "t"}]});
    let scene = Scene::byte_level().with("tokenizer_config.json", &config);
    let templates = |scene: &Scene| Folder::read(scene.folder.path()).unwrap().templates;
    assert_eq!(templates(&scene), [("default".into(), "a".into()), ("tool_use".into(), "t".into())].into());
    let scene = scene.with("chat_template.json", &json!({"chat_template": "b"}));
    assert_eq!(templates(&scene)["default"], "b");
    let scene = scene.template("c");
    assert_eq!(templates(&scene)["default"], "c");
}

#[test]
fn a_field_that_holds_what_it_cannot_is_named() {
    for (file, value, message) in [
        (
            "genai_config.json",
            json!({"model": {"eos_token_id": "x"}}),
            "`model.eos_token_id` must be a token id or a list of them, not \"x\"",
        ),
        (
            "genai_config.json",
            json!({"model": {"context_length": -5}}),
            "`model.context_length` must be a whole number that is not negative, not -5",
        ),
        (
            "genai_config.json",
            json!({"search": {"temperature": "hot"}}),
            "`search.temperature` must be a number, not \"hot\"",
        ),
        (
            "genai_config.json",
            json!({"search": {"do_sample": 1}}),
            "`search.do_sample` must be true or false, not 1",
        ),
        ("generation_config.json", json!({"eos_token_id": [1, -1]}), "`eos_token_id` must be a token id"),
        ("generation_config.json", json!({"top_p": 7.5}), "top_p is 7.5; it is above 0 and at most 1"),
        ("tokenizer_config.json", json!({"chat_template": 3}), "`chat_template` must be a template"),
        (
            "tokenizer_config.json",
            json!({"chat_template": [{"name": "x"}]}),
            "`chat_template` must be a list",
        ),
    ] {
        let scene = Scene::byte_level().with(file, &value);
        let failure = Failure::from(Language::open(scene.folder.path(), 300).unwrap_err());
        assert_eq!(failure.code, Code::InvalidModel, "{value}");
        assert!(failure.message.contains(message), "{}", failure.message);
    }
    let scene = Scene::byte_level().with_text("config.json", "{");
    let failure = Failure::from(Language::open(scene.folder.path(), 300).unwrap_err());
    assert!(failure.message.contains("config.json cannot be used: it is not JSON"), "{}", failure.message);
}

#[test]
fn a_tokenizer_that_is_none_is_told() {
    for text in ["", "{}", "[1, 2", r#"{"model": {"type": "BPE"}}"#] {
        let scene = Scene::byte_level().with_text("tokenizer.json", text);
        let failure = Failure::from(Language::open(scene.folder.path(), 300).unwrap_err());
        assert_eq!(failure.code, Code::InvalidTokenizer, "{text}");
    }
}
