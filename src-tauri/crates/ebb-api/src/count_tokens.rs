//! Counting tokens.

use ebb_core::{
    Code, Failure,
    operations::{CountTokens, TokenCounts},
};

use crate::Host;

impl Host {
    /// How many tokens the model's own tokenizer makes of each text, special tokens not counted. The model is loaded first if
    /// it is not in memory; it waits for no request.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::InvalidRequest`] without texts; [`Code::Unsupported`] where the model has no tokenizer; what
    /// keeps the model from loading.
    pub async fn count_tokens(&self, alias: &str, request: CountTokens) -> Result<TokenCounts, Failure> {
        let CountTokens { texts } = request;
        if texts.is_empty() {
            // Known before a model is loaded for it.
            return Err(Failure::new(Code::InvalidRequest, "no texts were given").param("texts"));
        }
        let tokens = match self.on_demand(alias).await?.count_tokens(texts.clone()).await {
            // It was unloaded for being idle between the look and the count.
            Err(failure) if failure.code == Code::NotLoaded => {
                self.on_demand(alias).await?.count_tokens(texts).await?
            }
            counted => counted?,
        };
        Ok(TokenCounts { model: alias.to_owned(), tokens })
    }
}
