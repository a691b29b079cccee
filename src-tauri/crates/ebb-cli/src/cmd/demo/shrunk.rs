//! The end of each part: one shrink, and what was held before and after.

use std::time::Duration;

use ebb_client::Model;
use ebb_core::{Sample, ShrinkReport};
use serde::Serialize;

use crate::error::Result;

/// The system takes a moment to take pages back.
const SETTLE: Duration = Duration::from_millis(300);

/// What a shrink did.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Shrunk {
    pub(super) before_shrink: Sample,
    pub(super) shrink: ShrinkReport,
    pub(super) after_shrink: Sample,
}

impl Shrunk {
    /// Shrinks every arena of the model.
    pub(super) async fn now(model: &Model) -> Result<Self> {
        let runtime = model.runtime();
        // A shrink that a policy asked for after the last request may still be under way.
        tokio::time::sleep(SETTLE).await;
        let before_shrink = runtime.stats().await?.now;
        let shrink = runtime.shrink_arena(None).await?;
        tokio::time::sleep(SETTLE).await;
        let after_shrink = runtime.stats().await?.now;
        Ok(Self { before_shrink, shrink, after_shrink })
    }
}
