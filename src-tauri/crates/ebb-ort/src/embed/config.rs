//! What a model folder says about making vectors: pooling, normalisation, the longest text.

use std::path::{Path, PathBuf};

use ebb_core::Pooling;
use serde_json::Value;

use crate::{Error, folder::read_json};

/// The longest text where nothing says it.
const DEFAULT_MAX_TOKENS: usize = 512;

/// Above this, `model_max_length` is the number that stands for "unknown" (1e30).
const ABSURD_TOKENS: u64 = 1 << 24;

/// Models whose position embeddings start after the padding token, so that two of them are no positions.
const OFFSET_POSITIONS: [&str; 4] = ["roberta", "camembert", "xlm-roberta", "mpnet"];

/// What the folder says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    /// How token vectors become one, or why they cannot; not asked where the model pools by itself.
    pub(super) pooling: Result<Pooling, String>,
    /// Whether vectors get length 1.
    pub(super) normalize: bool,
    /// Longest text in tokens, special ones included.
    pub(super) max_tokens: usize,
    /// Number of a text's first position.
    pub(super) first_position: u32,
    /// The padding token, where `config.json` says it.
    pub(super) pad_id: Option<u32>,
    /// Shorter lengths that vectors may be cut to.
    pub(super) matryoshka: Vec<u32>,
    /// Where the tokenizer is.
    pub(super) tokenizer_file: PathBuf,
}

impl Config {
    /// Reads the folder's configuration; what is missing gets its default.
    ///
    /// # Errors
    /// Where a file is not JSON, or one that is named is missing.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        // Beside `onnx/model.onnx`, some exporters put the rest of the folder too.
        let find = |name: &str| {
            let (own, beside) = (folder.join(name), folder.join("onnx").join(name));
            if own.is_file() || !beside.is_file() { own } else { beside }
        };
        let read = |name: &str| Ok::<_, Error>(read_json(&find(name))?.unwrap_or_default());
        let config: Value = read("config.json")?;
        let (pooling, normalize) = read_pooling(folder)?;
        Ok(Self {
            pooling,
            normalize,
            max_tokens: max_tokens(
                &read("sentence_bert_config.json")?,
                &read("tokenizer_config.json")?,
                &config,
            ),
            first_position: first_position(&config),
            pad_id: config["pad_token_id"].as_u64().and_then(|id| u32::try_from(id).ok()),
            matryoshka: matryoshka(&config),
            tokenizer_file: find("tokenizer.json"),
        })
    }
}

/// sentence-transformers' limit, else the tokenizer's, else the position embeddings'; never more than these.
fn max_tokens(sentence_transformers: &Value, tokenizer: &Value, config: &Value) -> usize {
    let sane = |value: &Value| value.as_u64().filter(|&tokens| tokens > 0 && tokens < ABSURD_TOKENS);
    let offset = u64::from(first_position(config));
    let positions =
        sane(&config["max_position_embeddings"]).map(|positions| positions.saturating_sub(offset));
    let said =
        sane(&sentence_transformers["max_seq_length"]).or_else(|| sane(&tokenizer["model_max_length"]));
    let limit = match (said, positions) {
        (Some(said), Some(positions)) => said.min(positions),
        (Some(limit), None) | (None, Some(limit)) => limit,
        (None, None) => return DEFAULT_MAX_TOKENS,
    };
    limit as usize
}

fn first_position(config: &Value) -> u32 {
    let kind = config["model_type"].as_str().unwrap_or_default();
    if OFFSET_POSITIONS.contains(&kind) { 2 } else { 0 }
}

/// The lengths that the model was trained to be cut to; what is no length is left out.
fn matryoshka(config: &Value) -> Vec<u32> {
    let said = config["matryoshka_dimensions"].as_array().into_iter().flatten();
    said.filter_map(|length| u32::try_from(length.as_u64()?).ok().filter(|&length| length > 0)).collect()
}

type Said = (Result<Pooling, String>, bool);

/// What `modules.json` lists, else what `1_Pooling` says, else mean and normalise.
fn read_pooling(folder: &Path) -> Result<Said, Error> {
    let modules = read_json(&folder.join("modules.json"))?;
    let Some(modules) = modules.as_ref().and_then(Value::as_array) else {
        let said = read_json(&folder.join("1_Pooling").join("config.json"))?;
        if said.is_none() {
            tracing::info!(folder = %folder.display(), "the folder does not say how to pool: mean, normalised");
        }
        return Ok((said.as_ref().map_or(Ok(Pooling::Mean), pooling_of), true));
    };
    let (mut pooling, mut normalize) = (Ok(Pooling::Mean), false);
    for module in modules {
        let kind = module["type"].as_str().unwrap_or_default().rsplit('.').next().unwrap_or_default();
        match kind {
            "Transformer" => {}
            "Normalize" => normalize = true,
            "Pooling" => {
                let file = folder.join(module["path"].as_str().unwrap_or("1_Pooling")).join("config.json");
                let said = read_json(&file)?
                    .ok_or_else(|| Error::invalid_model(&file, "modules.json names it and it is missing"))?;
                pooling = pooling.and(pooling_of(&said));
            }
            other => pooling = Err(format!("it has a module of the kind '{other}'")),
        }
    }
    Ok((pooling, normalize))
}

/// A pooling module's configuration: one switch for each mode, or since version 5 the mode's name.
fn pooling_of(config: &Value) -> Result<Pooling, String> {
    let on = |key: &str| config[key].as_bool().unwrap_or(false);
    let mut modes: Vec<&str> = config["pooling_mode"].as_str().into_iter().collect();
    for (key, _) in config.as_object().into_iter().flatten() {
        if let Some(mode) = key.strip_prefix("pooling_mode_").filter(|_| on(key)) {
            modes.push(mode.trim_end_matches("_tokens").trim_end_matches("_token"));
        }
    }
    modes.dedup();
    match modes[..] {
        ["mean"] => Ok(Pooling::Mean),
        ["cls"] => Ok(Pooling::Cls),
        [] => Err("its pooling module names no mode".to_owned()),
        _ => Err(format!("it pools by {}", modes.join(" and "))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn folder(files: &[(&str, Value)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, value) in files {
            let file = folder.path().join(name);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, value.to_string()).unwrap();
        }
        folder
    }

    fn module(kind: &str, path: &str) -> Value {
        json!({ "path": path, "type": format!("sentence_transformers.models.{kind}") })
    }

    #[test]
    fn the_lowest_limit_that_holds_wins() {
        let unknown = json!(1e30);
        for (sentence_transformers, tokenizer, config, want) in [
            (json!({ "max_seq_length": 256 }), json!({ "model_max_length": 512 }), json!({}), 256),
            (json!(null), json!({ "model_max_length": 384 }), json!({ "max_position_embeddings": 512 }), 384),
            (
                json!(null),
                json!({ "model_max_length": unknown }),
                json!({ "max_position_embeddings": 512 }),
                512,
            ),
            (json!({ "max_seq_length": 900 }), json!(null), json!({ "max_position_embeddings": 512 }), 512),
            (
                json!({ "max_seq_length": 514 }),
                json!(null),
                json!({ "max_position_embeddings": 514, "model_type": "xlm-roberta" }),
                512,
            ),
            (json!({ "max_seq_length": null }), json!(null), json!(null), DEFAULT_MAX_TOKENS),
        ] {
            assert_eq!(max_tokens(&sentence_transformers, &tokenizer, &config), want, "{config}");
        }
    }

    #[test]
    fn lengths_that_vectors_may_be_cut_to_are_those_that_the_model_names() {
        let said = |config| matryoshka(&config);
        assert_eq!(said(json!({ "matryoshka_dimensions": [256, 0, "x", -1, 64] })), [256, 64]);
        assert_eq!(said(json!({ "matryoshka_dimensions": 64 })), [0; 0]);
        assert_eq!(said(json!(null)), [0; 0]);
    }

    #[test]
    fn modules_say_how_vectors_are_made() {
        let transformer = module("Transformer", "");
        let cls = json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false });
        let folder = folder(&[
            ("modules.json", json!([transformer, module("Pooling", "1_Pooling")])),
            ("1_Pooling/config.json", cls),
        ]);
        let config = Config::read(folder.path()).unwrap();
        assert_eq!((config.pooling, config.normalize), (Ok(Pooling::Cls), false));
    }

    #[test]
    fn without_modules_it_is_mean_and_normalised() {
        let empty = folder(&[]);
        let config = Config::read(empty.path()).unwrap();
        assert_eq!((config.pooling, config.normalize), (Ok(Pooling::Mean), true));
    }

    #[test]
    fn what_cannot_be_done_says_what_it_is() {
        let dense = folder(&[("modules.json", json!([module("Dense", "2_Dense")]))]);
        assert!(Config::read(dense.path()).unwrap().pooling.unwrap_err().contains("'Dense'"));
        let last = json!({ "pooling_mode_lasttoken": true, "pooling_mode_max_tokens": true });
        assert_eq!(pooling_of(&last).unwrap_err(), "it pools by lasttoken and max");
        assert_eq!(pooling_of(&json!({ "pooling_mode": "mean" })), Ok(Pooling::Mean));
        let missing = folder(&[("modules.json", json!([module("Pooling", "1_Pooling")]))]);
        let error = Config::read(missing.path()).unwrap_err().to_string();
        assert!(error.contains("1_Pooling"), "{error}");
    }
}
