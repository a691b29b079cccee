//! One answer as it is written: scores in, tokens chosen, text out.

use std::sync::Arc;

use ebb_core::{ChunkBody, FinishReason, Generation, Piece, TokenLogprob};

use crate::{
    Error, Language, constraint::Constraint, logprobs::Logprobs, request, sampling::Sampler,
    settings::Settings, stops::Stops, tools::Calls, utf8::Utf8Stream,
};

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

/// One answer while it is written. Text runs through it in stages, each of which may hold some back: bytes become whole
/// characters, stop texts are looked for, then calls.
#[derive(Debug)]
pub struct Writing {
    language: Arc<Language>,
    sampler: Sampler,
    constraint: Option<Constraint>,
    logprobs: Option<Logprobs>,
    /// Of tokens whose text is held back.
    told: Vec<TokenLogprob>,
    utf8: Utf8Stream,
    /// Whether the next character is the first and the tokenizer's own blank would stand before it.
    own_blank: bool,
    stops: Stops,
    calls: Option<Calls>,
    stop: Option<String>,
    seed: u64,
    whole: String,
    passed: String,
}

impl Writing {
    pub(crate) fn new(
        language: Arc<Language>,
        generation: &Generation,
        prompt: &[u32],
    ) -> Result<Self, Error> {
        let stops = Stops::new(request::check_end(generation)?);
        let settings = Settings::new(generation, &language.defaults, language.vocabulary.len())?;
        let constraint = Constraint::new(&language, generation)?;
        let seed = match generation.seed {
            Some(seed) => seed,
            None => getrandom::u64().map_err(Error::Random)?,
        };
        Ok(Self {
            // A bare prompt goes on with a blank where a new word begins; an answer begins by itself.
            own_blank: language.vocabulary.own_first_blank() && generation.prompt.is_none(),
            calls: language.form(generation).map(|form| Calls::new(generation, form)),
            logprobs: settings.logprobs.map(Logprobs::new),
            sampler: Sampler::new(settings, seed, prompt),
            told: Vec::new(),
            utf8: Utf8Stream::default(),
            stop: None,
            whole: String::new(),
            passed: String::new(),
            language,
            constraint,
            stops,
            seed,
        })
    }

    /// Takes the scores after the last token, one for each token of the vocabulary, and chooses the next. The scores are
    /// changed in place.
    ///
    /// # Errors
    /// Where no token can be chosen by the scores, or the format was lost.
    pub fn next(&mut self, logits: &mut [f32]) -> Result<Next, Error> {
        if let Some(logprobs) = &mut self.logprobs {
            logprobs.keep(logits);
        }
        self.sampler.adjust(logits);
        if let Some(constraint) = &mut self.constraint {
            constraint.mask(logits)?;
        }
        let token = self.sampler.choose(logits)?;
        if self.language.ends.contains(&token) {
            return self.finish(token);
        }
        let complete = match &mut self.constraint {
            Some(constraint) => constraint.take(token)?,
            None => false,
        };
        if let Some(logprobs) = &mut self.logprobs {
            self.told.push(logprobs.of(token, &self.language.vocabulary));
        }
        let stopped = self.read(token);
        if complete || stopped {
            return self.finish(token);
        }
        let chunks = self.piece();
        Ok(Next { token, chunks, finish: None })
    }

    /// Ends the answer where it is, since `max_tokens` or the context is full: gives what is still held back.
    ///
    /// # Errors
    /// Where the system has no randomness to name calls with.
    pub fn cut(&mut self) -> Result<Vec<ChunkBody>, Error> {
        Ok(self.end()?.0)
    }

    /// The seed of the choice.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The stop text that ended the answer.
    pub fn stop(&self) -> Option<&str> {
        self.stop.as_deref()
    }

    /// Puts a token's text through the stages. Whether a stop text is complete with it.
    fn read(&mut self, token: u32) -> bool {
        let vocabulary = &self.language.vocabulary;
        let bytes = vocabulary.bytes(token);
        if vocabulary.is_special(token) && !(self.calls.is_some() && Calls::is_mark(bytes)) {
            return false;
        }
        self.whole.clear();
        self.utf8.push(bytes, &mut self.whole);
        if self.own_blank && !self.whole.is_empty() {
            self.own_blank = false;
            if self.whole.starts_with(' ') {
                self.whole.remove(0);
            }
        }
        self.pass_on()
    }

    /// From whole characters on.
    fn pass_on(&mut self) -> bool {
        self.stop = self.stops.push(&self.whole, &mut self.passed).map(str::to_owned);
        self.stop.is_some()
    }

    /// What is ready to go out, as a piece.
    fn piece(&mut self) -> Vec<ChunkBody> {
        let mut text = String::new();
        match &mut self.calls {
            Some(calls) => calls.push(&self.passed, &mut text),
            None => text.push_str(&self.passed),
        }
        self.passed.clear();
        if text.is_empty() {
            return Vec::new();
        }
        vec![ChunkBody::Piece(Piece { text, logprobs: std::mem::take(&mut self.told) })]
    }

    /// Ends the answer with this token.
    fn finish(&mut self, token: u32) -> Result<Next, Error> {
        let (chunks, called) = self.end()?;
        let finish = if called { FinishReason::ToolCalls } else { FinishReason::Stop };
        Ok(Next { token, chunks, finish: Some(finish) })
    }

    /// All that is held back, and whether there are calls.
    fn end(&mut self) -> Result<(Vec<ChunkBody>, bool), Error> {
        // After a stop text nothing more counts.
        if self.stop.is_none() {
            self.whole.clear();
            self.utf8.finish(&mut self.whole);
            if !self.pass_on() {
                self.stops.finish(&mut self.passed);
            }
        }
        let mut text = String::new();
        let mut found = Vec::new();
        match &mut self.calls {
            Some(calls) => {
                calls.push(&self.passed, &mut text);
                found = calls.finish(&mut text)?;
            }
            None => text.push_str(&self.passed),
        }
        self.passed.clear();
        if self.stop.is_some() && text.is_empty() {
            // They are of the stop text, which is not shown.
            self.told.clear();
        }
        let mut chunks = Vec::new();
        let called = !found.is_empty();
        if !text.is_empty() || !self.told.is_empty() {
            chunks.push(ChunkBody::Piece(Piece { text, logprobs: std::mem::take(&mut self.told) }));
        }
        chunks.extend(found.into_iter().map(ChunkBody::ToolCall));
        Ok((chunks, called))
    }
}

#[cfg(test)]
mod tests;
