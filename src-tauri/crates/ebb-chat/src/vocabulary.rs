//! What each token is in bytes. Text is put together from bytes, since a token may be part of a character.

use std::collections::BTreeSet;

use tokenizers::Tokenizer;

use crate::spelling::Spelling;

/// The bytes of every token that the model may choose.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    bytes: Vec<u8>,
    /// Where the bytes of each token begin; one more at the end.
    starts: Vec<usize>,
    /// Tokens that are marks and not text, in order.
    special: BTreeSet<u32>,
    own_first_blank: bool,
}

impl Vocabulary {
    /// The first `size` tokens of a tokenizer. Ids that it has no token for, by which models fill their width up, are empty.
    pub(crate) fn new(tokenizer: &Tokenizer, size: usize) -> Self {
        let spelling = Spelling::of(tokenizer);
        let added = tokenizer.get_added_tokens_decoder();
        let (mut bytes, mut starts) = (Vec::new(), vec![0]);
        for id in 0..u32::try_from(size).unwrap_or(u32::MAX) {
            if let Some(token) = added.get(&id) {
                bytes.extend_from_slice(token.content.as_bytes());
            } else if let Some(name) = tokenizer.id_to_token(id) {
                bytes.extend_from_slice(&spelling.bytes(&name));
            }
            starts.push(bytes.len());
        }
        let special = added.iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect();
        Self { bytes, starts, special, own_first_blank: spelling.own_first_blank }
    }

    /// How many there are: the width of the model's scores.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of a token; empty where there is none.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        let place = token as usize;
        match (self.starts.get(place), self.starts.get(place + 1)) {
            (Some(&start), Some(&end)) => &self.bytes[start..end],
            _ => &[],
        }
    }

    /// Whether it is a mark that is not shown.
    pub(crate) fn is_special(&self, token: u32) -> bool {
        self.special.contains(&token)
    }

    /// The special token of this name.
    pub(crate) fn special_named(&self, name: &str) -> Option<u32> {
        self.special.iter().copied().find(|&token| self.bytes(token) == name.as_bytes())
    }

    /// Whether the first blank of a text is the tokenizer's own.
    pub(crate) fn own_first_blank(&self) -> bool {
        self.own_first_blank
    }
}
