use std::collections::BTreeMap;

use ebb_core::DType;
use serde_json::json;

use super::*;

/// A tokenizer with these tokens, which are all special.
fn words(tokens: &[(&str, u32)]) -> (tempfile::TempDir, Words) {
    let folder = tempfile::tempdir().unwrap();
    let added: Vec<Value> = tokens
        .iter()
        .map(|(content, id)| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true})
        })
        .collect();
    let vocab: BTreeMap<&str, u32> = tokens.iter().copied().collect();
    let tokenizer = json!({"version": "1.0", "added_tokens": added,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": tokens[0].0}});
    fs_err::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let words = Words::open(folder.path()).unwrap();
    (folder, words)
}

fn whisper(generation: &Value, config: &Value) -> Result<Family, Error> {
    let marks = [
        ("<|endoftext|>", 1),
        ("<|startoftranscript|>", 2),
        ("<|en|>", 3),
        ("<|de|>", 4),
        ("<|transcribe|>", 5),
        ("<|translate|>", 6),
        ("<|notimestamps|>", 7),
    ];
    let (folder, words) = words(&marks);
    fs_err::write(folder.path().join("generation_config.json"), generation.to_string()).unwrap();
    fs_err::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let features = TensorInfo {
        name: "input_features".to_owned(),
        dtype: Some(DType::Float32),
        shape: vec![-1, 80, 3_000],
    };
    Family::read(folder.path(), &[features], &words)
}

#[test]
fn a_whisper_of_many_languages_is_told_which() {
    let generation = json!({"is_multilingual": true, "suppress_tokens": [9, -1], "begin_suppress_tokens": [8, 1],
        "eos_token_id": 1, "max_length": 448});
    let family = whisper(&generation, &json!({})).unwrap();
    assert_eq!(family.languages, [("de".to_owned(), 4), ("en".to_owned(), 3)].into());
    assert_eq!(family.prompt(None), [2], "then the model tells the language");
    for code in ["de", "DE", " de-AT "] {
        let language = family.language(Some(code)).unwrap();
        assert_eq!(family.prompt(language.as_ref()), [2, 4, 5, 7]);
    }
    assert_eq!(family.language(None).unwrap(), None);
    assert_eq!(family.language(Some("auto")).unwrap(), None);
    assert_eq!((family.ends.as_slice(), family.banned_first.as_slice()), (&[1][..], &[8, 1][..]));
    assert!(family.banned.contains(&9) && family.banned.contains(&6) && !family.banned.contains(&1));
    assert!(matches!(family.hears, Hears::Mel { frames: 3_000, .. }));
    assert_eq!((family.token_limit(160_000), family.token_limit(480_000)), (148, 428));
}

#[test]
fn a_language_that_is_forced_holds_until_another_is_asked_for() {
    let generation = json!({"is_multilingual": true, "forced_decoder_ids": [[1, 4], [2, 5]]});
    let family = whisper(&generation, &json!({})).unwrap();
    assert_eq!(family.language(None).unwrap(), Some(("de".to_owned(), 4)));
    assert_eq!(family.language(Some("en")).unwrap(), Some(("en".to_owned(), 3)));
    let open = json!({"is_multilingual": true, "forced_decoder_ids": [[1, null], [2, 5]]});
    assert_eq!(whisper(&open, &json!({})).unwrap().language(None).unwrap(), None);
}

#[test]
fn a_whisper_of_english_alone_is_told_nothing() {
    for (generation, config) in [
        (json!({"is_multilingual": false, "forced_decoder_ids": [[1, 7]]}), json!({})),
        (json!({}), json!({"vocab_size": 51_864})),
        (json!({}), json!({})),
    ] {
        let family = whisper(&generation, &config).unwrap();
        assert!(family.languages.is_empty());
        assert_eq!(family.prompt(family.language(Some("en")).unwrap().as_ref()), [2, 7]);
        let failure: Failure = family.language(Some("fr")).unwrap_err().into();
        assert_eq!((failure.code, failure.param.as_deref()), (Code::InvalidValue, Some("language")));
        assert_eq!(failure.hint.as_deref(), Some("it knows en"));
    }
}

#[test]
fn a_front_end_that_differs_is_refused() {
    let (folder, words) =
        words(&[("<|startoftranscript|>", 2), ("<|notimestamps|>", 7), ("<|endoftext|>", 1)]);
    let read = |shape: &[i64], preprocessor: Value| {
        fs_err::write(folder.path().join("preprocessor_config.json"), preprocessor.to_string()).unwrap();
        let name = "input_features".to_owned();
        let features = TensorInfo { name, dtype: Some(DType::Float32), shape: shape.to_vec() };
        Family::read(folder.path(), &[features], &words)
    };
    let family = read(&[-1, -1, -1], json!({"feature_size": 128})).unwrap();
    assert!(matches!(&family.hears, Hears::Mel { mel, frames: 3_000 } if mel.bands() == 128));
    for (shape, preprocessor, says) in [
        (&[-1, 80, 3_000][..], json!({"hop_length": 320}), "hop_length is 320"),
        (&[80], json!({}), "shape [80]"),
        (&[-1, -1, -1], json!({"feature_size": 4_000_000_000_u64}), "4000000000 by 3000"),
    ] {
        let error = read(shape, preprocessor).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_moonshine_knows_the_language_that_its_folder_is_named_after() {
    let home = tempfile::tempdir().unwrap();
    let input =
        TensorInfo { name: "input_values".to_owned(), dtype: Some(DType::Float32), shape: vec![-1, -1] };
    let open = |name: &str| {
        let folder = home.path().join(name);
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("tokenizer.bin"), b"\x05<unk>\x03<s>\x04</s>").unwrap();
        let words = Words::open(&folder).unwrap();
        Family::read(&folder, std::slice::from_ref(&input), &words).unwrap()
    };
    let english = open("moonshine");
    assert_eq!((english.prompt.as_slice(), english.ends.as_slice()), (&[1][..], &[2][..]));
    assert_eq!(english.language(Some("EN")).unwrap(), None);
    assert!(english.language(Some("es")).is_err());
    assert_eq!(english.token_limit(160_000), 73);
    let japanese = open("moonshine-tiny-ja");
    assert_eq!(japanese.default_language.as_deref(), Some("ja"));
    assert_eq!(japanese.token_limit(160_000), 138);
}

#[test]
fn an_encoder_of_another_kind_is_refused() {
    let (folder, words) = words(&[("<|endoftext|>", 1)]);
    let input = TensorInfo { name: "pixel_values".to_owned(), dtype: None, shape: Vec::new() };
    let error = Family::read(folder.path(), &[input], &words).unwrap_err().to_string();
    assert!(error.contains("pixel_values") && error.contains("input_features"), "{error}");
}
