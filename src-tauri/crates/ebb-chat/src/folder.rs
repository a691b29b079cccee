//! What the files beside a chat model say: its templates, its special tokens, the tokens that end an answer, and how it is
//! best sampled.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::Error;

/// Largest `tokenizer.json` that is read; the largest known are about 35 MB.
const TOKENIZER_BYTES: u64 = 256 << 20;
/// Largest other file that is read.
const CONFIG_BYTES: u64 = 16 << 20;

/// The files of a model folder, as far as they concern text.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) tokenizer: Tokenizer,
    /// Chat templates by name; the one for all purposes is `default`.
    pub(crate) templates: BTreeMap<String, String>,
    /// `bos_token`, `eos_token` and the like, as a template writes them.
    pub(crate) special: BTreeMap<String, String>,
    /// Tokens that end an answer.
    pub(crate) ends: BTreeSet<u32>,
    /// How the model is sampled where the request does not say.
    pub(crate) defaults: Defaults,
    /// Most tokens that the model takes.
    pub(crate) context_tokens: Option<usize>,
}

/// How a model is sampled where the request does not say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Defaults {
    pub(crate) temperature: Option<f32>,
    pub(crate) top_k: Option<u32>,
    pub(crate) top_p: Option<f32>,
    pub(crate) min_p: Option<f32>,
    pub(crate) repetition_penalty: Option<f32>,
}

impl Folder {
    /// Reads them. All but `tokenizer.json` may be missing.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let tokenizer = tokenizer(&folder.join("tokenizer.json"))?;
        let json = |name: &str| Json::read(folder.join(name));
        let settings = json("tokenizer_config.json")?;
        let generation = json("generation_config.json")?;
        let config = json("config.json")?;
        let genai = json("genai_config.json")?;
        let special = special(&[&settings, &json("special_tokens_map.json")?]);
        let mut ends = BTreeSet::new();
        for (file, path) in [
            (&genai, "model.eos_token_id"),
            (&generation, "eos_token_id"),
            (&config, "eos_token_id"),
            (&config, "text_config.eos_token_id"),
        ] {
            ends.extend(file.ids(path)?);
        }
        ends.extend(special.get("eos_token").and_then(|token| tokenizer.token_to_id(token)));
        let mut context_tokens = None;
        for (file, path) in [
            (&genai, "model.context_length"),
            (&config, "max_position_embeddings"),
            (&config, "n_positions"),
            (&config, "text_config.max_position_embeddings"),
        ] {
            let tokens = file.whole(path)?.and_then(|tokens| usize::try_from(tokens).ok());
            context_tokens = context_tokens.or(tokens);
        }
        Ok(Self {
            templates: templates(folder, &settings)?,
            defaults: Defaults::read(&generation, &genai)?,
            context_tokens,
            tokenizer,
            special,
            ends,
        })
    }
}

impl Defaults {
    /// What `generation_config.json` says comes first, then the search of `genai_config.json`.
    fn read(generation: &Json, genai: &Json) -> Result<Self, Error> {
        let number = |name: &str| -> Result<Option<f32>, Error> {
            let own = generation.number(name)?;
            Ok(if own.is_some() { own } else { genai.number(&format!("search.{name}"))? })
        };
        let samples = match generation.flag("do_sample")? {
            Some(samples) => samples,
            None => genai.flag("search.do_sample")?.unwrap_or(false),
        };
        let temperature = number("temperature")?;
        Ok(Self {
            temperature: Some(if samples { temperature.unwrap_or(1.0) } else { 0.0 }),
            // Some files say -1 for all, which becomes 0.
            top_k: number("top_k")?.map(|top_k| top_k as u32),
            top_p: number("top_p")?,
            min_p: number("min_p")?,
            repetition_penalty: number("repetition_penalty")?,
        })
    }
}

fn tokenizer(file: &Path) -> Result<Tokenizer, Error> {
    let size = fs_err::metadata(file).map_err(|error| Error::tokenizer(file, error))?.len();
    if size > TOKENIZER_BYTES {
        return Err(Error::tokenizer(file, format!("it has {size} bytes, which no tokenizer has")));
    }
    let bytes = fs_err::read(file).map_err(|error| Error::tokenizer(file, error))?;
    let mut tokenizer = Tokenizer::from_bytes(bytes)
        .map_err(|error| Error::tokenizer(file, format!("it cannot be read: {error}")))?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| Error::tokenizer(file, error))?;
    Ok(tokenizer)
}

/// The template files come before what `tokenizer_config.json` holds, as in Hugging Face's libraries.
fn templates(folder: &Path, settings: &Json) -> Result<BTreeMap<String, String>, Error> {
    let mut templates = BTreeMap::new();
    let beside = Json::read(folder.join("chat_template.json"))?;
    for file in [settings, &beside] {
        match file.at("chat_template") {
            None => {}
            Some(Value::String(source)) => {
                templates.insert("default".to_owned(), source.clone());
            }
            Some(Value::Array(named)) => {
                for one in named {
                    let (Some(name), Some(source)) = (one["name"].as_str(), one["template"].as_str()) else {
                        return Err(file.wrong("chat_template", "a list of templates with name and template"));
                    };
                    templates.insert(name.to_owned(), source.to_owned());
                }
            }
            Some(_) => return Err(file.wrong("chat_template", "a template or a list of named ones")),
        }
    }
    let file = folder.join("chat_template.jinja");
    if let Some(bytes) = read(&file)? {
        let source = String::from_utf8(bytes).map_err(|_| Error::model(&file, "it is not UTF-8"))?;
        templates.insert("default".to_owned(), source);
    }
    Ok(templates)
}

fn special(files: &[&Json]) -> BTreeMap<String, String> {
    let mut special = BTreeMap::new();
    for file in files {
        let Some(Value::Object(fields)) = file.value.as_ref() else { continue };
        for (name, value) in fields.iter().filter(|(name, _)| name.ends_with("_token")) {
            if let Some(token) = value.as_str().or_else(|| value["content"].as_str()) {
                special.entry(name.clone()).or_insert_with(|| token.to_owned());
            }
        }
    }
    special
}

/// The bytes of a file, if there is one.
fn read(file: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs_err::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(metadata) if metadata.len() > CONFIG_BYTES => Err(Error::model(
            file,
            format!("it has {} bytes; at most {CONFIG_BYTES} are read", metadata.len()),
        )),
        Ok(_) => Ok(Some(fs_err::read(file)?)),
    }
}

/// A JSON file that may be missing.
struct Json {
    file: PathBuf,
    value: Option<Value>,
}

impl Json {
    fn read(file: PathBuf) -> Result<Self, Error> {
        let Some(bytes) = read(&file)? else { return Ok(Self { file, value: None }) };
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Self { file, value: Some(value) }),
            Err(error) => Err(Error::model(&file, format!("it is not JSON: {error}"))),
        }
    }

    /// The value of a field, named with dots; null is as good as none.
    fn at(&self, path: &str) -> Option<&Value> {
        let value = path.split('.').try_fold(self.value.as_ref()?, |value, key| value.get(key))?;
        (!value.is_null()).then_some(value)
    }

    fn wrong(&self, path: &str, expected: &str) -> Error {
        let found = self.at(path).map_or_else(String::new, |value| {
            let text = value.to_string();
            format!(", not {}", text.get(..text.floor_char_boundary(40)).unwrap_or_default())
        });
        Error::model(&self.file, format!("`{path}` must be {expected}{found}"))
    }

    fn read_as<T>(
        &self,
        path: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.at(path) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(path, expected))
    }

    fn number(&self, path: &str) -> Result<Option<f32>, Error> {
        self.read_as(path, "a number", |value| value.as_f64().map(|number| number as f32))
    }

    fn flag(&self, path: &str) -> Result<Option<bool>, Error> {
        self.read_as(path, "true or false", Value::as_bool)
    }

    fn whole(&self, path: &str) -> Result<Option<u64>, Error> {
        self.read_as(path, "a whole number that is not negative", Value::as_u64)
    }

    /// One token id or a list of them.
    fn ids(&self, path: &str) -> Result<Vec<u32>, Error> {
        let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let ids = self.read_as(path, "a token id or a list of them", |value| match value {
            Value::Array(ids) => ids.iter().map(id).collect(),
            one => Some(vec![id(one)?]),
        })?;
        Ok(ids.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
