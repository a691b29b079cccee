//! What a request may ask of Ebb beside OpenAI's fields: in the object `ebb`, and in the words of Ollama (`keep_alive`) and of
//! LM Studio and Foundry Local (`ttl`).

use std::collections::BTreeMap;

use ebb_core::{Failure, Json, KeepAlive, Target, operations::RequestOptions};
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{Body, Parts};

/// The fields beside OpenAI's.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct Wishes {
    /// What only Ebb does.
    ebb: Option<EbbWishes>,
    /// From this request on: unload the model when nobody has used it for so long.
    keep_alive: Option<KeepAlive>,
    /// The same, as others name it.
    ttl: Option<KeepAlive>,
}

/// The field `ebb`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EbbWishes {
    /// Shrink once the answer is out.
    shrink_after: Option<ShrinkAfter>,
    /// Give up if the answer is not complete by then.
    timeout_ms: Option<u64>,
    /// As the field of this name beside `ebb`.
    keep_alive: Option<KeepAlive>,
    /// Run options of this request alone.
    #[serde(default)]
    run_options: BTreeMap<String, String>,
    /// The answer must match this regular expression as a whole.
    regex: Option<String>,
    /// Values handed to the chat template: `enable_thinking` and the like.
    #[serde(default)]
    template_options: BTreeMap<String, Json>,
}

/// Which arenas to shrink.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected true, false, or a list of devices such as \"cpu:0\"")]
pub(crate) enum ShrinkAfter {
    /// Every arena, or none.
    Whether(bool),
    /// These.
    Targets(Vec<String>),
}

impl Body for Wishes {
    fn of(parts: &mut Parts<'_>) -> Result<Self, Failure> {
        parts.part()
    }
}

impl Wishes {
    /// What holds for requests of every kind.
    ///
    /// # Errors
    /// For a shrink target that is none.
    pub(crate) fn options(&mut self) -> Result<RequestOptions, Failure> {
        let ebb = self.ebb.get_or_insert_default();
        let shrink_after = match ebb.shrink_after.take() {
            None | Some(ShrinkAfter::Whether(false)) => None,
            Some(ShrinkAfter::Whether(true)) => Some(Vec::new()),
            Some(ShrinkAfter::Targets(targets)) => Some(
                targets
                    .iter()
                    .map(|target| Target::parse(target))
                    .collect::<Result<_, _>>()
                    .map_err(|failure| failure.param("ebb.shrink_after"))?,
            ),
        };
        Ok(RequestOptions {
            shrink_after,
            run_options: std::mem::take(&mut ebb.run_options),
            timeout_ms: ebb.timeout_ms,
            keep_alive: ebb.keep_alive.or(self.keep_alive).or(self.ttl),
        })
    }

    /// The regular expression that the answer must match.
    pub(crate) fn regex(&mut self) -> Option<String> {
        self.ebb.as_mut()?.regex.take()
    }

    /// Values for the chat template.
    pub(crate) fn template_options(&mut self) -> BTreeMap<String, Json> {
        self.ebb.as_mut().map(|ebb| std::mem::take(&mut ebb.template_options)).unwrap_or_default()
    }
}
