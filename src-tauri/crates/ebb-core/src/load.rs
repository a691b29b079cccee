//! How a model is loaded.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::{
    KeepAlive,
    options::{Requested, Scope, canonical, provider_name},
};

/// What a user may choose when a model is loaded. The same names in JSON, on the command line (`--session-option`), in
/// Python and in profiles. Values of options are text, as ONNX Runtime takes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    /// Most tokens of a prompt and its answer together; the model's own limit where not given.
    pub context_tokens: Option<u32>,
    /// Most tokens of a prompt that are read in one step: what bounds the memory that a long prompt takes.
    pub prefill_tokens: Option<u32>,
    /// Most bytes that caches of ended conversations may hold for their next turn; 0: none.
    pub prefix_cache_bytes: Option<u64>,
    /// Unload when nobody has used it for so long.
    pub keep_alive: Option<KeepAlive>,
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
    /// Lays these options over `base`: what is given here wins, option by option, however and wherever each was spelled.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        let given: BTreeSet<(Scope, String)> =
            Requested::all(&self).iter().map(|option| canonical(&option.scope, &option.key)).collect();
        let overlay =
            |scope: &Scope, mut below: BTreeMap<String, String>, above: BTreeMap<String, String>| {
                below.retain(|key, _| !given.contains(&canonical(scope, key)));
                below.extend(above);
                below
            };
        let mut provider_options = base.provider_options;
        for (provider, options) in &mut provider_options {
            *options =
                overlay(&Scope::Provider(provider_name(provider)), std::mem::take(options), BTreeMap::new());
        }
        for (provider, options) in self.provider_options {
            provider_options.entry(provider).or_default().extend(options);
        }
        let threads_typed = (Scope::Session, "session.intra_op_num_threads".to_owned());
        let base_threads = if given.contains(&threads_typed) { None } else { base.threads };
        Self {
            provider: self.provider.or(base.provider),
            device: self.device.or(base.device),
            profile: self.profile.or(base.profile),
            session_options: overlay(&Scope::Session, base.session_options, self.session_options),
            arena_options: overlay(&Scope::Arena, base.arena_options, self.arena_options),
            provider_options,
            runtime_options: overlay(&Scope::Run, base.runtime_options, self.runtime_options),
            shrink_every: self.shrink_every.or(base.shrink_every),
            threads: self.threads.or(base_threads),
            batch_tokens: self.batch_tokens.or(base.batch_tokens),
            context_tokens: self.context_tokens.or(base.context_tokens),
            prefill_tokens: self.prefill_tokens.or(base.prefill_tokens),
            prefix_cache_bytes: self.prefix_cache_bytes.or(base.prefix_cache_bytes),
            keep_alive: self.keep_alive.or(base.keep_alive),
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
    fn one_option_in_two_spellings_is_one_option() {
        let text = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let base = LoadOptions {
            threads: Some(4),
            session_options: text(&[("session.enable_cpu_mem_arena", "1"), ("session.log_id", "a")]),
            arena_options: text(&[("max_mem", "1GiB")]),
            provider_options: [("CUDA".to_owned(), text(&[("gpu_mem_limit", "1"), ("device_id", "0")]))]
                .into(),
            ..LoadOptions::default()
        };
        let given = LoadOptions {
            session_options: text(&[("intra_op_num_threads", "1"), ("cuda.gpu_mem_limit", "2")]),
            arena_options: text(&[("enable_cpu_mem_arena", "0"), ("working_mem", "8MiB")]),
            ..LoadOptions::default()
        };
        let merged = given.clone().over(base);
        assert_eq!(merged.threads, None);
        assert_eq!(merged.arena_options, given.arena_options);
        assert_eq!(merged.session_options.get("session.enable_cpu_mem_arena"), None);
        assert_eq!(merged.session_options.len(), 3, "{:?}", merged.session_options);
        assert_eq!(merged.provider_options["CUDA"], text(&[("device_id", "0")]));
    }

    #[test]
    fn an_unknown_field_is_an_error_that_names_it() {
        let error = serde_json::from_str::<LoadOptions>(r#"{"sesion_options": {}}"#).unwrap_err();
        assert!(error.to_string().contains("sesion_options"), "{error}");
    }
}
