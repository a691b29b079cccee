//! How a vocabulary spells bytes: what a token's name in `tokenizer.json` stands for in text.

use serde_json::Value;
use tokenizers::Tokenizer;

/// The rule by which names of tokens become bytes, read from the tokenizer's decoder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// Each character of a name stands for one byte, as GPT-2's vocabulary began it.
    byte_level: bool,
    /// A name `<0xE2>` stands for that byte.
    byte_fallback: bool,
    /// Texts in names and what they stand for: `▁` for a blank.
    replaced: Vec<(String, String)>,
    /// WordPiece: what marks a token that continues a word; all others begin with a blank.
    continues: Option<String>,
    /// What marks a token that ends a word.
    ends: Option<String>,
    /// Whether the first blank of a text is the tokenizer's own and not part of it.
    pub(crate) own_first_blank: bool,
}

impl Spelling {
    /// The spelling of a tokenizer. One without a decoder spells as its pre-tokenizer does.
    pub(crate) fn of(tokenizer: &Tokenizer) -> Self {
        let mut spelling = Self::default();
        if let Some(decoder) = tokenizer.get_decoder() {
            spelling.read(&serde_json::to_value(decoder).unwrap_or_default());
        } else if let Some(before) = tokenizer.get_pre_tokenizer() {
            spelling.read(&serde_json::to_value(before).unwrap_or_default());
        }
        spelling
    }

    fn read(&mut self, part: &Value) {
        let text = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
        match part["type"].as_str().unwrap_or_default() {
            "Sequence" => {
                let parts = [&part["decoders"], &part["pretokenizers"]].into_iter().flat_map(Value::as_array);
                parts.flatten().for_each(|part| self.read(part));
            }
            "ByteLevel" => self.byte_level = true,
            "ByteFallback" => self.byte_fallback = true,
            "Replace" => {
                let pattern = part["pattern"]["String"].as_str().unwrap_or_default();
                if !pattern.is_empty() {
                    self.replaced.push((pattern.to_owned(), text("content")));
                }
            }
            "Metaspace" => {
                self.replaced.push((text("replacement"), " ".to_owned()));
                self.own_first_blank = part["prepend_scheme"] != "never";
            }
            "Strip" => {
                self.own_first_blank = part["content"] == " " && part["start"].as_u64().unwrap_or(0) > 0;
            }
            "WordPiece" => {
                self.continues = Some(text("prefix"));
                self.own_first_blank = true;
            }
            "BPEDecoder" => self.ends = Some(text("suffix")),
            _ => {}
        }
    }

    /// The bytes that a token of this name stands for.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        if self.byte_level {
            let bytes: Option<Vec<u8>> = name.chars().map(byte_of).collect();
            return bytes.unwrap_or_else(|| name.as_bytes().to_vec());
        }
        if self.byte_fallback
            && let Some(byte) = fallback_byte(name)
        {
            return vec![byte];
        }
        let mut text = name.to_owned();
        for (from, to) in &self.replaced {
            text = text.replace(from.as_str(), to);
        }
        if let Some(prefix) = &self.continues {
            text = text.strip_prefix(prefix.as_str()).map_or_else(|| format!(" {text}"), str::to_owned);
        }
        if let Some(word) = self.ends.as_ref().and_then(|suffix| text.strip_suffix(suffix.as_str())) {
            text = format!("{word} ");
        }
        text.into_bytes()
    }
}

/// `<0x0A>` and the like.
fn fallback_byte(name: &str) -> Option<u8> {
    let digits = name.strip_prefix("<0x")?.strip_suffix('>')?;
    let hexadecimal = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    hexadecimal.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// The byte that a character of a byte-level vocabulary stands for. Bytes that print stand for themselves, all others were
/// given the characters from 256 on, in order.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match code {
        33..=126 | 161..=172 | 174..=255 => u8::try_from(code).ok(),
        256..=288 => u8::try_from(code - 256).ok(),
        289..=322 => u8::try_from(code - 289 + 127).ok(),
        323 => Some(173),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_character() {
        let characters = (0..0x180).filter_map(char::from_u32);
        let mut bytes: Vec<u8> = characters.filter_map(byte_of).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
        assert_eq!(byte_of('Ġ'), Some(b' '));
        assert_eq!(byte_of('Ċ'), Some(b'\n'));
        assert_eq!(byte_of('…'), None);
    }

    #[test]
    fn a_byte_token_is_two_hexadecimal_digits() {
        for (name, byte) in
            [("<0x0A>", Some(10)), ("<0xE2>", Some(0xE2)), ("<0x0>", None), ("<0x0GG>", None), ("0x0A", None)]
        {
            assert_eq!(fallback_byte(name), byte, "{name}");
        }
        assert_eq!(fallback_byte("<0x+1>"), None, "a sign is no digit");
    }
}
