//! How likely the tokens of an answer were, in the form of chat.

use ebb_core::{TokenLogprob, TopLogprob};
use serde::Serialize;
use utoipa::ToSchema;

/// The tokens of an answer or of a piece of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Logprobs {
    content: Vec<Token>,
    /// Always null: no answer is refused.
    refusal: Option<Vec<Token>>,
}

/// A token.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Token {
    token: String,
    logprob: f32,
    bytes: Vec<u8>,
    top_logprobs: Vec<TopToken>,
}

/// A token that was likely in its place.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TopToken {
    token: String,
    logprob: f32,
    bytes: Vec<u8>,
}

impl Logprobs {
    pub(crate) fn of(tokens: Vec<TokenLogprob>) -> Self {
        let content = tokens.into_iter().map(|TokenLogprob { token, bytes, logprob, top, .. }| Token {
            token,
            logprob,
            bytes,
            top_logprobs: top
                .into_iter()
                .map(|TopLogprob { token, bytes, logprob, .. }| TopToken { token, logprob, bytes })
                .collect(),
        });
        Self { content: content.collect(), refusal: None }
    }
}
