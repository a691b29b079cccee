//! Texts to token ids.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::Error;

/// A longer text is read only as far as it takes to fill the model: a megabyte costs half a second and a hundred megabytes
/// of memory to tokenise, nearly all of it for tokens that are then cut off.
const WHOLE_TEXT_BYTES: usize = 128 << 10;

/// A tokenizer with the model's limit. Padding and truncation that `tokenizer.json` asks for are not applied: batches are
/// padded to their longest text, and what was cut off is reported.
#[derive(Debug)]
pub(crate) struct TextTokenizer {
    tokenizer: Tokenizer,
    max_tokens: usize,
    pad_id: u32,
}

/// What became of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// Tokens appended, special ones included.
    pub(crate) used: usize,
    /// Tokens that the text has.
    pub(crate) tokens: usize,
    /// Whether `tokens` is all of them, or only those that were read.
    pub(crate) exact: bool,
}

impl TextTokenizer {
    /// Reads `tokenizer.json`. `pad_id` is what the model's configuration says, for a tokenizer that does not.
    ///
    /// # Errors
    /// Where the file is missing or broken, and where `max_tokens` leaves no room for text between the special tokens.
    pub(crate) fn open(file: &Path, max_tokens: usize, pad_id: Option<u32>) -> Result<Self, Error> {
        let bytes = fs_err::read(file).map_err(|error| Error::invalid_tokenizer(file, error.to_string()))?;
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| {
            Error::invalid_tokenizer(file, format!("it cannot be read as a tokenizer: {error}"))
        })?;
        let pad_id = tokenizer
            .get_padding()
            .map(|padding| padding.pad_id)
            .or(pad_id)
            .or_else(|| ["[PAD]", "<pad>"].iter().find_map(|token| tokenizer.token_to_id(token)))
            .unwrap_or(0);
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| Error::invalid_tokenizer(file, error.to_string()))?;
        let special = tokenizer
            .encode_fast("", true)
            .map_err(|error| Error::invalid_tokenizer(file, error.to_string()))?;
        if special.len() >= max_tokens {
            let why = format!("it adds {} special tokens, and the model takes {max_tokens}", special.len());
            return Err(Error::invalid_tokenizer(file, why));
        }
        Ok(Self { tokenizer, max_tokens, pad_id })
    }

    /// The token that fills a batch's shorter texts up.
    pub(crate) fn pad_id(&self) -> u32 {
        self.pad_id
    }

    /// Appends the tokens of `text` to `ids`: at most as many as the model takes, the special ones at both ends kept. An
    /// empty text is its special tokens, or a padding token where there are none: no model runs on nothing.
    ///
    /// # Errors
    /// Where the tokenizer cannot say some character.
    pub(crate) fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<Encoded, String> {
        let mut read_bytes = WHOLE_TEXT_BYTES;
        let (encoding, exact) = loop {
            let part = prefix(text, read_bytes);
            let encoding = self.tokenizer.encode_fast(part, true).map_err(|error| error.to_string())?;
            let exact = part.len() == text.len();
            // Twice over, so that the place of the cut cannot matter for the tokens that are kept.
            if exact || encoding.len() >= 2 * self.max_tokens {
                break (encoding, exact);
            }
            read_bytes *= 4;
        };
        let all = encoding.get_ids();
        let tokens = all.len();
        if tokens == 0 {
            ids.push(self.pad_id);
            return Ok(Encoded { used: 1, tokens: 1, exact });
        }
        if tokens <= self.max_tokens {
            ids.extend_from_slice(all);
            return Ok(Encoded { used: tokens, tokens, exact });
        }
        let special = encoding.get_special_tokens_mask();
        let closing = special.iter().rev().take_while(|&&special| special == 1).count().min(self.max_tokens);
        ids.extend_from_slice(&all[..self.max_tokens - closing]);
        ids.extend_from_slice(&all[tokens - closing..]);
        Ok(Encoded { used: self.max_tokens, tokens, exact })
    }

    /// How many tokens a text has, without special ones.
    ///
    /// # Errors
    /// Where the tokenizer cannot say some character.
    pub(crate) fn count(&self, text: &str) -> Result<u32, String> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(u32::try_from(encoding.len()).unwrap_or(u32::MAX))
    }
}

/// The first `bytes` of a text or somewhat less, cut at a blank where there is one near.
fn prefix(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let cut = &text[..text.floor_char_boundary(bytes)];
    let near = cut.ceil_char_boundary(cut.len().saturating_sub(1024));
    match cut[near..].rfind(char::is_whitespace) {
        Some(blank) => &cut[..near + blank],
        None => cut,
    }
}

#[cfg(test)]
mod tests;
