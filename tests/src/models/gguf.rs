//! GGUF files of random models, a few hundred kilobytes each. Numbers are made as the format has them, and what they stand
//! for is worked out here: nothing is taken from what reads them.

mod file;
mod types;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use file::GgufFile;
pub use types::GgufType;

use super::{Noise, tokenizer, write_file};

/// A source for `ebb model import`: a random decoder with a byte-level vocabulary (3 special tokens, then the bytes).
#[derive(Debug, Clone, Copy)]
pub struct GgufModel {
    /// `general.architecture`: `llama` or `qwen2` can be imported.
    pub architecture: &'static str,
    /// Values of a token; types with super-blocks need a multiple of 256.
    pub hidden_size: usize,
    /// Values within the feed-forward part.
    pub wide_size: usize,
    /// Layers.
    pub layers: usize,
    /// Heads of 16 values.
    pub heads: usize,
    /// Heads of keys and values.
    pub kv_heads: usize,
    /// Type of the matrices.
    pub matrices: GgufType,
    /// Type of `attn_v` and `ffn_down`, as mixed files have one of their own.
    pub finer_matrices: GgufType,
    /// Type of the table of embeddings, and of the output matrix.
    pub embeddings: GgufType,
    /// There is no output matrix beside the table.
    pub tied: bool,
    /// Query, key and value have biases.
    pub biases: bool,
    /// Frequencies are slowed down by `rope_freqs.weight`.
    pub rope_factors: bool,
    /// `context_length`.
    pub context_length: u32,
}

impl Default for GgufModel {
    fn default() -> Self {
        Self {
            architecture: "llama",
            hidden_size: 64,
            wide_size: 96,
            layers: 2,
            heads: 4,
            kv_heads: 2,
            matrices: GgufType::Q4_1,
            finer_matrices: GgufType::Q4_1,
            embeddings: GgufType::Q8_0,
            tied: true,
            biases: false,
            rope_factors: false,
            context_length: 128,
        }
    }
}

/// A tensor's shape, the values of a row last, and its numbers.
pub type GgufTensor = (Vec<usize>, Vec<f32>);

/// Values of a head.
pub const GGUF_HEAD_SIZE: usize = 16;

/// The end of a turn.
pub const GGUF_EOS: u32 = 2;

/// Writes [`GgufModel::default`]. Gives the file.
pub fn gguf(path: &Path) -> PathBuf {
    GgufModel::default().write(path).0
}

impl GgufModel {
    /// Writes `tiny.gguf` into the folder. Gives the file and what its tensors stand for.
    pub fn write(self, path: &Path) -> (PathBuf, BTreeMap<String, GgufTensor>) {
        super::folder(path);
        let mut file = GgufFile::default();
        self.write_keys(&mut file);
        let mut tensors = BTreeMap::new();
        for (index, (name, shape, of)) in self.shapes().into_iter().enumerate() {
            let mut noise = Noise::new(index as u64);
            let count = shape.iter().product();
            let (bytes, mut values) = of.random(count, &mut noise);
            let bytes = if shape.len() == 1 {
                values = noise.take(count).map(|value| spread(&name, value)).collect();
                values.iter().flat_map(|value| value.to_le_bytes()).collect()
            } else {
                bytes
            };
            file.tensor(&name, of, &shape, &bytes);
            tensors.insert(name, (shape, values));
        }
        (write_file(path.join("tiny.gguf"), file.bytes()), tensors)
    }

    fn write_keys(self, file: &mut GgufFile) {
        let of = |key: &str| format!("{}.{key}", self.architecture);
        file.text("general.architecture", self.architecture).text("general.name", "tiny");
        file.text("general.license", "cc0-1.0");
        let sizes = [
            ("block_count", self.layers),
            ("embedding_length", self.hidden_size),
            ("feed_forward_length", self.wide_size),
            ("attention.head_count", self.heads),
            ("attention.head_count_kv", self.kv_heads),
            ("attention.key_length", GGUF_HEAD_SIZE),
            ("attention.value_length", GGUF_HEAD_SIZE),
            ("rope.dimension_count", GGUF_HEAD_SIZE),
        ];
        sizes.iter().for_each(|&(key, size)| _ = file.unsigned(&of(key), size as u32));
        file.unsigned(&of("context_length"), self.context_length);
        file.float(&of("attention.layer_norm_rms_epsilon"), 1e-5).float(&of("rope.freq_base"), 10_000.0);

        let tokens = tokenizer::tokens();
        let kinds: Vec<i32> = (0..tokens.len()).map(|id| if id < 3 { 3 } else { 1 }).collect();
        file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "smollm");
        file.texts("tokenizer.ggml.tokens", &tokens).integers("tokenizer.ggml.token_type", &kinds);
        file.texts("tokenizer.ggml.merges", &[]);
        file.unsigned("tokenizer.ggml.bos_token_id", 1).unsigned("tokenizer.ggml.eos_token_id", GGUF_EOS);
        file.unsigned("tokenizer.ggml.padding_token_id", 0);
        file.text(
            "tokenizer.chat_template",
            "{% for message in messages %}{{ message.content }}{% endfor %}",
        );
    }

    fn shapes(self) -> Vec<(String, Vec<usize>, GgufType)> {
        let (hidden, wide) = (self.hidden_size, self.wide_size);
        let (query, kv) = (self.heads * GGUF_HEAD_SIZE, self.kv_heads * GGUF_HEAD_SIZE);
        let vocabulary = tokenizer::VOCABULARY;
        let mut shapes = vec![("token_embd.weight".to_owned(), vec![vocabulary, hidden], self.embeddings)];
        if !self.tied {
            shapes.push(("output.weight".to_owned(), vec![vocabulary, hidden], self.embeddings));
        }
        let mut vector = |name: String, length: usize| shapes.push((name, vec![length], GgufType::F32));
        vector("output_norm.weight".to_owned(), hidden);
        if self.rope_factors {
            vector("rope_freqs.weight".to_owned(), GGUF_HEAD_SIZE / 2);
        }
        for layer in 0..self.layers {
            vector(format!("blk.{layer}.attn_norm.weight"), hidden);
            vector(format!("blk.{layer}.ffn_norm.weight"), hidden);
            if self.biases {
                vector(format!("blk.{layer}.attn_q.bias"), query);
                vector(format!("blk.{layer}.attn_k.bias"), kv);
                vector(format!("blk.{layer}.attn_v.bias"), kv);
            }
        }
        for layer in 0..self.layers {
            let mut matrix = |name: &str, outputs: usize, inputs: usize, of: GgufType| {
                shapes.push((format!("blk.{layer}.{name}.weight"), vec![outputs, inputs], of));
            };
            matrix("attn_q", query, hidden, self.matrices);
            matrix("attn_k", kv, hidden, self.matrices);
            matrix("attn_v", kv, hidden, self.finer_matrices);
            matrix("attn_output", hidden, query, self.matrices);
            matrix("ffn_gate", wide, hidden, self.matrices);
            matrix("ffn_up", wide, hidden, self.matrices);
            matrix("ffn_down", hidden, wide, self.finer_matrices);
        }
        shapes
    }
}

/// What keeps tokens apart through the layers: norms of about 1, small biases, frequencies slowed down by 1 to 3.
fn spread(name: &str, value: f32) -> f32 {
    match name {
        "rope_freqs.weight" => 2.0 + value,
        _ if name.ends_with("bias") => value * 0.2,
        _ => 1.0 + value * 0.1,
    }
}
