use super::*;
use crate::gguf::sample::Sample;

/// A token for every byte, as byte-level vocabularies write them.
fn byte_tokens() -> Vec<String> {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut hidden = 0x100..;
    (0..=255u8)
        .map(|byte| {
            let code = if printable(byte) { u32::from(byte) } else { hidden.next().unwrap() };
            char::from_u32(code).unwrap().to_string()
        })
        .collect()
}

struct Scene {
    tokens: Vec<String>,
    kinds: Vec<i32>,
    keys: Sample,
}

fn byte_level(pre: &str) -> Scene {
    let mut tokens = vec!["<|endoftext|>".to_owned(), "<|im_start|>".to_owned(), "<|im_end|>".to_owned()];
    tokens.extend(byte_tokens());
    tokens.extend(["th", "the", "12"].map(str::to_owned));
    let mut keys = Sample::default();
    keys.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre);
    keys.texts("tokenizer.ggml.merges", &["t h", "th e", "1 2"]);
    keys.unsigned("tokenizer.ggml.bos_token_id", 1).unsigned("tokenizer.ggml.eos_token_id", 0);
    let kinds = tokens.iter().enumerate().map(|(id, _)| if id < 3 { 3 } else { 1 }).collect();
    Scene { tokens, kinds, keys }
}

fn sentence_piece() -> Scene {
    let mut tokens = vec!["<unk>".to_owned(), "<s>".to_owned(), "</s>".to_owned()];
    let mut kinds = vec![2, 3, 3];
    for byte in 0..=255u8 {
        tokens.push(format!("<0x{byte:02X}>"));
        kinds.push(6);
    }
    for piece in ["▁", "t", "h", "e", "th", "▁the", "he", "▁t", "[X]"] {
        tokens.push(piece.to_owned());
        kinds.push(if piece == "[X]" { 4 } else { 1 });
    }
    let scores: Vec<f32> = (0..tokens.len()).map(|id| -(id as f32)).collect();
    let mut keys = Sample::default();
    keys.text("tokenizer.ggml.model", "llama").floats("tokenizer.ggml.scores", &scores);
    keys.unsigned("tokenizer.ggml.bos_token_id", 1).unsigned("tokenizer.ggml.eos_token_id", 2);
    keys.unsigned("tokenizer.ggml.unknown_token_id", 0);
    Scene { tokens, kinds, keys }
}

impl Scene {
    fn gguf(&mut self) -> Gguf {
        self.keys.texts("tokenizer.ggml.tokens", &self.tokens);
        self.keys.integers("tokenizer.ggml.token_type", &self.kinds);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), self.keys.bytes()).unwrap();
        Gguf::open(file.path()).unwrap()
    }

    fn vocabulary(mut self) -> Result<(Vocabulary, Tokenizer), Error> {
        let gguf = self.gguf();
        let vocabulary = Vocabulary::read(&gguf, self.tokens.len())?;
        let tokenizer = Tokenizer::from_bytes(vocabulary.tokenizer(&gguf)?).unwrap();
        Ok((vocabulary, tokenizer))
    }

    fn refused(self) -> String {
        self.vocabulary().map(|_| ()).unwrap_err().to_string()
    }
}

fn pieces(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    tokenizer.encode(text, true).unwrap().get_tokens().to_vec()
}

#[test]
fn every_rule_makes_a_tokenizer_that_keeps_text() {
    for name in splitting::Rule::names().split(", ") {
        let (_, tokenizer) = byte_level(name).vocabulary().unwrap();
        let tokens = pieces(&tokenizer, "the");
        assert_eq!(tokens.last().map(String::as_str), Some("the"), "{name}");
    }
}

#[test]
fn numbers_are_cut_as_the_rule_says() {
    let tokens = |name: &str| pieces(&byte_level(name).vocabulary().unwrap().1, "12");
    assert_eq!(tokens("gpt-2"), ["12"]);
    assert_eq!(tokens("default"), ["12"]);
    assert_eq!(tokens("smollm"), ["1", "2"]);
    assert_eq!(tokens("qwen2"), ["1", "2"]);
    assert_eq!(tokens("llama-bpe"), ["<|im_start|>", "12"], "and this one begins its texts");
}

#[test]
fn control_tokens_are_one_token_and_end_a_turn() {
    let (vocabulary, tokenizer) = byte_level("smollm").vocabulary().unwrap();
    assert_eq!(pieces(&tokenizer, "the<|im_end|>"), ["the", "<|im_end|>"]);
    assert_eq!(vocabulary.eos, [0, 2], "the file's own first, then the end of a turn");
    assert_eq!((vocabulary.bos, vocabulary.pad), (Some(1), 0));
    let config = vocabulary.tokenizer_config(64);
    assert_eq!(config["eos_token"], "<|endoftext|>");
    assert_eq!(config["add_bos_token"], false);
    assert_eq!(config["model_max_length"], 64);
    assert!(config.get("chat_template").is_none());
}

#[test]
fn what_the_file_says_goes_before_what_is_usual() {
    let mut scene = byte_level("llama-bpe");
    scene.keys.flag("tokenizer.ggml.add_bos_token", false).flag("tokenizer.ggml.add_eos_token", true);
    scene.keys.text("tokenizer.chat_template", "{{ messages }}").unsigned("tokenizer.ggml.eot_token_id", 2);
    scene.keys.unsigned("tokenizer.ggml.padding_token_id", 5);
    let (vocabulary, tokenizer) = scene.vocabulary().unwrap();
    assert_eq!(pieces(&tokenizer, "the"), ["the", "<|endoftext|>"]);
    assert_eq!((vocabulary.eos.as_slice(), vocabulary.pad), (&[0, 2][..], 5));
    assert_eq!(vocabulary.tokenizer_config(64)["chat_template"], "{{ messages }}");
}

#[test]
fn sentence_pieces_by_their_scores_with_bytes_for_the_rest() {
    let (vocabulary, tokenizer) = sentence_piece().vocabulary().unwrap();
    assert_eq!(pieces(&tokenizer, "the"), ["<s>", "▁", "th", "e"], "th has a better score than he and ▁t");
    assert_eq!(pieces(&tokenizer, "é"), ["<s>", "▁", "<0xC3>", "<0xA9>"]);
    assert_eq!(pieces(&tokenizer, "[X]"), ["<s>", "[X]"]);
    assert_eq!(vocabulary.tokenizer_config(8)["tokenizer_class"], "LlamaTokenizer");

    let mut bare = sentence_piece();
    bare.keys.flag("tokenizer.ggml.add_space_prefix", false).flag("tokenizer.ggml.add_bos_token", false);
    assert_eq!(pieces(&bare.vocabulary().unwrap().1, "he"), ["he"]);
}

#[test]
fn what_cannot_be_right_is_refused() {
    assert!(byte_level("klingon").refused().contains("\"klingon\"; supported: gpt-2,"));
    let mut scene = byte_level("smollm");
    scene.kinds.pop();
    assert!(scene.refused().contains("token_type is for 261 tokens, but there are 262"));
    let mut scene = byte_level("smollm");
    scene.keys.unsigned("tokenizer.ggml.unknown_token_id", 262);
    assert!(scene.refused().contains("unknown_token_id is 262, of 262 tokens"));
    let mut scene = byte_level("smollm");
    scene.tokens[3 + usize::from(b'd')] = "lost".to_owned();
    assert!(scene.refused().contains("came back as"), "a byte without a token");
    let mut scene = byte_level("smollm");
    scene.tokens.pop();
    scene.kinds.pop();
    assert!(scene.refused().contains("cannot be rebuilt"), "a merge without its token");
    let gguf = byte_level("smollm").gguf();
    let told = Vocabulary::read(&gguf, 300).unwrap_err().to_string();
    assert!(told.contains("262 tokens, but embeddings for 300"), "{told}");
    let mut scene = Scene { keys: Sample::default(), ..byte_level("smollm") };
    scene.keys.text("tokenizer.ggml.model", "bert");
    assert!(scene.refused().contains("\"bert\"; supported: gpt2"));
}

#[test]
fn a_vocabulary_without_an_end_is_refused() {
    let mut scene = byte_level("smollm");
    scene.kinds[2] = 1;
    scene.keys = Sample::default();
    scene.keys.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.merges", &["t h"]);
    assert!(scene.refused().contains("names no token that ends a text"));
}
