//! Load options, as flags.

use std::collections::BTreeMap;

use clap::{ArgAction, Args};
use ebb_core::{Failure, KeepAlive, LoadOptions, parse_bytes};

use super::pair::{Pair, ProviderPair};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load options")]
pub(crate) struct LoadArgs {
    /// An option of the ONNX Runtime session; 'ebb options session' lists them. May be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    session_option: Vec<Pair>,
    /// An option of the model's own CPU arena: max_mem, working_mem, arena_extend_strategy, ... May be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    arena_option: Vec<Pair>,
    /// An option of an execution provider. May be repeated
    #[arg(long, value_name = "PROVIDER.KEY=VALUE")]
    provider_option: Vec<ProviderPair>,
    /// A run option that holds from the first request on. May be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    runtime_option: Vec<Pair>,
    /// Execution provider: auto, cpu, cuda, webgpu, ...
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Which device of the provider
    #[arg(long, value_name = "N")]
    device: Option<u32>,
    /// Named set of options that these lie over: balanced, low-memory, fast, or one of your own
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Shrink after every N requests; 0: never
    #[arg(long, value_name = "N")]
    shrink_every: Option<u32>,
    /// Threads that one run may use
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Tokens, padding included, that one batch of texts may hold
    #[arg(long, value_name = "N")]
    batch_tokens: Option<u32>,
    /// Most tokens of a prompt and its answer together; the model's own limit where not given
    #[arg(long, value_name = "N")]
    context_tokens: Option<u32>,
    /// Most tokens of a prompt that are read in one step: bounds the memory that a long prompt takes
    #[arg(long, value_name = "N")]
    prefill_tokens: Option<u32>,
    /// Most memory that caches of ended conversations may hold for their next turn, such as 64MiB; 0: none
    #[arg(long, value_name = "SIZE", value_parser = size)]
    prefix_cache: Option<u64>,
    /// Unload when nobody has used it for so long: 5m, 1h, a number of seconds, 0 at once, -1 never
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = keep_alive)]
    keep_alive: Option<KeepAlive>,
    /// Which model file of the folder, by a part of its name: int8, q4, fp16
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Requests that may wait; more are refused as busy
    #[arg(long, value_name = "N")]
    queue: Option<u32>,
    /// Start the worker again, with back-off, if it crashes
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true,
          action = ArgAction::Set)]
    restart: Option<bool>,
    /// How often the host samples the model's memory, in milliseconds
    #[arg(long, value_name = "MS")]
    sample_ms: Option<u64>,
}

impl From<LoadArgs> for LoadOptions {
    fn from(args: LoadArgs) -> Self {
        let mut provider_options: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for ProviderPair { provider, pair } in args.provider_option {
            provider_options.entry(provider).or_default().insert(pair.key, pair.value);
        }
        Self {
            provider: args.provider,
            device: args.device,
            profile: args.profile,
            session_options: map(args.session_option),
            arena_options: map(args.arena_option),
            provider_options,
            runtime_options: map(args.runtime_option),
            shrink_every: args.shrink_every,
            threads: args.threads,
            batch_tokens: args.batch_tokens,
            context_tokens: args.context_tokens,
            prefill_tokens: args.prefill_tokens,
            prefix_cache_bytes: args.prefix_cache,
            keep_alive: args.keep_alive,
            variant: args.variant,
            queue: args.queue,
            restart: args.restart,
            sample_ms: args.sample_ms,
        }
    }
}

fn size(text: &str) -> Result<u64, String> {
    parse_bytes(text).map_err(|failure| failure.message)
}

/// A time to keep a model, as flags take it.
pub(crate) fn keep_alive(text: &str) -> Result<KeepAlive, String> {
    text.parse().map_err(|failure: Failure| failure.message)
}

/// As on most command lines, the last of a key wins.
fn map(pairs: Vec<Pair>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|Pair { key, value }| (key, value)).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command, ModelCommand};

    #[test]
    fn flags_become_the_options_of_the_contract() {
        let line = "ebb model load m --session-option a.b=1 --session-option a.b=2 --arena-option max_mem=2GiB \
            --provider-option cuda.gpu_mem_limit=1 --provider-option cuda.x=2 --runtime-option r= --provider cuda \
            --device 1 --profile fast --shrink-every 10 --threads 2 --batch-tokens 4096 --variant int8 --queue 8 \
            --restart --sample-ms 100 --context-tokens 2048 --prefill-tokens 128 --prefix-cache 64MiB --keep-alive -1 --force";
        let Command::Model(ModelCommand::Load { load, force, .. }) =
            Cli::try_parse_from(line.split_whitespace()).unwrap().command
        else {
            panic!("{line}")
        };
        assert!(force);
        insta::assert_json_snapshot!(LoadOptions::from(*load), @r#"
        {
          "provider": "cuda",
          "device": 1,
          "profile": "fast",
          "session_options": {
            "a.b": "2"
          },
          "arena_options": {
            "max_mem": "2GiB"
          },
          "provider_options": {
            "cuda": {
              "gpu_mem_limit": "1",
              "x": "2"
            }
          },
          "runtime_options": {
            "r": ""
          },
          "shrink_every": 10,
          "threads": 2,
          "batch_tokens": 4096,
          "context_tokens": 2048,
          "prefill_tokens": 128,
          "prefix_cache_bytes": 67108864,
          "keep_alive": "-1",
          "variant": "int8",
          "queue": 8,
          "restart": true,
          "sample_ms": 100
        }
        "#);
    }

    #[test]
    fn restart_takes_no_other_argument_for_its_value() {
        let line = ["ebb", "model", "load", "--restart", "m"];
        assert!(Cli::try_parse_from(line).is_ok());
        let line = ["ebb", "model", "load", "--restart=false", "m"];
        let Command::Model(ModelCommand::Load { load, .. }) = Cli::try_parse_from(line).unwrap().command
        else {
            panic!()
        };
        assert_eq!(LoadOptions::from(*load).restart, Some(false));
    }
}
