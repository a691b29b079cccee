//! The tokenizer of a GGUF file as the files that other programs read: tokenizer.json and tokenizer_config.json.

mod merges;
mod splitting;

use serde_json::{Map, Value, json};
use tokenizers::Tokenizer;

use crate::{Error, gguf::Gguf};

/// What SentencePiece writes for a space.
const SPACE: &str = "▁";

/// Goes through a tokenizer and back; whatever it is made of, it must come out as it went in.
const SAMPLE: &str =
    "At low tide 1,024 boats don't move: déjà vu, 漢字, 🌊!\n\tlet x = [3, 14];  // two  spaces";

/// Ends of a turn that files do not always name by their key, but by this text.
const TURN_ENDS: [&str; 4] = ["<|eot_id|>", "<|im_end|>", "<|end|>", "<|eom_id|>"];

/// What a token is, as the file numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Normal,
    Unknown,
    Control,
    UserDefined,
}

impl TokenKind {
    fn of(number: f64) -> Self {
        match number as i64 {
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            _ => Self::Normal,
        }
    }
}

/// Where the tokens came from, which decides how text is cut into them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Bytes as letters, pieces by a rule of this name.
    ByteLevel(&'static splitting::Rule),
    /// SentencePiece: spaces as `▁`, bytes as `<0x00>`.
    SentencePiece { space_before: bool },
}

/// A vocabulary with everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    kind: Kind,
    tokens: Vec<String>,
    kinds: Vec<TokenKind>,
    merges: Vec<String>,
    chat_template: Option<String>,
    add_bos: bool,
    add_eos: bool,
    unknown: Option<u32>,
    /// Begins a text, if anything does.
    pub(crate) bos: Option<u32>,
    /// What ends a text or a turn, the file's own first.
    pub(crate) eos: Vec<u32>,
    /// Fills up short texts.
    pub(crate) pad: u32,
}

impl Vocabulary {
    /// Reads the keys and checks that they fit each other and a model with so many tokens.
    pub(crate) fn read(gguf: &Gguf, vocabulary_size: usize) -> Result<Self, Error> {
        let missing = |key: &str| gguf.broken(format!("it has no key {key}"));
        let key = "tokenizer.ggml.tokens";
        let tokens = gguf.texts(key)?.ok_or_else(|| missing(key))?.to_vec();
        if tokens.len() != vocabulary_size {
            let reason = format!("it has {} tokens, but embeddings for {vocabulary_size}", tokens.len());
            return Err(gguf.broken(reason));
        }
        let kinds = kinds(gguf, tokens.len())?;
        let (kind, merges) = kind(gguf, &tokens, &kinds)?;
        let by_rule = matches!(kind, Kind::SentencePiece { .. })
            || matches!(kind, Kind::ByteLevel(rule) if rule.add_bos);
        let id = |name: &str| special(gguf, name, tokens.len());
        let (bos, eos) = (id("bos_token_id")?, ends(gguf, &tokens, &kinds)?);
        let add_bos = gguf.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(by_rule);
        Ok(Self {
            add_bos: add_bos && bos.is_some(),
            add_eos: gguf.flag("tokenizer.ggml.add_eos_token")?.unwrap_or(false),
            unknown: id("unknown_token_id")?,
            pad: id("padding_token_id")?.unwrap_or(eos[0]),
            chat_template: gguf.text("tokenizer.chat_template")?.map(str::to_owned),
            kind,
            tokens,
            kinds,
            merges,
            bos,
            eos,
        })
    }

    /// The text of a token.
    fn text(&self, id: u32) -> &str {
        self.tokens.get(id as usize).map_or("", String::as_str)
    }

    /// tokenizer.json, proved by taking a text apart and putting it together again.
    pub(crate) fn tokenizer(&self, gguf: &Gguf) -> Result<Vec<u8>, Error> {
        let bytes = self.tokenizer_json().to_string().into_bytes();
        let fault = |what: String| gguf.unsupported(format!("its tokenizer cannot be rebuilt: {what}"));
        let tokenizer = Tokenizer::from_bytes(&bytes).map_err(|error| fault(error.to_string()))?;
        for &id in self.eos.iter().chain(&self.bos) {
            if tokenizer.token_to_id(self.text(id)) != Some(id) {
                return Err(fault(format!("token {id} is there twice")));
            }
        }
        let encoded = tokenizer.encode(SAMPLE, false).map_err(|error| fault(error.to_string()))?;
        let back = tokenizer.decode(encoded.get_ids(), false).map_err(|error| fault(error.to_string()))?;
        if back == SAMPLE { Ok(bytes) } else { Err(fault(format!("{SAMPLE:?} came back as {back:?}"))) }
    }

    /// tokenizer_config.json.
    pub(crate) fn tokenizer_config(&self, positions: usize) -> Value {
        let class = match self.kind {
            Kind::ByteLevel(rule) => rule.class,
            Kind::SentencePiece { .. } => "LlamaTokenizer",
        };
        let mut config = Map::new();
        config.insert("tokenizer_class".to_owned(), class.into());
        if let Some(template) = &self.chat_template {
            config.insert("chat_template".to_owned(), template.as_str().into());
        }
        for (name, id) in [("bos_token", self.bos), ("unk_token", self.unknown)] {
            if let Some(id) = id {
                config.insert(name.to_owned(), self.text(id).into());
            }
        }
        config.insert("eos_token".to_owned(), self.text(self.eos[0]).into());
        config.insert("pad_token".to_owned(), self.text(self.pad).into());
        config.insert("add_bos_token".to_owned(), self.add_bos.into());
        config.insert("add_eos_token".to_owned(), self.add_eos.into());
        config.insert("clean_up_tokenization_spaces".to_owned(), false.into());
        config.insert("model_max_length".to_owned(), positions.into());
        Value::Object(config)
    }

    fn tokenizer_json(&self) -> Value {
        let mut ids = Map::new();
        for (id, token) in self.tokens.iter().enumerate() {
            ids.entry(token.as_str()).or_insert(id.into());
        }
        let sentence_piece = matches!(self.kind, Kind::SentencePiece { .. });
        let ignore_merges = matches!(self.kind, Kind::ByteLevel(rule) if rule.whole_words);
        let unknown = self.unknown.filter(|_| sentence_piece).map(|id| self.text(id));
        json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": self.added_tokens(),
            "normalizer": self.normalizer(),
            "pre_tokenizer": match self.kind {
                Kind::ByteLevel(rule) => rule.pre_tokenizer(),
                Kind::SentencePiece { .. } => Value::Null,
            },
            "post_processor": self.post_processor(),
            "decoder": self.decoder(),
            "model": {
                "type": "BPE",
                "dropout": null,
                "unk_token": unknown,
                "continuing_subword_prefix": null,
                "end_of_word_suffix": null,
                "fuse_unk": sentence_piece,
                "byte_fallback": sentence_piece,
                "ignore_merges": ignore_merges,
                "vocab": ids,
                "merges": self.merges
            }
        })
    }

    fn added_tokens(&self) -> Vec<Value> {
        let added = |(id, (token, kind)): (usize, (&String, &TokenKind))| {
            let special = match kind {
                TokenKind::Control => true,
                TokenKind::Unknown => matches!(self.kind, Kind::SentencePiece { .. }),
                TokenKind::UserDefined => false,
                TokenKind::Normal => return None,
            };
            Some(json!({
                "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": special
            }))
        };
        let all = self.tokens.iter().zip(&self.kinds).enumerate();
        all.filter(|(_, (token, _))| !token.is_empty()).filter_map(added).collect()
    }

    fn normalizer(&self) -> Value {
        let to_letter = json!({"type": "Replace", "pattern": {"String": " "}, "content": SPACE});
        match self.kind {
            Kind::ByteLevel(rule) if rule.composes => json!({"type": "NFC"}),
            Kind::ByteLevel(_) => Value::Null,
            Kind::SentencePiece { space_before: false } => to_letter,
            Kind::SentencePiece { space_before: true } => {
                json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE}, to_letter]})
            }
        }
    }

    fn decoder(&self) -> Value {
        let Kind::SentencePiece { space_before } = self.kind else {
            return json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true});
        };
        let mut decoders = vec![
            json!({"type": "Replace", "pattern": {"String": SPACE}, "content": " "}),
            json!({"type": "ByteFallback"}),
            json!({"type": "Fuse"}),
        ];
        if space_before {
            decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
        }
        json!({"type": "Sequence", "decoders": decoders})
    }

    /// Puts tokens around a text, if the model wants some.
    fn post_processor(&self) -> Value {
        let before = self.bos.filter(|_| self.add_bos);
        let after = self.eos.first().copied().filter(|_| self.add_eos);
        if before.is_none() && after.is_none() {
            return Value::Null;
        }
        let around = |sequence: &str, part: u8| -> Vec<Value> {
            let token = |id: u32| json!({"SpecialToken": {"id": self.text(id), "type_id": part}});
            let text = json!({"Sequence": {"id": sequence, "type_id": part}});
            before.map(token).into_iter().chain([text]).chain(after.map(token)).collect()
        };
        let special: Map<String, Value> = before
            .into_iter()
            .chain(after)
            .map(|id| {
                (
                    self.text(id).to_owned(),
                    json!({"id": self.text(id), "ids": [id], "tokens": [self.text(id)]}),
                )
            })
            .collect();
        let pair = [around("A", 0), around("B", 1)].concat();
        json!({"type": "TemplateProcessing", "single": around("A", 0), "pair": pair, "special_tokens": special})
    }
}

fn kinds(gguf: &Gguf, count: usize) -> Result<Vec<TokenKind>, Error> {
    let key = "tokenizer.ggml.token_type";
    let Some(numbers) = gguf.numbers(key)? else { return Ok(vec![TokenKind::Normal; count]) };
    if numbers.len() != count {
        return Err(gguf.broken(format!("{key} is for {} tokens, but there are {count}", numbers.len())));
    }
    Ok(numbers.into_iter().map(TokenKind::of).collect())
}

/// What kind of vocabulary it is, and what joins its pieces.
fn kind(gguf: &Gguf, tokens: &[String], kinds: &[TokenKind]) -> Result<(Kind, Vec<String>), Error> {
    let missing = |key: &str| gguf.broken(format!("it has no key {key}"));
    match gguf.text("tokenizer.ggml.model")?.unwrap_or_default() {
        "gpt2" => {
            let key = "tokenizer.ggml.merges";
            let merges = gguf.texts(key)?.ok_or_else(|| missing(key))?.to_vec();
            let name = gguf.text("tokenizer.ggml.pre")?.unwrap_or("default");
            let rule = splitting::Rule::named(name).ok_or_else(|| {
                let known = splitting::Rule::names();
                gguf.unsupported(format!("its tokenizer.ggml.pre is {name:?}; supported: {known}"))
            })?;
            Ok((Kind::ByteLevel(rule), merges))
        }
        "llama" => {
            let key = "tokenizer.ggml.scores";
            let scores = gguf.numbers(key)?.ok_or_else(|| missing(key))?;
            if scores.len() != tokens.len() {
                let reason = format!("{key} is for {} tokens, but there are {}", scores.len(), tokens.len());
                return Err(gguf.broken(reason));
            }
            let space_before = gguf.flag("tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
            let normal: Vec<bool> = kinds.iter().map(|kind| *kind == TokenKind::Normal).collect();
            Ok((Kind::SentencePiece { space_before }, merges::from_scores(tokens, &normal, &scores)))
        }
        other => Err(gguf.unsupported(format!(
            "its tokenizer.ggml.model is {other:?}; supported: gpt2 (byte-level BPE), llama (SentencePiece)"
        ))),
    }
}

/// The id under a key, if it is there and is a token's.
fn special(gguf: &Gguf, name: &str, count: usize) -> Result<Option<u32>, Error> {
    let key = format!("tokenizer.ggml.{name}");
    match gguf.unsigned(&key)? {
        Some(id) if id >= count as u64 => Err(gguf.broken(format!("{key} is {id}, of {count} tokens"))),
        // There are fewer tokens than bytes in a header.
        id => Ok(id.map(|id| id as u32)),
    }
}

/// What ends a text or a turn; at least one.
fn ends(gguf: &Gguf, tokens: &[String], kinds: &[TokenKind]) -> Result<Vec<u32>, Error> {
    let mut ends: Vec<u32> = Vec::new();
    for name in ["eos_token_id", "eot_token_id", "eom_token_id"] {
        ends.extend(special(gguf, name, tokens.len())?.filter(|id| !ends.contains(id)));
    }
    for (id, (token, kind)) in tokens.iter().zip(kinds).enumerate() {
        let ends_turn = *kind == TokenKind::Control && TURN_ENDS.contains(&token.as_str());
        if ends_turn && !ends.contains(&(id as u32)) {
            ends.push(id as u32);
        }
    }
    if ends.is_empty() {
        return Err(
            gguf.broken("it names no token that ends a text (tokenizer.ggml.eos_token_id)".to_owned())
        );
    }
    Ok(ends)
}

#[cfg(test)]
mod tests;
