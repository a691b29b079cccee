//! What the user can set. The names and bounds are those of the schema in `plugin.toml`.

use ebb_plugin_sdk::Setting;

use crate::host::Host;

/// The settings as they hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Alias of the embedding model; empty is the first that was granted.
    pub embedding_model: String,
    /// Alias of the chat model; empty is the first that was granted.
    pub chat_model: String,
    /// Most tokens of a chunk, its headings included.
    pub chunk_tokens: u32,
    /// Part of a chunk that the next one repeats.
    pub overlap_percent: u32,
    /// Set before each text that is embedded for the index.
    pub passage_prefix: String,
    /// Set before each question that is embedded.
    pub query_prefix: String,
    /// Tokens that are embedded at once, padding included.
    pub batch_tokens: u32,
    /// Whether memory is given back after an ingest.
    pub shrink_after_ingest: bool,
    /// Largest file that is read.
    pub max_document_bytes: u64,
    /// Most passages that an answer rests on.
    pub passages: u32,
    /// Most tokens of passages in a prompt.
    pub prompt_tokens: u32,
    /// Most tokens of an answer.
    pub answer_tokens: u32,
    /// 0 is greedy.
    pub temperature: f32,
    /// A question to which no chunk is as near as this (cosine) is not answered.
    pub similarity_floor: f32,
}

impl Settings {
    /// Reads them. What does not fit is brought within its bounds: the host has checked it before.
    pub fn read(host: &impl Host) -> Self {
        let text = |name: &str| value::<String>(host, name).unwrap_or_default();
        let number = |name: &str, default: f64, low: f64, high: f64| {
            value(host, name).unwrap_or(default).clamp(low, high)
        };
        Self {
            embedding_model: text("embedding-model"),
            chat_model: text("chat-model"),
            chunk_tokens: number("chunk-tokens", 200.0, 32.0, 2048.0) as u32,
            overlap_percent: number("overlap-percent", 15.0, 0.0, 50.0) as u32,
            passage_prefix: text("passage-prefix"),
            query_prefix: text("query-prefix"),
            batch_tokens: number("batch-tokens", 4096.0, 256.0, 65536.0) as u32,
            shrink_after_ingest: value(host, "shrink-after-ingest").unwrap_or(true),
            max_document_bytes: number("max-document-mb", 32.0, 1.0, 64.0) as u64 * 1024 * 1024,
            passages: number("passages", 5.0, 1.0, 20.0) as u32,
            prompt_tokens: number("prompt-tokens", 1500.0, 100.0, 32768.0) as u32,
            answer_tokens: number("answer-tokens", 300.0, 16.0, 4096.0) as u32,
            temperature: number("temperature", 0.0, 0.0, 2.0) as f32,
            similarity_floor: number("similarity-floor", 0.2, -1.0, 1.0) as f32,
        }
    }
}

fn value<T: Setting>(host: &impl Host, name: &str) -> Option<T> {
    T::of_json(&host.setting(name)?)
}
