//! What a chat model's folder says of it: `genai_config.json` of onnxruntime-genai, or `config.json` of Optimum and
//! transformers.js.

mod fields;

use std::path::{Path, PathBuf};

use ebb_core::{
    LoadOptions,
    options::{OptionLine, Requested},
};
use serde_json::Value;

use crate::{Error, folder::read_json};
use fields::Fields;

/// Names of a model's inputs and outputs. Those of the cache have `%d` for the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) ids: String,
    pub(super) mask: String,
    pub(super) positions: String,
    pub(super) logits: String,
    pub(super) past_key: String,
    pub(super) past_value: String,
    pub(super) present_key: String,
    pub(super) present_value: String,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            ids: "input_ids".to_owned(),
            mask: "attention_mask".to_owned(),
            positions: "position_ids".to_owned(),
            logits: "logits".to_owned(),
            past_key: "past_key_values.%d.key".to_owned(),
            past_value: "past_key_values.%d.value".to_owned(),
            present_key: "present.%d.key".to_owned(),
            present_value: "present.%d.value".to_owned(),
        }
    }
}

/// A number, and the field that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) field: String,
    pub(super) number: u64,
}

/// What a folder says of its model. What it does not say the model file tells, or the user must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    /// The file that says it.
    pub(super) file: PathBuf,
    pub(super) names: Names,
    pub(super) layers: Option<Said>,
    pub(super) kv_heads: Option<Said>,
    pub(super) head_size: Option<Said>,
    pub(super) context_tokens: Option<Said>,
    pub(super) vocab_size: Option<Said>,
    /// Whether it says that the cache may be read and written in place.
    pub(super) in_place: Option<bool>,
}

impl Config {
    /// # Errors
    /// Where a file is broken: the message names the field. Where the model is of a kind that Ebb does not run.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let file = folder.join("genai_config.json");
        if let Some(value) = read_json(&file)? {
            return Self::of_genai(Fields::new(&file, &value));
        }
        let file = folder.join("config.json");
        let value = read_json(&file)?.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        Self::of_optimum(Fields::new(&file, &value))
    }

    fn of_genai(fields: Fields<'_>) -> Result<Self, Error> {
        refuse_other_parts(&fields)?;
        fields.text("model.decoder.filename")?;
        let mut names = Names::default();
        for (path, name) in [
            ("model.decoder.inputs.input_ids", &mut names.ids),
            ("model.decoder.inputs.attention_mask", &mut names.mask),
            ("model.decoder.inputs.position_ids", &mut names.positions),
            ("model.decoder.outputs.logits", &mut names.logits),
        ] {
            if let Some(given) = fields.text(path)? {
                given.clone_into(name);
            }
        }
        for (path, name) in [
            ("model.decoder.inputs.past_key_names", &mut names.past_key),
            ("model.decoder.inputs.past_value_names", &mut names.past_value),
            ("model.decoder.outputs.present_key_names", &mut names.present_key),
            ("model.decoder.outputs.present_value_names", &mut names.present_value),
        ] {
            if let Some(given) = fields.pattern(path)? {
                given.clone_into(name);
            }
        }
        Ok(Self {
            file: fields.file().to_owned(),
            names,
            layers: fields.number("model.decoder.num_hidden_layers")?,
            kv_heads: fields
                .number("model.decoder.num_key_value_heads")?
                .or(fields.number("model.decoder.num_attention_heads")?),
            head_size: fields.number("model.decoder.head_size")?,
            context_tokens: fields.number("model.context_length")?,
            vocab_size: fields.number("model.vocab_size")?,
            in_place: fields.flag("search.past_present_share_buffer")?,
        })
    }

    fn of_optimum(fields: Fields<'_>) -> Result<Self, Error> {
        if fields.flag("is_encoder_decoder")? == Some(true) {
            return Err(encoder_decoder(fields.file()));
        }
        let first = |paths: &[&str]| -> Result<Option<Said>, Error> {
            for path in paths {
                if let Some(said) = fields.number(path)? {
                    return Ok(Some(said));
                }
            }
            Ok(None)
        };
        let heads = first(&["num_attention_heads", "n_head"])?;
        let per_head = first(&["hidden_size", "n_embd"])?.zip(heads.as_ref()).map(|(hidden, heads)| Said {
            field: format!("{} / {}", hidden.field, heads.field),
            number: hidden.number / heads.number,
        });
        Ok(Self {
            file: fields.file().to_owned(),
            names: Names::default(),
            layers: None,
            kv_heads: first(&["num_key_value_heads"])?.or(heads),
            head_size: first(&["head_dim"])?.or(per_head),
            context_tokens: first(&["max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"])?,
            vocab_size: first(&["vocab_size"])?,
            in_place: None,
        })
    }

    /// A field is at fault.
    pub(super) fn wrong(&self, field: &str, why: impl std::fmt::Display) -> Error {
        Error::invalid_model(&self.file, format!("{field} {why}"))
    }
}

/// What chat models are loaded with where neither the user nor the folder says otherwise.
///
/// ONNX Runtime would keep a pattern of memory for every shape that it has seen, and each token of a conversation brings a new
/// one. A token is some hundred small products one after the other: threads that sleep between them cost a third of the
/// speed (SmolLM2, 2 threads, quiet machine: 106 instead of 153 tokens a second), so they wait awake, but only for as long
/// as a run goes on: between requests no core is burnt.
const DEFAULTS: [(&str, &str); 3] = [
    ("session.enable_mem_pattern", "0"),
    ("session.intra_op.allow_spinning", "1"),
    ("session.force_spinning_stop", "1"),
];

/// The load options that a folder's `genai_config.json` asks for: its session options, and those of execution providers. They
/// hold where the user says nothing. What names files or other libraries is left out: a model does not choose those.
///
/// # Errors
/// Where one is none; the message names the field.
pub(crate) fn load_defaults(folder: &Path) -> Result<LoadOptions, Error> {
    let file = folder.join("genai_config.json");
    let own = DEFAULTS.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let own = LoadOptions { session_options: own.into(), ..LoadOptions::default() };
    let Some(value) = read_json(&file)? else { return Ok(own) };
    let fields = Fields::new(&file, &value);
    let mut options = LoadOptions::default();
    let place = "model.decoder.session_options";
    for (key, value) in fields.object(place)? {
        if !["provider_options", "log_id", "enable_profiling", "custom_ops_library"].contains(&key.as_str()) {
            options.session_options.insert(key.clone(), fields.option(place, key, value)?);
        }
    }
    let place = "model.decoder.session_options.provider_options";
    for provider in fields.list(place)? {
        let Some(provider) = provider.as_object() else {
            return Err(fields.wrong(place, "holds an entry that is not an object"));
        };
        for (name, given) in provider {
            let Some(given) = given.as_object() else {
                return Err(fields.wrong(&format!("{place}.{name}"), "is not an object of options"));
            };
            let of_provider = options.provider_options.entry(name.clone()).or_default();
            for (key, value) in given {
                of_provider.insert(key.clone(), fields.option(&format!("{place}.{name}"), key, value)?);
            }
        }
    }
    Ok(options.over(own))
}

/// Says of options that the user did not give where they come from.
pub(crate) fn name_origin(lines: &mut [OptionLine], given: &LoadOptions) {
    let given = Requested::all(given);
    let is_given = |line: &OptionLine| given.iter().any(|one| one.scope == line.scope && one.key == line.key);
    for line in lines.iter_mut().filter(|line| line.note.is_none() && !line.requested.is_empty()) {
        if !is_given(line) {
            let own = DEFAULTS.iter().any(|(key, value)| line.key == *key && line.requested == *value);
            let origin = if own {
                "Ebb's default for chat models"
            } else {
                "asked for by the model's genai_config.json"
            };
            line.note = Some(origin.to_owned());
        }
    }
}

/// Refuses models that are more than a decoder of text.
fn refuse_other_parts(fields: &Fields<'_>) -> Result<(), Error> {
    if !fields.is_null("model.encoder") {
        return Err(encoder_decoder(fields.file()));
    }
    for part in ["vision", "speech", "embedding"] {
        let path = format!("model.{part}");
        if !fields.is_null(&path) {
            let why = format!("it is a model of several parts ({path}); Ebb runs chat models of text alone");
            return Err(Error::Unsupported(format!("{}: {why}", fields.file().display())));
        }
    }
    if !fields.is_null("model.decoder.pipeline") {
        let why = "its decoder is a pipeline of several files (model.decoder.pipeline); Ebb runs decoders of one file";
        return Err(Error::Unsupported(format!("{}: {why}", fields.file().display())));
    }
    Ok(())
}

/// A model that reads with one part and writes with another, as T5.
pub(super) fn encoder_decoder(file: &Path) -> Error {
    Error::Unsupported(format!(
        "{}: it is a model of encoder and decoder; Ebb runs decoder-only chat models, and such models for speech only",
        file.display()
    ))
}

#[cfg(test)]
mod tests;
