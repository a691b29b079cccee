//! What is particular to a family of speech models: how it hears, what it is told, and when it is to stop.

mod moonshine;
mod whisper;

use std::{collections::BTreeMap, path::Path};

use ebb_audio::Mel;
use ebb_core::{Code, Failure, TensorInfo};
use serde_json::Value;

use super::{cut::Lengths, words::Words};
use crate::{Error, folder::read_json};

/// How a model takes sound.
#[derive(Debug)]
pub(super) enum Hears {
    /// As it is.
    Samples,
    /// As a mel spectrogram of so many frames, whatever the length of the sound.
    Mel { mel: Mel, frames: usize },
}

/// A language that a model can be told, and its token.
pub(super) type Language = (String, u32);

/// A speech model's ways.
#[derive(Debug)]
pub(super) struct Family {
    /// `moonshine`, `whisper`.
    pub(super) name: &'static str,
    pub(super) hears: Hears,
    pub(super) lengths: Lengths,
    /// Tokens before the first that is heard, where no language is told.
    pub(super) prompt: Vec<u32>,
    /// Tokens after that of the language, where one is told.
    pub(super) after_language: Vec<u32>,
    /// Languages that it can be told; empty where it knows one only.
    pub(super) languages: BTreeMap<String, u32>,
    /// The language where none is given; `None`: the model finds it out.
    pub(super) default_language: Option<String>,
    /// Tokens that end a text.
    pub(super) ends: Vec<u32>,
    /// Tokens that are never text.
    pub(super) banned: Vec<u32>,
    /// Tokens that are no beginning.
    pub(super) banned_first: Vec<u32>,
    /// From this token on there are only time stamps.
    pub(super) banned_from: Option<u32>,
    /// Most tokens that a second of speech takes. A model that goes round in circles says more.
    pub(super) tokens_per_second: f32,
    /// Most tokens of a stretch.
    pub(super) most_tokens: usize,
}

impl Family {
    /// Tells a model's family by what its encoder takes, and reads the rest from its folder.
    ///
    /// # Errors
    /// Where it is of no family that Ebb knows, or its configuration lacks what cannot be guessed.
    pub(super) fn read(folder: &Path, encoder: &[TensorInfo], words: &Words) -> Result<Self, Error> {
        let input = |name: &str| encoder.iter().find(|input| input.name == name);
        if let Some(features) = input("input_features") {
            return whisper::read(&Settings::read(folder)?, features, words);
        }
        if input("input_values").is_some() {
            return moonshine::read(&Settings::read(folder)?, words);
        }
        let names: Vec<&str> = encoder.iter().map(|input| input.name.as_str()).collect();
        let why = format!(
            "its encoder takes {}; those of Whisper take input_features, those of Moonshine input_values",
            names.join(", ")
        );
        Err(Error::invalid_model(folder, why))
    }

    /// The language that was asked for, with its token where the model can be told.
    ///
    /// # Errors
    /// Where the model does not know it; the message says which it knows.
    pub(super) fn language(&self, asked: Option<&str>) -> Result<Option<Language>, Error> {
        let asked = asked.map(str::trim).filter(|asked| !asked.is_empty() && *asked != "auto");
        let Some(wanted) = asked.or(self.default_language.as_deref()) else { return Ok(None) };
        // `en-GB` is `en`.
        let code = wanted.split(['-', '_']).next().unwrap_or(wanted).to_ascii_lowercase();
        if let Some(&token) = self.languages.get(&code) {
            return Ok(Some((code, token)));
        }
        if self.languages.is_empty() && self.default_language.as_deref() == Some(&code) {
            return Ok(None);
        }
        let known: Vec<&str> = match &self.default_language {
            Some(only) if self.languages.is_empty() => vec![only],
            _ => self.languages.keys().map(String::as_str).collect(),
        };
        let message = format!("this model does not know the language '{wanted}'");
        Err(Failure::new(Code::InvalidValue, message)
            .hint(format!("it knows {}", known.join(", ")))
            .param("language")
            .into())
    }

    /// The tokens before the first that is heard.
    pub(super) fn prompt(&self, language: Option<&Language>) -> Vec<u32> {
        match language {
            Some((_, token)) => {
                self.prompt.iter().chain([token]).chain(&self.after_language).copied().collect()
            }
            None => self.prompt.clone(),
        }
    }

    /// Most tokens of a stretch of so many samples.
    pub(super) fn token_limit(&self, samples: usize) -> usize {
        let seconds = samples as f32 / ebb_audio::SAMPLE_RATE_HZ as f32;
        ((seconds * self.tokens_per_second) as usize + 8).min(self.most_tokens)
    }
}

/// What a model's folder says of it.
struct Settings<'a> {
    folder: &'a Path,
    generation: Value,
    config: Value,
    preprocessor: Value,
}

impl<'a> Settings<'a> {
    fn read(folder: &'a Path) -> Result<Self, Error> {
        let json = |name: &str| Ok::<_, Error>(read_json(&folder.join(name))?.unwrap_or_default());
        Ok(Self {
            folder,
            generation: json("generation_config.json")?,
            config: json("config.json")?,
            preprocessor: json("preprocessor_config.json")?,
        })
    }

    /// A value of `generation_config.json`, else of `config.json`.
    fn get(&self, key: &str) -> &Value {
        if self.generation[key].is_null() { &self.config[key] } else { &self.generation[key] }
    }

    /// A token by its key, else by its text.
    fn token(&self, key: &str, text: &str, words: &Words) -> Result<u32, Error> {
        let id = self.get(key).as_u64().and_then(|id| u32::try_from(id).ok());
        id.or_else(|| words.id(text)).ok_or_else(|| {
            let why = format!("neither {key} nor a token '{text}' says where its texts begin and end");
            Error::invalid_model(self.folder, why).hint("put its generation_config.json beside the model")
        })
    }

    /// Tokens by their key: one or a list. What is no token (-1) is left out.
    fn tokens(&self, key: &str) -> Vec<u32> {
        let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        match self.get(key) {
            Value::Array(values) => values.iter().filter_map(one).collect(),
            value => one(value).into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests;
