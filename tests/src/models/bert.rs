use std::path::{Path, PathBuf};

use safetensors::{Dtype, serialize_to_file, tensor::TensorView};
use serde_json::json;

use super::{Noise, folder, tokenizer, write_json};

/// A source for `ebb model import`: a random BERT of a few kilobytes, with the byte-level tokenizer.
#[derive(Debug, Clone, Copy)]
pub struct BertFolder {
    /// Values in a vector.
    pub hidden_size: usize,
    /// Layers.
    pub layers: usize,
    /// Longest text in bytes.
    pub max_tokens: usize,
    /// Put before the names of the tensors: nothing, or `bert.` as models with a task's head have it.
    pub prefix: &'static str,
}

impl Default for BertFolder {
    fn default() -> Self {
        Self { hidden_size: 16, layers: 2, max_tokens: 64, prefix: "" }
    }
}

/// Writes [`BertFolder::default`]: config.json, model.safetensors, tokenizer.json.
pub fn bert_folder(path: &Path) -> PathBuf {
    BertFolder::default().write(path)
}

impl BertFolder {
    /// Writes the source folder.
    pub fn write(self, path: &Path) -> PathBuf {
        folder(path);
        write_json(path.join("tokenizer.json"), &tokenizer::byte_level());
        let config = json!({
            "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12,
            "position_embedding_type": "absolute", "hidden_size": self.hidden_size,
            "intermediate_size": 2 * self.hidden_size, "num_hidden_layers": self.layers, "num_attention_heads": 2,
            "max_position_embeddings": self.max_tokens, "type_vocab_size": 2, "vocab_size": tokenizer::VOCABULARY
        });
        write_json(path.join("config.json"), &config);
        let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .shapes()
            .into_iter()
            .enumerate()
            .map(|(index, (name, shape))| {
                let values = Noise::new(index as u64).take(shape.iter().product());
                let bytes = values.flat_map(|value| spread(&name, value).to_le_bytes()).collect();
                (format!("{}{name}", self.prefix), shape, bytes)
            })
            .collect();
        let views = tensors.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes).expect("shape and bytes agree");
            (name, view)
        });
        serialize_to_file(views, None, &path.join("model.safetensors")).expect("the weights can be written");
        path.to_owned()
    }

    fn shapes(self) -> Vec<(String, Vec<usize>)> {
        let (hidden, wide) = (self.hidden_size, 2 * self.hidden_size);
        let mut shapes = vec![
            ("embeddings.word_embeddings.weight".to_owned(), vec![tokenizer::VOCABULARY, hidden]),
            ("embeddings.position_embeddings.weight".to_owned(), vec![self.max_tokens, hidden]),
            ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, hidden]),
        ];
        let mut pair = |name: String, weight: Vec<usize>, bias: usize| {
            shapes.push((format!("{name}.weight"), weight));
            shapes.push((format!("{name}.bias"), vec![bias]));
        };
        pair("embeddings.LayerNorm".to_owned(), vec![hidden], hidden);
        for layer in 0..self.layers {
            let at = format!("encoder.layer.{layer}");
            for role in ["query", "key", "value"] {
                pair(format!("{at}.attention.self.{role}"), vec![hidden, hidden], hidden);
            }
            pair(format!("{at}.attention.output.dense"), vec![hidden, hidden], hidden);
            pair(format!("{at}.attention.output.LayerNorm"), vec![hidden], hidden);
            pair(format!("{at}.intermediate.dense"), vec![wide, hidden], wide);
            pair(format!("{at}.output.dense"), vec![hidden, wide], hidden);
            pair(format!("{at}.output.LayerNorm"), vec![hidden], hidden);
        }
        shapes
    }
}

/// What keeps texts apart through the layers, as in a trained model: norms that scale by about 1 and biases that are small.
fn spread(name: &str, value: f32) -> f32 {
    if name.ends_with("LayerNorm.weight") {
        1.0 + value * 0.1
    } else if name.ends_with("bias") {
        value * 0.1
    } else {
        value * 0.5
    }
}
