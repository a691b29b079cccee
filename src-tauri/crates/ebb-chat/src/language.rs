//! A model folder's language: built once for a loaded model, shared by all its answers.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use ebb_core::Generation;
use llguidance::ParserFactory;
use tokenizers::Tokenizer;

use crate::{
    Error, Writing, constraint,
    folder::{Defaults, Folder},
    request,
    settings::Settings,
    template::{self, Template},
    tools::Form,
    vocabulary::Vocabulary,
};

/// Bytes of a text that are read at once for each token that the model takes. A longer text is read in growing parts, so
/// that one which is too long by far is refused without tokenising all of it.
const BYTES_PER_TOKEN: usize = 16;

/// A model folder's tokenizer, template, special tokens and defaults.
pub struct Language {
    tokenizer: Tokenizer,
    tokenizer_file: PathBuf,
    template: Option<Template>,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) ends: BTreeSet<u32>,
    pub(crate) defaults: Defaults,
    context_tokens: Option<usize>,
    formats: OnceLock<Result<ParserFactory, String>>,
}

impl Language {
    /// Reads `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json`, `chat_template.jinja` or `.json`,
    /// `generation_config.json`, `genai_config.json` and `config.json` of a folder; all but the first may be missing.
    /// `vocab_size` is the width of the model's scores.
    ///
    /// # Errors
    /// Where the tokenizer is missing or broken, or another file holds what it cannot.
    pub fn open(folder: &Path, vocab_size: usize) -> Result<Arc<Self>, Error> {
        let Folder { tokenizer, templates, special, ends, defaults, context_tokens } = Folder::read(folder)?;
        let tokenizer_file = folder.join("tokenizer.json");
        let vocabulary = Vocabulary::new(&tokenizer, vocab_size);
        let template = Template::new(&templates, special, folder)?;
        let ends = ends.into_iter().filter(|&id| (id as usize) < vocab_size).collect();
        Settings::new(&Generation::default(), &defaults, vocab_size).map_err(|error| {
            Error::model(folder, format!("how its files say that it is sampled cannot be: {error}"))
        })?;
        Ok(Arc::new(Self {
            tokenizer,
            tokenizer_file,
            template,
            vocabulary,
            ends,
            defaults,
            context_tokens,
            formats: OnceLock::new(),
        }))
    }

    /// Whether the folder has a chat template; without one only a bare `prompt` can be continued.
    pub fn has_template(&self) -> bool {
        self.template.is_some()
    }

    /// Whether the template tells the model of tools.
    pub fn takes_tools(&self) -> bool {
        self.template.as_ref().is_some_and(Template::takes_tools)
    }

    /// The tokens that the model reads: the conversation through the template, or the bare prompt.
    ///
    /// # Errors
    /// Where the request is malformed, the template refuses it, or it has more tokens than the model can take.
    pub fn prompt(&self, generation: &Generation) -> Result<Vec<u32>, Error> {
        request::check_prompt(generation)?;
        // What the template writes has all special tokens in it already.
        let (text, add_special) = match (&generation.prompt, &self.template) {
            (Some(prompt), _) => (std::borrow::Cow::Borrowed(prompt.as_str()), true),
            (None, Some(template)) => (template.render(generation)?.into(), false),
            (None, None) => {
                return Err(Error::request(
                    "this model has no chat template, so it cannot read messages",
                    "messages",
                )
                .with_hint("send the text to continue as `prompt`"));
            }
        };
        let ids = self.encode(&text, add_special)?;
        if ids.is_empty() {
            return Err(Error::request("the prompt is empty", "prompt"));
        }
        let size = self.vocabulary.len();
        match ids.iter().find(|&&id| id as usize >= size) {
            Some(id) => Err(Error::tokenizer(
                &self.tokenizer_file,
                format!("it has token {id}, and the model knows {size}"),
            )),
            None => Ok(ids),
        }
    }

    /// Starts the writing of one answer to `prompt`, the ids that [`Self::prompt`] gave.
    ///
    /// # Errors
    /// Where a setting is out of range or the format that is asked for cannot be written.
    pub fn write(self: &Arc<Self>, generation: &Generation, prompt: &[u32]) -> Result<Writing, Error> {
        Writing::new(Arc::clone(self), generation, prompt)
    }

    /// How many tokens a text has, without special ones.
    ///
    /// # Errors
    /// Where the tokenizer cannot read it.
    pub fn count_tokens(&self, text: &str) -> Result<u32, Error> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| self.unreadable(&error))?;
        Ok(u32::try_from(encoding.len()).unwrap_or(u32::MAX))
    }

    /// The form in which the model writes calls, where it is told of tools.
    pub(crate) fn form(&self, generation: &Generation) -> Option<Form> {
        let source = self.template.as_ref().map_or("", |template| template.source(true));
        template::are_told(generation).then(|| Form::of(source))
    }

    /// What compiles the formats that answers are kept to.
    pub(crate) fn formats(&self) -> Result<&ParserFactory, &str> {
        let made = self.formats.get_or_init(|| constraint::factory(&self.vocabulary, &self.ends));
        made.as_ref().map_err(String::as_str)
    }

    fn encode(&self, text: &str, add_special: bool) -> Result<Vec<u32>, Error> {
        let mut read_bytes =
            self.context_tokens.map_or(usize::MAX, |most| most.saturating_mul(BYTES_PER_TOKEN));
        loop {
            let part = &text[..text.floor_char_boundary(read_bytes)];
            let encoding =
                self.tokenizer.encode_fast(part, add_special).map_err(|error| self.unreadable(&error))?;
            let (tokens, exact) = (encoding.len(), part.len() == text.len());
            match self.context_tokens {
                Some(limit) if tokens > limit => return Err(Error::TooLong { tokens, exact, limit }),
                _ if exact => return Ok(encoding.get_ids().to_vec()),
                _ => read_bytes = read_bytes.saturating_mul(4),
            }
        }
    }

    fn unreadable(&self, error: &tokenizers::Error) -> Error {
        Error::tokenizer(&self.tokenizer_file, format!("it cannot read the text: {error}"))
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Language").field("tokenizer", &self.tokenizer_file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
