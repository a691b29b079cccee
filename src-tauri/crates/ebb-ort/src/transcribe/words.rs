//! Tokens of a speech model to text. Moonshine brings its tokens as a plain list, others a `tokenizer.json`.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::Error;

/// What a blank is in a list of tokens, as SentencePiece writes it.
const BLANK: char = '\u{2581}';

/// What turns tokens into text.
#[derive(Debug)]
pub(super) enum Words {
    List(Vec<Vec<u8>>),
    Tokenizer(Box<Tokenizer>),
}

impl Words {
    /// Reads `tokenizer.bin` or `tokenizer.json`.
    ///
    /// # Errors
    /// Where there is neither, or it is broken.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let read = |file: &Path| {
            fs_err::read(file).map_err(|error| Error::invalid_tokenizer(file, error.to_string()))
        };
        let (list, json) = (folder.join("tokenizer.bin"), folder.join("tokenizer.json"));
        if list.is_file() {
            let tokens = parse_list(&read(&list)?).map_err(|why| Error::invalid_tokenizer(&list, why))?;
            return Ok(Self::List(tokens));
        }
        let tokenizer = Tokenizer::from_bytes(read(&json)?).map_err(|error| {
            Error::invalid_tokenizer(&json, format!("it cannot be read as a tokenizer: {error}"))
        })?;
        Ok(Self::Tokenizer(Box::new(tokenizer)))
    }

    /// The id of a token by its text.
    pub(super) fn id(&self, token: &str) -> Option<u32> {
        match self {
            Self::List(tokens) => tokens
                .iter()
                .position(|bytes| bytes == token.as_bytes())
                .and_then(|at| u32::try_from(at).ok()),
            Self::Tokenizer(tokenizer) => tokenizer.token_to_id(token),
        }
    }

    /// Tokens of this form, `<|en|>`, by what stands in it.
    pub(super) fn marked(&self) -> Vec<(String, u32)> {
        let Self::Tokenizer(tokenizer) = self else { return Vec::new() };
        let marked = tokenizer.get_added_tokens_decoder().into_iter().filter_map(|(id, token)| {
            let name = token.content.strip_prefix("<|")?.strip_suffix("|>")?;
            Some((name.to_owned(), id))
        });
        marked.collect()
    }

    /// The text of tokens, without special ones, without blanks around it, and without what is only the beginning of a
    /// character.
    ///
    /// # Errors
    /// Where a token is unknown.
    pub(super) fn text(&self, ids: &[u32]) -> Result<String, Error> {
        let text = match self {
            Self::List(tokens) => {
                let spoken =
                    ids.iter().filter_map(|&id| tokens.get(id as usize)).filter(|token| !is_special(token));
                let bytes: Vec<u8> = spoken.flatten().copied().collect();
                String::from_utf8_lossy(&bytes).replace(BLANK, " ")
            }
            Self::Tokenizer(tokenizer) => tokenizer
                .decode(ids, true)
                .map_err(|error| Error::Unsupported(format!("the model's tokens are no text: {error}")))?,
        };
        Ok(text.trim_end_matches(char::REPLACEMENT_CHARACTER).trim().to_owned())
    }
}

/// `<s>`, `<unk>`, `<<ST_7>>`.
fn is_special(token: &[u8]) -> bool {
    matches!(token, b"<unk>" | b"<s>" | b"</s>") || token.starts_with(b"<<ST_")
}

/// One token after the other, its length before it: a byte, or two where the first is 128 or more.
fn parse_list(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut tokens = Vec::new();
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let (len, after) = match (first, after.split_first()) {
            (128.., Some((&second, after))) => (usize::from(first) - 128 + usize::from(second) * 128, after),
            (128.., None) => return Err("it ends in the length of a token".to_owned()),
            _ => (usize::from(first), after),
        };
        let (token, after) = after
            .split_at_checked(len)
            .ok_or_else(|| format!("it is cut short: token {} takes {len} bytes", tokens.len()))?;
        tokens.push(token.to_vec());
        rest = after;
    }
    if tokens.is_empty() { Err("it is empty".to_owned()) } else { Ok(tokens) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tokens: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for token in tokens {
            if token.len() < 128 {
                bytes.push(token.len() as u8);
            } else {
                bytes.extend([(token.len() % 128) as u8 + 128, (token.len() / 128) as u8]);
            }
            bytes.extend_from_slice(token);
        }
        bytes
    }

    #[test]
    fn a_list_of_tokens_is_read_back() {
        let long = [b'x'; 300];
        let tokens: [&[u8]; 4] = [b"<s>", b"", &long, "▁a".as_bytes()];
        let read = parse_list(&list(&tokens)).unwrap();
        assert!(read.iter().map(Vec::as_slice).eq(tokens));
        for cut in [1, 3, 200] {
            assert!(parse_list(&list(&tokens)[..cut]).is_err(), "{cut}");
        }
        assert!(parse_list(&[]).is_err());
        assert!(parse_list(&[200]).is_err());
    }

    #[test]
    fn text_is_whole_characters_without_special_tokens() {
        let tokens: [&[u8]; 6] =
            [b"<s>", "▁caf".as_bytes(), b"\xc3", b"\xa9", "▁<b>".as_bytes(), b"<<ST_3>>"];
        let words = Words::List(parse_list(&list(&tokens)).unwrap());
        assert_eq!(words.text(&[0, 1, 2]).unwrap(), "caf");
        assert_eq!(words.text(&[0, 1, 2, 3, 4, 5, 99]).unwrap(), "café <b>");
        assert_eq!((words.id("<s>"), words.id("nothing")), (Some(0), None));
    }
}
