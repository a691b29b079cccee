//! How a model is loaded.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// What a user may choose when a model is loaded. The same names in JSON, on the command line (`--session-option`), in
/// Python and in profiles. Values of options are text, as ONNX Runtime takes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoadOptions {
    /// Execution provider: `auto`, `cpu`, `cuda`, `webgpu`, ... Options never choose it.
    pub provider: Option<String>,
    /// Which device of the provider.
    pub device: Option<u32>,
    /// Named set of options that these lie over.
    pub profile: Option<String>,
    /// Options of the ONNX Runtime session.
    pub session_options: BTreeMap<String, String>,
    /// Options of the model's own CPU arena.
    pub arena_options: BTreeMap<String, String>,
    /// Options of execution providers, by provider.
    pub provider_options: BTreeMap<String, BTreeMap<String, String>>,
    /// Run options that hold from the first request on.
    pub runtime_options: BTreeMap<String, String>,
    /// Shrink after every so many requests; 0: never.
    pub shrink_every: Option<u32>,
    /// Threads of the model's intra-op pool.
    pub threads: Option<u32>,
    /// Tokens, padding included, that one batch of an embed job may hold.
    pub batch_tokens: Option<u32>,
    /// Which file of the folder, by a part of its name: `int8`, `q4`, `fp16`.
    pub variant: Option<String>,
    /// Requests that may wait; more are refused as busy.
    pub queue: Option<u32>,
    /// Restart the worker, with back-off, if it crashes.
    pub restart: Option<bool>,
    /// How often the host samples the model's memory.
    pub sample_ms: Option<u64>,
}

impl LoadOptions {
    /// Lays these options over `base`: what is given here wins, key by key.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        let mut provider_options = base.provider_options;
        for (provider, options) in self.provider_options {
            provider_options.entry(provider).or_default().extend(options);
        }
        let overlay = |mut below: BTreeMap<String, String>, above: BTreeMap<String, String>| {
            below.extend(above);
            below
        };
        Self {
            provider: self.provider.or(base.provider),
            device: self.device.or(base.device),
            profile: self.profile.or(base.profile),
            session_options: overlay(base.session_options, self.session_options),
            arena_options: overlay(base.arena_options, self.arena_options),
            provider_options,
            runtime_options: overlay(base.runtime_options, self.runtime_options),
            shrink_every: self.shrink_every.or(base.shrink_every),
            threads: self.threads.or(base.threads),
            batch_tokens: self.batch_tokens.or(base.batch_tokens),
            variant: self.variant.or(base.variant),
            queue: self.queue.or(base.queue),
            restart: self.restart.or(base.restart),
            sample_ms: self.sample_ms.or(base.sample_ms),
        }
    }
}

/// All that a worker needs to load its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// The model's alias.
    pub alias: String,
    /// The model's folder or file.
    pub path: PathBuf,
    /// What the user chose, profile already laid under.
    pub options: LoadOptions,
    /// The ONNX Runtime library, where the user named one.
    pub runtime_library: Option<PathBuf>,
    /// Folders to look for an ONNX Runtime library in, best first.
    pub runtime_folders: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_wins_key_by_key() {
        let text = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let base = LoadOptions {
            threads: Some(1),
            arena_options: text(&[("max_mem", "1"), ("arena_extend_strategy", "0")]),
            provider_options: [("cuda".to_owned(), text(&[("a", "1")]))].into(),
            ..LoadOptions::default()
        };
        let given = LoadOptions {
            arena_options: text(&[("max_mem", "2")]),
            provider_options: [("cuda".to_owned(), text(&[("b", "2")]))].into(),
            ..LoadOptions::default()
        };
        let merged = given.over(base);
        assert_eq!(merged.threads, Some(1));
        assert_eq!(merged.arena_options, text(&[("max_mem", "2"), ("arena_extend_strategy", "0")]));
        assert_eq!(merged.provider_options["cuda"], text(&[("a", "1"), ("b", "2")]));
    }

    #[test]
    fn an_unknown_field_is_an_error_that_names_it() {
        let error = serde_json::from_str::<LoadOptions>(r#"{"sesion_options": {}}"#).unwrap_err();
        assert!(error.to_string().contains("sesion_options"), "{error}");
    }
}
