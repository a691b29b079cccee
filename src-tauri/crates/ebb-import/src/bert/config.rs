use std::path::Path;

use serde::Deserialize;

use crate::{Error, companions::read_json};

/// The part of a BERT config.json that shapes the graph. Defaults are those of the format's own library.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Config {
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(default)]
    model_type: String,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) vocab_size: usize,
    #[serde(default = "two")]
    pub(crate) type_vocab_size: usize,
    #[serde(default = "layer_norm_eps")]
    pub(crate) layer_norm_eps: f32,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    #[serde(default)]
    is_decoder: bool,
}

fn two() -> usize {
    2
}

fn layer_norm_eps() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Config {
    /// Reads config.json and checks that the graph built from it would compute what the model means.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        // Other families lack these keys: their name is the better answer, so it is looked at first.
        let raw: serde_json::Value = read_json(path)?;
        let family = raw["model_type"].as_str().unwrap_or_default();
        let architecture = raw["architectures"][0].as_str().unwrap_or(family);
        let known = family == "bert" || family.is_empty() && architecture.starts_with("Bert");
        if !known {
            let architecture =
                if architecture.is_empty() { "(not named in config.json)" } else { architecture };
            return Err(Error::UnsupportedArchitecture { architecture: architecture.to_owned() });
        }
        let config: Self =
            serde_json::from_value(raw).map_err(|source| Error::Json { path: path.to_owned(), source })?;
        config.check()?;
        Ok(config)
    }

    /// The class that the weights were saved from, as config.json names it.
    pub(crate) fn architecture(&self) -> &str {
        self.architectures.first().map_or(&self.model_type, String::as_str)
    }

    /// Values of one attention head.
    pub(crate) fn head_size(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |key, value: &str, supported| Error::UnsupportedSetting {
            key,
            value: value.to_owned(),
            supported,
        };
        if self.hidden_act != "gelu" {
            return Err(refuse("hidden_act", &self.hidden_act, "gelu"));
        }
        if self.position_embedding_type != "absolute" {
            return Err(refuse("position_embedding_type", &self.position_embedding_type, "absolute"));
        }
        if self.is_decoder {
            return Err(refuse("is_decoder", "true", "false"));
        }
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("intermediate_size", self.intermediate_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("max_position_embeddings", self.max_position_embeddings),
            ("vocab_size", self.vocab_size),
            ("type_vocab_size", self.type_vocab_size),
        ];
        // A graph's dimensions are signed, and a layer of such a size would not fit any machine anyway.
        if let Some((key, size)) = sizes.into_iter().find(|&(_, size)| size == 0 || size > 1 << 31) {
            return Err(Error::ImpossibleConfig(format!("{key} is {size}")));
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let (hidden, heads) = (self.hidden_size, self.num_attention_heads);
            return Err(Error::ImpossibleConfig(format!(
                "hidden_size {hidden} cannot be shared among {heads} attention heads"
            )));
        }
        if !(self.layer_norm_eps > 0.0 && self.layer_norm_eps < 1.0) {
            return Err(Error::ImpossibleConfig(format!("layer_norm_eps is {}", self.layer_norm_eps)));
        }
        Ok(())
    }
}
