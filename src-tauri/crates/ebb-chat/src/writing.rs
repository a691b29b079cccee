//! One answer as it is written: scores in, tokens chosen, text out.

use std::sync::Arc;

use ebb_core::{ChunkBody, FinishReason, Generation, Piece};

use crate::{Error, Language, request, sampling, stops::Stops, utf8::Utf8Stream};

/// What one step of the model gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// The token that was chosen; the model reads it next.
    pub token: u32,
    /// What is ready to go out.
    pub chunks: Vec<ChunkBody>,
    /// Set where the answer ends with this token: all that was held back is in `chunks` then.
    pub finish: Option<FinishReason>,
}

/// One answer while it is written.
#[derive(Debug)]
pub struct Writing {
    language: Arc<Language>,
    utf8: Utf8Stream,
    stops: Stops,
    stop: Option<String>,
    seed: u64,
}

impl Writing {
    pub(crate) fn new(
        language: Arc<Language>,
        generation: &Generation,
        _prompt: &[u32],
    ) -> Result<Self, Error> {
        let stops = Stops::new(request::check_end(generation)?);
        let seed = match generation.seed {
            Some(seed) => seed,
            None => getrandom::u64().map_err(Error::Random)?,
        };
        Ok(Self { language, utf8: Utf8Stream::default(), stops, stop: None, seed })
    }

    /// Takes the scores after the last token, one for each token of the vocabulary, and chooses the next. The scores may be
    /// changed in place.
    ///
    /// # Errors
    /// Where no token can be chosen by the scores.
    pub fn next(&mut self, logits: &mut [f32]) -> Result<Next, Error> {
        let token = u32::try_from(sampling::likeliest(logits)?).unwrap_or(u32::MAX);
        let mut text = String::new();
        let mut finish = None;
        if self.language.ends.contains(&token) {
            finish = Some(FinishReason::Stop);
        } else if !self.language.vocabulary.is_special(token) {
            let mut whole = String::new();
            self.utf8.push(self.language.vocabulary.bytes(token), &mut whole);
            self.stop = self.stops.push(&whole, &mut text).map(str::to_owned);
            finish = self.stop.is_some().then_some(FinishReason::Stop);
        }
        let mut chunks = piece(text);
        if finish.is_some() && self.stop.is_none() {
            chunks.extend(self.cut()?);
        }
        Ok(Next { token, chunks, finish })
    }

    /// Ends the answer where it is: gives what is still held back.
    ///
    /// # Errors
    /// Never so far.
    pub fn cut(&mut self) -> Result<Vec<ChunkBody>, Error> {
        let (mut whole, mut text) = (String::new(), String::new());
        self.utf8.finish(&mut whole);
        if self.stops.push(&whole, &mut text).is_none() {
            self.stops.finish(&mut text);
        }
        Ok(piece(text))
    }

    /// The seed of the choice.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The stop text that ended the answer.
    pub fn stop(&self) -> Option<&str> {
        self.stop.as_deref()
    }
}

fn piece(text: String) -> Vec<ChunkBody> {
    if text.is_empty() { Vec::new() } else { vec![ChunkBody::Piece(Piece { text, logprobs: Vec::new() })] }
}
