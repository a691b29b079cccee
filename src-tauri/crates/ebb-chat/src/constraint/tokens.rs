//! The vocabulary as llguidance reads it: the bytes of each token, built from our own table.

use std::{collections::BTreeSet, panic::AssertUnwindSafe, sync::Arc};

use llguidance::{
    ParserFactory, panic_utils,
    toktrie::{INVALID_TOKEN, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv},
};

use crate::vocabulary::Vocabulary;

/// Longer tokens are not used in formats: llguidance walks them on a stack of fixed size.
const TOKEN_BYTES: usize = 250;

struct Tokens(TokTrie);

impl TokenizerEnv for Tokens {
    fn tok_trie(&self) -> &TokTrie {
        &self.0
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.0.greedy_tokenize(bytes)
    }

    /// The model chooses how it splits what the format leaves it no choice about: it knows best what it has read.
    fn tokenize_is_canonical(&self) -> bool {
        false
    }
}

/// What compiles formats for a vocabulary. It takes some time and megabytes, so it is made with the first format asked for.
pub(crate) fn factory(vocabulary: &Vocabulary, ends: &BTreeSet<u32>) -> Result<ParserFactory, String> {
    let word = |token: u32| {
        let bytes = vocabulary.bytes(token);
        if bytes.len() > TOKEN_BYTES {
            return Vec::new();
        }
        if vocabulary.is_special(token) || ends.contains(&token) {
            return [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes].concat();
        }
        bytes.to_vec()
    };
    let made = AssertUnwindSafe(|| {
        let size = u32::try_from(vocabulary.len())?;
        let words: Vec<Vec<u8>> = (0..size).map(word).collect();
        let ends: Vec<TokenId> = ends.iter().copied().collect();
        let trie = TokTrie::from(&TokRxInfo::new(size, INVALID_TOKEN), &words);
        let trie = if ends.is_empty() { trie } else { trie.with_eos_tokens(&ends) };
        let tokens: TokEnv = Arc::new(Tokens(trie));
        let mut factory = ParserFactory::new_simple(&tokens)?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(factory)
    });
    panic_utils::catch_unwind(made).map_err(|error| format!("{error:#}"))
}
