use serde_json::{Map, Value, json};

/// Tokens with a meaning: 0 pads, 1 begins and 2 ends a text where a model wants that.
const SPECIAL: [&str; 3] = ["<pad>", "<s>", "</s>"];

/// Tokens in all: the special ones and one for each byte.
pub(super) const VOCABULARY: usize = SPECIAL.len() + 256;

/// A tokenizer.json that makes one token of every byte of the UTF-8 text, so that token counts are byte counts.
pub(super) fn byte_level() -> Value {
    let mut vocabulary: Map<String, Value> = Map::new();
    for (id, token) in SPECIAL.iter().enumerate() {
        vocabulary.insert((*token).to_owned(), id.into());
    }
    for byte in 0..=255u8 {
        vocabulary.insert(visible(byte).to_string(), (SPECIAL.len() + usize::from(byte)).into());
    }
    let added: Vec<Value> = SPECIAL.iter().enumerate().map(|(id, token)| added_token(id, token)).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": []
        }
    })
}

/// The tokens by their ids, spelt as in the vocabulary.
pub(super) fn tokens() -> Vec<String> {
    let special = SPECIAL.iter().map(|token| (*token).to_owned());
    special.chain((0..=255).map(|byte| visible(byte).to_string())).collect()
}

fn added_token(id: usize, token: &str) -> Value {
    json!({
        "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true
    })
}

/// The letter that byte-level tokenizers write for a byte: itself if it is printable, else one from U+0100 on.
fn visible(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if printable(byte) {
        return char::from(byte);
    }
    let hidden_before = (0..byte).filter(|&other| !printable(other)).count() as u32;
    char::from_u32(0x100 + hidden_before).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_token_of_its_own() {
        let tokenizer = byte_level();
        assert_eq!(tokenizer["model"]["vocab"].as_object().unwrap().len(), VOCABULARY);
        assert_eq!(visible(b' '), 'Ġ');
        assert_eq!(visible(b'\n'), 'Ċ');
        assert_eq!(visible(0xad), 'Ń');
    }
}
