use serde_json::{Value, json};

use super::*;

/// A WordPiece tokenizer as BERT's, with a tiny vocabulary; it asks for padding and truncation, as MiniLM's does.
fn bert() -> Value {
    let special = |id: u32, content: &str| json!({ "id": id, "content": content, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false });
    json!({
        "version": "1.0",
        "truncation": { "max_length": 4, "strategy": "LongestFirst", "stride": 0 },
        "padding": { "strategy": { "Fixed": 128 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 3, "pad_type_id": 0, "pad_token": "[PAD]" },
        "added_tokens": [special(0, "[UNK]"), special(1, "[CLS]"), special(2, "[SEP]"), special(3, "[PAD]")],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } }, { "SpecialToken": { "id": "[SEP]", "type_id": 0 } }],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": { "[CLS]": { "id": "[CLS]", "ids": [1], "tokens": ["[CLS]"] }, "[SEP]": { "id": "[SEP]", "ids": [2], "tokens": ["[SEP]"] } }
        },
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": { "[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[PAD]": 3, "low": 4, "tide": 5, "##s": 6 }
        }
    })
}

fn open(json: &[u8], max_tokens: usize) -> Result<TextTokenizer, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokenizer.json");
    fs_err::write(&file, json).unwrap();
    TextTokenizer::open(&file, max_tokens, None)
}

fn encode(tokenizer: &TextTokenizer, text: &str) -> (Vec<u32>, Encoded) {
    let mut ids = Vec::new();
    let encoded = tokenizer.encode(text, &mut ids).unwrap();
    (ids, encoded)
}

#[test]
fn the_file_s_own_padding_and_truncation_do_not_count() {
    let tokenizer = open(bert().to_string().as_bytes(), 10).unwrap();
    assert_eq!(tokenizer.pad_id(), 3);
    let (ids, encoded) = encode(&tokenizer, "Low tides, low");
    assert_eq!(ids, [1, 4, 5, 6, 0, 4, 2]);
    assert_eq!(encoded, Encoded { used: 7, tokens: 7, exact: true });
}

/// C16: cut to the model's limit, the special tokens kept at both ends, and told.
#[test]
fn a_long_text_is_cut_and_counted() {
    let tokenizer = open(bert().to_string().as_bytes(), 5).unwrap();
    let (ids, encoded) = encode(&tokenizer, &"low ".repeat(8_000));
    assert_eq!(ids, [1, 4, 4, 4, 2]);
    assert_eq!(encoded, Encoded { used: 5, tokens: 8_002, exact: true });
    let (ids, encoded) = encode(&tokenizer, "low low low");
    assert_eq!((ids.len(), encoded.tokens), (5, 5));
}

#[test]
fn of_a_megabyte_only_as_much_is_read_as_it_takes() {
    let tokenizer = open(bert().to_string().as_bytes(), 5).unwrap();
    let (ids, encoded) = encode(&tokenizer, &"low tide ".repeat(120_000));
    assert_eq!(ids, [1, 4, 5, 4, 2]);
    assert!(!encoded.exact && encoded.tokens > 10_000 && encoded.tokens < 100_000, "{encoded:?}");
    // Blanks are no tokens: the one word behind them is found all the same.
    let (ids, encoded) = encode(&tokenizer, &format!("{}tide", " ".repeat(1 << 20)));
    assert_eq!(ids, [1, 5, 2]);
    assert!(encoded.exact);
    // A single word without an end is one unknown token.
    assert_eq!(encode(&tokenizer, &"ä".repeat(1 << 19)).0, [1, 0, 2]);
}

#[test]
fn odd_texts_are_texts() {
    let tokenizer = open(bert().to_string().as_bytes(), 5).unwrap();
    assert_eq!(encode(&tokenizer, "").0, [1, 2]);
    assert_eq!(encode(&tokenizer, " \n\t").0, [1, 2]);
    assert_eq!(encode(&tokenizer, "l\0ow\0").0, [1, 4, 2]);
    let mut bare = bert();
    bare["post_processor"] = Value::Null;
    let bare = open(bare.to_string().as_bytes(), 5).unwrap();
    assert_eq!(encode(&bare, ""), (vec![3], Encoded { used: 1, tokens: 1, exact: true }));
}

#[test]
fn a_broken_tokenizer_says_so() {
    let whole = bert().to_string();
    for broken in [&b""[..], b"{}", b"\xff\xfe", &whole.as_bytes()[..whole.len() / 2]] {
        let failure: ebb_core::Failure = open(broken, 10).unwrap_err().into();
        assert_eq!(failure.code, ebb_core::Code::InvalidTokenizer);
        assert!(failure.message.contains("tokenizer.json"), "{failure}");
    }
    let missing: ebb_core::Failure =
        TextTokenizer::open(Path::new("gone.json"), 10, None).unwrap_err().into();
    assert_eq!(missing.code, ebb_core::Code::InvalidTokenizer);
    assert!(open(whole.as_bytes(), 2).unwrap_err().to_string().contains("2 special tokens"));
}

#[test]
fn a_text_is_cut_at_a_blank_where_there_is_one() {
    assert_eq!(prefix("one two", 100), "one two");
    assert_eq!(prefix("one two", 5), "one");
    assert_eq!(prefix("ääää", 3), "ä");
}
