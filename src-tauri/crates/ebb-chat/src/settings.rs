//! How tokens are chosen, checked: what the request says, else what the model's files say.

use ebb_core::Generation;

use crate::{Error, folder::Defaults};

/// Most likely tokens told of with each token.
const TOP_LOGPROBS: u32 = 20;
/// Most tokens that a request may favour or avoid.
const BIASES: usize = 1024;

/// How tokens are chosen. Every value is in its range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) temperature: f32,
    pub(crate) top_k: usize,
    pub(crate) top_p: f32,
    pub(crate) min_p: f32,
    pub(crate) repetition_penalty: f32,
    pub(crate) frequency_penalty: f32,
    pub(crate) presence_penalty: f32,
    pub(crate) bias: Vec<(u32, f32)>,
    pub(crate) logprobs: Option<usize>,
}

impl Settings {
    /// The settings of a request for a model with `vocab_size` tokens.
    ///
    /// # Errors
    /// Where a value is out of its range; the field is named.
    pub(crate) fn new(
        generation: &Generation,
        defaults: &Defaults,
        vocab_size: usize,
    ) -> Result<Self, Error> {
        let (asked, own) = (generation, defaults);
        let settings = Self {
            temperature: within("temperature", asked.temperature.or(own.temperature), 0.0, (0.0, 10.0))?,
            top_k: asked.top_k.or(own.top_k).unwrap_or(0) as usize,
            top_p: positive("top_p", asked.top_p.or(own.top_p), 1.0)?,
            min_p: within("min_p", asked.min_p.or(own.min_p), 0.0, (0.0, 1.0))?,
            repetition_penalty: positive(
                "repetition_penalty",
                asked.repetition_penalty.or(own.repetition_penalty),
                10.0,
            )?,
            frequency_penalty: within("frequency_penalty", asked.frequency_penalty, 0.0, (-2.0, 2.0))?,
            presence_penalty: within("presence_penalty", asked.presence_penalty, 0.0, (-2.0, 2.0))?,
            bias: bias(generation, vocab_size)?,
            logprobs: asked.logprobs.map(|top| top as usize),
        };
        match asked.logprobs {
            Some(top) if top > TOP_LOGPROBS => {
                Err(Error::value(format!("logprobs is {top}; at most {TOP_LOGPROBS} are told"), "logprobs"))
            }
            _ => Ok(settings),
        }
    }
}

fn bias(generation: &Generation, vocab_size: usize) -> Result<Vec<(u32, f32)>, Error> {
    if generation.logit_bias.len() > BIASES {
        return Err(Error::value(
            format!("logit_bias has {} tokens; at most {BIASES} are taken", generation.logit_bias.len()),
            "logit_bias",
        ));
    }
    for (&token, &bias) in &generation.logit_bias {
        let param = format!("logit_bias.{token}");
        if token as usize >= vocab_size {
            return Err(Error::value(
                format!("logit_bias names token {token}; the model has {vocab_size}"),
                param,
            ));
        }
        within(&param, Some(bias), 0.0, (-100.0, 100.0))?;
    }
    Ok(generation.logit_bias.iter().map(|(&token, &bias)| (token, bias)).collect())
}

/// A value from `least` to `most`, both included.
fn within(field: &str, value: Option<f32>, default: f32, (least, most): (f32, f32)) -> Result<f32, Error> {
    let value = value.unwrap_or(default);
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Error::value(format!("{field} is {value}; it goes from {least} to {most}"), field))
}

/// A value above 0 and up to `most`; 1 where there is none.
fn positive(field: &str, value: Option<f32>, most: f32) -> Result<f32, Error> {
    let value = value.unwrap_or(1.0);
    if value > 0.0 && value <= most {
        return Ok(value);
    }
    Err(Error::value(format!("{field} is {value}; it is above 0 and at most {most}"), field))
}

#[cfg(test)]
mod tests;
