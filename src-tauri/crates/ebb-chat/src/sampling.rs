//! The choice of the next token by its score. It is made for every token of every answer, over vocabularies of up to some
//! hundred thousand tokens: nothing here sorts more than the few likeliest, and buffers are kept.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use crate::{Error, settings::Settings};

mod best;
mod random;

pub(crate) use best::best;
use random::Random;

/// Chooses tokens by their scores.
#[derive(Debug)]
pub(crate) struct Sampler {
    settings: Settings,
    random: Random,
    /// Tokens of the prompt and the answer, where repetition counts.
    seen: BTreeSet<u32>,
    /// How often the answer has each token, where that counts.
    counts: BTreeMap<u32, u32>,
    /// Tokens that may be chosen, with their scores, then with their weights.
    candidates: Vec<(f32, u32)>,
}

impl Sampler {
    /// A choice that begins after `prompt`.
    pub(crate) fn new(settings: Settings, seed: u64, prompt: &[u32]) -> Self {
        let seen = if settings.repetition_penalty == 1.0 {
            BTreeSet::new()
        } else {
            prompt.iter().copied().collect()
        };
        Self { settings, random: Random::new(seed), seen, counts: BTreeMap::new(), candidates: Vec::new() }
    }

    /// Changes scores by what the request favours or avoids and by what was written already.
    pub(crate) fn adjust(&self, scores: &mut [f32]) {
        let mut change = |token: u32, by: &dyn Fn(f32) -> f32| {
            if let Some(score) = scores.get_mut(token as usize) {
                *score = by(*score);
            }
        };
        let penalty = self.settings.repetition_penalty;
        for &token in &self.seen {
            change(token, &|score| if score > 0.0 { score / penalty } else { score * penalty });
        }
        let (frequency, presence) = (self.settings.frequency_penalty, self.settings.presence_penalty);
        for (&token, &count) in &self.counts {
            change(token, &|score| score - frequency * count as f32 - presence);
        }
        for &(token, bias) in &self.settings.bias {
            change(token, &|score| score + bias);
        }
    }

    /// Chooses a token.
    ///
    /// # Errors
    /// Where a score is not a number or infinite, or no token is possible.
    pub(crate) fn choose(&mut self, scores: &[f32]) -> Result<u32, Error> {
        let likeliest = likeliest(scores)?;
        let token = if self.settings.temperature == 0.0 || self.settings.top_k == 1 {
            likeliest as u32
        } else {
            self.weigh(scores, scores[likeliest]);
            self.draw().unwrap_or(likeliest as u32)
        };
        if self.settings.repetition_penalty != 1.0 {
            self.seen.insert(token);
        }
        if self.settings.frequency_penalty != 0.0 || self.settings.presence_penalty != 0.0 {
            *self.counts.entry(token).or_insert(0) += 1;
        }
        Ok(token)
    }

    /// Fills the candidates with the tokens that top-k, top-p and min-p leave, each with its weight: 1 for the likeliest.
    fn weigh(&mut self, scores: &[f32], most: f32) {
        let Settings { temperature, top_k, top_p, min_p, .. } = self.settings;
        let weight = |score: f32| ((score - most) / temperature).exp();
        let candidates = &mut self.candidates;
        if top_k > 0 {
            best(scores, top_k, candidates);
            let whole: f64 = candidates.iter().map(|&(score, _)| f64::from(weight(score))).sum();
            candidates.truncate(reaching(candidates, weight, f64::from(top_p) * whole).unwrap_or(top_k));
        } else if top_p < 1.0 {
            let wanted = f64::from(top_p) * scores.iter().map(|&score| f64::from(weight(score))).sum::<f64>();
            // A few tokens have nearly all the probability; only where they have not are more looked at.
            let mut count = 64;
            loop {
                best(scores, count, candidates);
                if let Some(enough) = reaching(candidates, weight, wanted) {
                    candidates.truncate(enough);
                    break;
                }
                if count >= scores.len() {
                    break;
                }
                count *= 16;
            }
        } else {
            candidates.clear();
            candidates.extend(scores.iter().copied().zip(0..));
        }
        candidates.iter_mut().for_each(|(score, _)| *score = weight(*score));
        if min_p > 0.0 {
            candidates.retain(|&(weight, _)| weight >= min_p);
        }
    }

    /// One of the candidates, each as often as its weight says.
    fn draw(&mut self) -> Option<u32> {
        let whole: f64 = self.candidates.iter().map(|&(weight, _)| f64::from(weight)).sum();
        let mut left = self.random.unit() * whole;
        for &(weight, token) in &self.candidates {
            left -= f64::from(weight);
            if left < 0.0 {
                return Some(token);
            }
        }
        // Rounding may leave a little over: the last that can be chosen.
        self.candidates.iter().rev().find(|(weight, _)| *weight > 0.0).map(|&(_, token)| token)
    }
}

/// How many of the likeliest it takes to have this weight together.
fn reaching(candidates: &[(f32, u32)], weight: impl Fn(f32) -> f32, wanted: f64) -> Option<usize> {
    let mut whole = 0.0;
    let enough = candidates.iter().position(|&(score, _)| {
        whole += f64::from(weight(score));
        whole >= wanted
    });
    enough.map(|place| place + 1)
}

/// The likeliest token, the first of them where several are.
fn likeliest(scores: &[f32]) -> Result<usize, Error> {
    let (mut most, mut likeliest) = (f32::NEG_INFINITY, None);
    for (token, score) in scores.iter().enumerate() {
        // One comparison tells all, also that a score is not a number.
        match score.partial_cmp(&most) {
            Some(Ordering::Less | Ordering::Equal) => {}
            Some(Ordering::Greater) => (most, likeliest) = (*score, Some(token)),
            None => return Err(Error::Scores("some are not numbers".to_owned())),
        }
    }
    if most == f32::INFINITY {
        return Err(Error::Scores("some are infinite".to_owned()));
    }
    likeliest.ok_or_else(|| Error::Scores("no token has any probability".to_owned()))
}

#[cfg(test)]
mod tests;
