//! Small model folders for tests: a byte-level vocabulary and one with byte fallback, and answers written by force.

use std::sync::Arc;

use ebb_core::{ChunkBody, FinishReason, Generation, Message, TokenLogprob, Tool, ToolCall};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::{Language, Writing};

pub(crate) const BOS: u32 = 0;
pub(crate) const EOS: u32 = 1;
/// A special token that ends nothing.
pub(crate) const START: u32 = 2;
/// Special tokens that begin calls.
pub(crate) const TOOL_CALLS: u32 = 3;
pub(crate) const PYTHON: u32 = 4;
/// The byte 0; the others follow.
pub(crate) const BYTES: u32 = 10;
/// Longer tokens; they follow the bytes.
pub(crate) const WORDS: [&str; 10] =
    ["hello", " world", "{\"", "\": ", "true", "name", "</tool_call>", "\n\n", "ab", "aaa"];

/// The width of the scores: some more than the vocabulary has, as models have it.
pub(crate) const SIZE: usize = 300;

/// A model folder.
pub(crate) struct Scene {
    pub(crate) folder: TempDir,
}

impl Scene {
    /// A byte-level vocabulary, as GPT-2, Llama 3 and Qwen have it.
    pub(crate) fn byte_level() -> Self {
        let special = [
            (BOS, "<s>"),
            (EOS, "<|im_end|>"),
            (START, "<|im_start|>"),
            (TOOL_CALLS, "[TOOL_CALLS]"),
            (PYTHON, "<|python_tag|>"),
        ];
        let mut vocab: Map<_, _> = special.iter().map(|&(id, name)| (name.to_owned(), id.into())).collect();
        vocab.insert("<tool_call>".to_owned(), 5.into());
        for byte in 0..=255_u8 {
            vocab.insert(character_of(byte).to_string(), (BYTES + u32::from(byte)).into());
        }
        for (word, id) in WORDS.iter().zip(BYTES + 256..) {
            vocab.insert(word.bytes().map(character_of).collect(), id.into());
        }
        let tokenizer = json!({
            "version": "1.0",
            "added_tokens": special.map(|(id, content)| added(id, content, true)).into_iter()
                .chain([added(5, "<tool_call>", false)]).collect::<Vec<_>>(),
            "normalizer": null,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
            "post_processor": starting("<s>", BOS),
            "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
            "model": {"type": "BPE", "vocab": vocab, "merges": []},
        });
        Self::new()
            .with("tokenizer.json", &tokenizer)
            .with("generation_config.json", &json!({"eos_token_id": EOS}))
    }

    /// A vocabulary of pieces with byte fallback, as Llama 2, Mistral and Gemma have it.
    pub(crate) fn byte_fallback() -> Self {
        let mut vocab = Map::new();
        let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
        let letters = ('a'..='z').map(String::from);
        let pieces = ["▁", "é", "▁h", "ll", "▁hi"].map(str::to_owned);
        for (piece, id) in ["<unk>", "<s>", "</s>"]
            .map(str::to_owned)
            .into_iter()
            .chain(bytes)
            .chain(letters)
            .chain(pieces)
            .zip(0..)
        {
            vocab.insert(piece, id.into());
        }
        let tokenizer = json!({
            "version": "1.0",
            "added_tokens": [added(0, "<unk>", true), added(1, "<s>", true), added(2, "</s>", true)],
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ]},
            "pre_tokenizer": null,
            "post_processor": starting("<s>", 1),
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ]},
            "model": {"type": "BPE", "vocab": vocab, "byte_fallback": true, "unk_token": "<unk>", "fuse_unk": true,
                "merges": [["▁", "h"], ["l", "l"], ["▁h", "i"]]},
        });
        Self::new()
            .with("tokenizer.json", &tokenizer)
            .with("tokenizer_config.json", &json!({"eos_token": "</s>"}))
    }

    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// With another file.
    pub(crate) fn with(self, name: &str, value: &Value) -> Self {
        self.with_text(name, &value.to_string())
    }

    /// With another file.
    pub(crate) fn with_text(self, name: &str, text: &str) -> Self {
        fs_err::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// With this chat template.
    pub(crate) fn template(self, source: &str) -> Self {
        self.with_text("chat_template.jinja", source)
    }

    pub(crate) fn open(&self) -> Arc<Language> {
        Language::open(self.folder.path(), SIZE).unwrap()
    }
}

fn added(id: u32, content: &str, special: bool) -> Value {
    json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": special})
}

/// A post-processor that puts a token before every text.
fn starting(token: &str, id: u32) -> Value {
    json!({"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}}})
}

/// The character that a byte-level vocabulary has for a byte.
fn character_of(byte: u8) -> char {
    let prints = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let before = (0..byte).filter(|&other| !prints(other)).count();
    if prints(byte) { char::from(byte) } else { char::from_u32(256 + before as u32).unwrap() }
}

/// The tokens of a text, one for each byte.
pub(crate) fn bytes(text: &str) -> Vec<u32> {
    text.bytes().map(|byte| BYTES + u32::from(byte)).collect()
}

/// A request of one message.
pub(crate) fn ask(text: &str) -> Generation {
    Generation { messages: vec![Message::new("user", text)], ..Generation::default() }
}

/// A tool with one argument.
pub(crate) fn weather() -> Tool {
    Tool {
        name: "weather".to_owned(),
        description: Some("Tells the weather".to_owned()),
        parameters:
            json!({"type": "object", "properties": {"city": {"enum": ["Bern", "Rom"]}}, "required": ["city"],
            "additionalProperties": false})
            .into(),
    }
}

/// What came of an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) pieces: Vec<String>,
    pub(crate) logprobs: Vec<TokenLogprob>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) stop: Option<String>,
}

impl Written {
    fn add(&mut self, chunks: Vec<ChunkBody>) {
        for chunk in chunks {
            match chunk {
                ChunkBody::Piece(piece) => {
                    assert!(self.calls.is_empty(), "text comes before calls");
                    self.text.push_str(&piece.text);
                    self.pieces.push(piece.text);
                    self.logprobs.extend(piece.logprobs);
                }
                ChunkBody::ToolCall(call) => self.calls.push(call),
                other => panic!("{other:?} is no part of an answer"),
            }
        }
    }
}

/// Has a model choose these tokens, and cuts the answer after them where it has not ended.
pub(crate) fn write(language: &Arc<Language>, generation: &Generation, tokens: &[u32]) -> Written {
    let mut writing = language.write(generation, &[]).unwrap();
    let mut written = Written::default();
    for &token in tokens {
        let mut scores = vec![0.0; SIZE];
        scores[token as usize] = 20.0;
        let next = writing.next(&mut scores).unwrap();
        assert_eq!(next.token, token);
        written.add(next.chunks);
        written.finish = next.finish;
        if next.finish.is_some() {
            break;
        }
    }
    if written.finish.is_none() {
        written.add(writing.cut().unwrap());
    }
    written.stop = writing.stop().map(str::to_owned);
    written
}

/// Writes on with scores that `scores` gives, up to `most` tokens.
pub(crate) fn write_by(writing: &mut Writing, most: usize, mut scores: impl FnMut() -> Vec<f32>) -> Written {
    let mut written = Written::default();
    for _ in 0..most {
        let next = writing.next(&mut scores()).unwrap();
        written.add(next.chunks);
        written.finish = next.finish;
        if next.finish.is_some() {
            return written;
        }
    }
    written.add(writing.cut().unwrap());
    written
}
