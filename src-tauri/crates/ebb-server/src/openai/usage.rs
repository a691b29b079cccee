//! What an answer took, as OpenAI counts it.

use ebb_core::GenerateFigures;
use serde::Serialize;
use utoipa::ToSchema;

/// Tokens of a generated answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Usage {
    prompt_tokens: u32,
    completion_tokens: u32,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
}

/// Tokens of a prompt, told apart.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PromptDetails {
    /// Those whose cache was kept from an earlier turn.
    pub(crate) cached_tokens: u32,
}

impl From<&GenerateFigures> for Usage {
    fn from(figures: &GenerateFigures) -> Self {
        let &GenerateFigures { prompt_tokens, completion_tokens, cached_tokens, .. } = figures;
        Self {
            prompt_tokens,
            completion_tokens,
            total_tokens: u64::from(prompt_tokens) + u64::from(completion_tokens),
            prompt_tokens_details: PromptDetails { cached_tokens },
        }
    }
}

/// Tokens of embedded texts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PromptUsage {
    pub(crate) prompt_tokens: u64,
    pub(crate) total_tokens: u64,
}
