//! How an answer's tokens are chosen: OpenAI's fields, and those that other servers have made usual beside them.

use std::collections::BTreeMap;

use ebb_core::{Failure, Generation};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{bad_value, not_offered};

/// The fields that say how tokens are chosen. What is not given is the model's own.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct Sampling {
    /// Spread of the choice, 0 to 2; 0: always the likeliest token.
    temperature: Option<f32>,
    /// Choose among the likeliest tokens that have this probability together.
    top_p: Option<f32>,
    /// Choose among so many of the likeliest tokens; 0 or less: all.
    top_k: Option<i64>,
    /// Choose among tokens that have at least this part of the likeliest one's probability.
    min_p: Option<f32>,
    /// Divides the score of tokens that are there already; 1: none.
    repetition_penalty: Option<f32>,
    /// Taken off a token's score for each time that the answer has it, -2 to 2.
    frequency_penalty: Option<f32>,
    /// Taken off the score of every token that the answer has, -2 to 2.
    presence_penalty: Option<f32>,
    /// The same seed gives the same text.
    #[serde(alias = "random_seed")]
    seed: Option<i64>,
    /// Added to the scores of tokens, by id, -100 to 100.
    logit_bias: Option<BTreeMap<String, f32>>,
    /// Texts at which the answer ends.
    stop: Option<OneOrMany>,
    /// Answers wanted: one.
    n: Option<i64>,
    /// Answers to choose the best of: one.
    best_of: Option<i64>,
}

/// A text or several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
pub(crate) enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

impl Sampling {
    /// Puts the choice into what is to be generated.
    ///
    /// # Errors
    /// For a value out of its range.
    pub(crate) fn apply(self, generation: &mut Generation) -> Result<(), Failure> {
        one("n", self.n)?;
        one("best_of", self.best_of)?;
        generation.temperature = within("temperature", self.temperature, 0.0, 2.0)?;
        generation.top_p = within("top_p", self.top_p, 0.0, 1.0)?;
        generation.min_p = within("min_p", self.min_p, 0.0, 1.0)?;
        generation.top_k = self.top_k.map(|tokens| u32::try_from(tokens.max(0)).unwrap_or(u32::MAX));
        generation.repetition_penalty = above_0("repetition_penalty", self.repetition_penalty)?;
        generation.frequency_penalty = within("frequency_penalty", self.frequency_penalty, -2.0, 2.0)?;
        generation.presence_penalty = within("presence_penalty", self.presence_penalty, -2.0, 2.0)?;
        // The same bits: every seed is one of its own.
        generation.seed = self.seed.map(i64::cast_unsigned);
        generation.logit_bias = logit_bias(self.logit_bias.unwrap_or_default())?;
        generation.stop = self.stop.map(OneOrMany::into_vec).unwrap_or_default();
        Ok(())
    }
}

/// A number of tokens to generate at most.
///
/// # Errors
/// Where it is less than 1.
pub(crate) fn most_tokens(param: &str, tokens: Option<i64>) -> Result<Option<u32>, Failure> {
    match tokens {
        Some(tokens) if tokens < 1 => {
            Err(bad_value(param, format!("{param} is {tokens}; an answer has at least one token"))
                .hint("leave it out for as many as the context has room for"))
        }
        tokens => Ok(tokens.map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))),
    }
}

fn one(param: &str, wanted: Option<i64>) -> Result<(), Failure> {
    match wanted {
        None | Some(1) => Ok(()),
        Some(wanted) if wanted < 1 => Err(bad_value(param, format!("{param} is {wanted}; it must be 1"))),
        Some(wanted) => {
            Err(not_offered(param, format!("{param} is {wanted}, and one answer is given a request"))
                .hint("send the request so many times, each with a seed of its own"))
        }
    }
}

fn within(param: &str, value: Option<f32>, least: f32, most: f32) -> Result<Option<f32>, Failure> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(bad_value(param, format!("{param} is {value}; it must be {least} to {most}")))
        }
        value => Ok(value),
    }
}

fn above_0(param: &str, value: Option<f32>) -> Result<Option<f32>, Failure> {
    match value {
        Some(value) if !(value > 0.0 && value.is_finite()) => {
            Err(bad_value(param, format!("{param} is {value}; it must be above 0, and 1 for none")))
        }
        value => Ok(value),
    }
}

fn logit_bias(bias: BTreeMap<String, f32>) -> Result<BTreeMap<u32, f32>, Failure> {
    let token = |(id, bias): (String, f32)| {
        let Ok(token) = id.trim().parse() else {
            return Err(bad_value("logit_bias", format!("'{}' is no token id", id.escape_debug()))
                .hint("name tokens by their numbers in the model's vocabulary"));
        };
        Ok((token, within("logit_bias", Some(bias), -100.0, 100.0)?.unwrap_or_default()))
    };
    bias.into_iter().map(token).collect()
}
