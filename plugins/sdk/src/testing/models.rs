//! Models for tests: the same text always gives the same vector, and answers are scripted.

use std::{fmt, rc::Rc};

use crate::inference::{Message, ModelInfo};

type Script = Rc<dyn Fn(&[Message]) -> String>;

/// A model for tests.
#[derive(Clone)]
pub struct Model {
    info: ModelInfo,
    script: Script,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Model").field(&self.info).finish()
    }
}

impl Model {
    fn new(alias: &str, kind: &str, script: impl Fn(&[Message]) -> String + 'static) -> Self {
        let info = ModelInfo {
            alias: alias.to_owned(),
            kind: kind.to_owned(),
            loaded: true,
            provider: Some("cpu".into()),
            context_tokens: None,
            dimensions: None,
            more: Vec::new(),
        };
        Self { info, script: Rc::new(script) }
    }

    /// A model whose vectors are near each other where texts share words, with room for 256 tokens.
    pub fn embeddings(alias: &str, dimensions: u32) -> Self {
        let mut model = Self::new(alias, "embeddings", |_| String::new());
        model.info.dimensions = Some(dimensions.max(1));
        model.with_context(256)
    }

    /// A model that answers what `script` makes of the messages, word by word, with room for 2,048 tokens.
    pub fn chat(alias: &str, script: impl Fn(&[Message]) -> String + 'static) -> Self {
        Self::new(alias, "chat", script).with_context(2_048)
    }

    /// A model that hears the same words whatever is said.
    pub fn audio(alias: &str, hears: &str) -> Self {
        let hears = hears.to_owned();
        Self::new(alias, "audio", move |_| hears.clone())
    }

    /// Most tokens of a prompt and its answer, or of one text.
    pub fn with_context(mut self, tokens: u32) -> Self {
        self.info.context_tokens = Some(tokens);
        self
    }

    pub(crate) fn alias(&self) -> &str {
        &self.info.alias
    }

    pub(crate) fn info(&self) -> &ModelInfo {
        &self.info
    }

    pub(crate) fn says(&self, messages: &[Message]) -> String {
        (self.script)(messages)
    }

    /// The sum of a pseudo-random direction for each word, L2-normalised.
    pub(crate) fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.info.dimensions.unwrap_or(1) as usize];
        for word in words(text) {
            let word = hash(&word);
            for (place, value) in vector.iter_mut().enumerate() {
                *value += (mix(word.wrapping_add(place as u64)) >> 40) as f32 / (1 << 23) as f32 - 1.0;
            }
        }
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
        vector
    }
}

/// One a word, and one a mark.
pub(crate) fn count_tokens(text: &str) -> u32 {
    let marks = text.chars().filter(|one| !one.is_alphanumeric() && !one.is_whitespace()).count();
    u32::try_from(words(text).count() + marks).unwrap_or(u32::MAX)
}

/// Words in small letters.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// FNV-1a.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Bits that have nothing to do with each other, as SplitMix64 makes them.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_near() {
        let model = Model::embeddings("e", 64);
        let dot = |a: &str, b: &str| -> f32 {
            model.vector(a).iter().zip(model.vector(b)).map(|(a, b)| a * b).sum()
        };
        assert!((dot("give memory back", "Give memory back!") - 1.0).abs() < 1e-5);
        assert!(dot("When is low tide?", "The tide is low at noon.") > 0.4);
        assert!(dot("When is low tide?", "A green field") < 0.3);
        assert_eq!(model.vector("").iter().sum::<f32>(), 0.0);
    }

    #[test]
    fn words_and_marks_are_tokens() {
        assert_eq!(count_tokens("Give it back, now."), 6);
        assert_eq!(count_tokens(" \n"), 0);
    }
}
