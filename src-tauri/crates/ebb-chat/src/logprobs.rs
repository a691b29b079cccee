//! How likely tokens were by the model itself.

use ebb_core::{TokenLogprob, TopLogprob};

use crate::{sampling::best, vocabulary::Vocabulary};

/// What stands for a probability too small to be told, as OpenAI has it: JSON knows no infinity.
const LEAST: f32 = -9999.0;

/// Tells the log-probabilities of an answer's tokens.
#[derive(Debug)]
pub(crate) struct Logprobs {
    /// How many of the likeliest are told besides.
    top: usize,
    /// The scores as the model gave them.
    scores: Vec<f32>,
    best: Vec<(f32, u32)>,
}

impl Logprobs {
    pub(crate) fn new(top: usize) -> Self {
        Self { top, scores: Vec::new(), best: Vec::new() }
    }

    /// Keeps the model's scores, before anything changes them.
    pub(crate) fn keep(&mut self, scores: &[f32]) {
        self.scores.clear();
        self.scores.extend_from_slice(scores);
    }

    /// How likely the token was that was chosen by the scores kept.
    pub(crate) fn of(&mut self, token: u32, vocabulary: &Vocabulary) -> TokenLogprob {
        let most = self.scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let whole: f64 = self.scores.iter().map(|&score| f64::from((score - most).exp())).sum();
        let log_whole = f64::from(most) + whole.ln();
        let logprob = |score: f32| ((f64::from(score) - log_whole) as f32).max(LEAST);
        best(&self.scores, self.top, &mut self.best);
        let text = |token| String::from_utf8_lossy(vocabulary.bytes(token)).into_owned();
        let top = self.best.iter().map(|&(score, token)| TopLogprob {
            token_id: token,
            token: text(token),
            bytes: vocabulary.bytes(token).to_vec(),
            logprob: logprob(score),
        });
        TokenLogprob {
            token_id: token,
            token: text(token),
            bytes: vocabulary.bytes(token).to_vec(),
            logprob: logprob(self.scores.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY)),
            top: top.collect(),
        }
    }
}
