//! Text from a chat model: the prompt is read in parts, then a token is chosen, read, and so on.

mod cache;
mod config;
mod feeds;
mod graph;
mod idle;
mod peak;
mod run;
mod scores;

use std::{path::Path, sync::Arc};

use ebb_chat::Language;
use ebb_core::{ChatInfo, Failure, LoadOptions, Target};
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};

use crate::{Error, provider::Chosen, session::Loaded};
use cache::CacheMemory;
use config::{Config, Said};
use graph::Graph;
use scores::Scores;

pub(crate) use config::{load_defaults, name_origin};
pub(crate) use idle::Caches;
pub(crate) use peak::Peak;
pub(crate) use run::GenerateRun;

/// Tokens of a prompt that one step reads at most, where the user does not say. Measured with SmolLM2 on CPUs: 128 take the
/// least processor time, 3 % less than 256 and 12 % less than 512 for a prompt of 500 tokens; the memory that a step takes
/// besides the cache grows with them (12, 22 and 43 MiB), and other conversations wait for a step.
const DEFAULT_PREFILL_TOKENS: u32 = 128;

/// What caches of ended conversations may take, where the user does not say.
const DEFAULT_PREFIX_CACHE_BYTES: u64 = 64 << 20;

/// A chat model.
#[derive(Debug)]
pub(crate) struct Generator {
    /// Before the session that it is of.
    memory: CacheMemory,
    loaded: Loaded,
    language: Arc<Language>,
    graph: Graph,
    scores: Scores,
    info: ChatInfo,
}

impl Generator {
    /// Makes a chat model of a loaded model file and the folder that it belongs to.
    ///
    /// # Errors
    /// Where the folder's configuration is broken or does not fit the file, where the tokenizer is missing or broken, where
    /// the model is of a kind that Ebb does not run.
    pub(crate) fn open(
        folder: &Path,
        file: &Path,
        loaded: Loaded,
        provider: &Chosen,
        options: &LoadOptions,
    ) -> Result<Self, Error> {
        let config = Config::read(folder)?;
        let graph = Graph::read(file, &config, loaded.inputs(), loaded.outputs())?;
        if graph.in_place && config.in_place == Some(false) {
            tracing::debug!(
                "the cache is kept in place though the folder does not say so: its operators take it"
            );
        }
        let language = Language::open(folder, graph.logits.vocab_size).map_err(Failure::from)?;
        let (memory, device) = cache_memory(&loaded, provider)?;
        let info = ChatInfo {
            context_tokens: context_tokens(&config, options)?,
            kv_bytes_per_token: graph.bytes_per_token(),
            kv_shared: graph.in_place,
            prefill_tokens: at_least_one(options.prefill_tokens, "prefill_tokens")?
                .unwrap_or(DEFAULT_PREFILL_TOKENS),
            prefix_cache_bytes: options.prefix_cache_bytes.unwrap_or(DEFAULT_PREFIX_CACHE_BYTES),
            template: language.has_template(),
            tools: language.takes_tools(),
        };
        let scores = Scores::new(&graph.logits)?;
        loaded.held().caches.get_or_init(|| Caches::new(device, info.prefix_cache_bytes));
        Ok(Self { memory, loaded, language, graph, scores, info })
    }

    /// What is particular to the model.
    pub(crate) fn info(&self) -> &ChatInfo {
        &self.info
    }

    /// Its text side.
    pub(crate) fn language(&self) -> &Arc<Language> {
        &self.language
    }
}

/// Where the cache of a model on this provider lies: on its device where ONNX Runtime gives memory there, else in the CPU
/// arena of the session.
fn cache_memory(loaded: &Loaded, provider: &Chosen) -> Result<(CacheMemory, Target), Error> {
    if let Some((memory_name, device)) = provider.gpu_arena() {
        let memory = MemoryInfo::new(
            AllocationDevice::new(memory_name),
            i32::try_from(device).unwrap_or(0),
            AllocatorType::Arena,
            MemoryType::Default,
        );
        let memory = memory.map_err(Error::runtime("describe the GPU arena"));
        match memory.and_then(|memory| loaded.allocator(memory)) {
            Ok(allocator) => return Ok((CacheMemory::new(allocator), Target::gpu(device))),
            Err(error) => tracing::warn!(%error, "the cache of conversations lies in main memory"),
        }
    }
    let memory = MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Arena, MemoryType::Default);
    let memory = memory.map_err(Error::runtime("describe the CPU arena"))?;
    Ok((CacheMemory::new(loaded.allocator(memory)?), Target::cpu(0)))
}

/// Tokens of prompt and answer together: what the model takes, or less where the user says so.
fn context_tokens(config: &Config, options: &LoadOptions) -> Result<u32, Error> {
    let asked = at_least_one(options.context_tokens, "context_tokens")?;
    match (&config.context_tokens, asked) {
        (Some(Said { number, .. }), asked) => {
            let takes = u32::try_from(*number).unwrap_or(u32::MAX);
            Ok(asked.map_or(takes, |asked| asked.min(takes)))
        }
        (None, Some(asked)) => Ok(asked),
        (None, None) => {
            let why =
                "it does not say how many tokens the model takes (context_length, max_position_embeddings)";
            let error = Error::invalid_model(&config.file, why);
            Err(error.hint("load it with context_tokens"))
        }
    }
}

fn at_least_one(option: Option<u32>, name: &str) -> Result<Option<u32>, Error> {
    match option {
        Some(0) => Err(Error::request(format!("{name} is 0; it is at least 1"), name)),
        option => Ok(option),
    }
}

#[cfg(test)]
mod tests;
