use std::path::{Path, PathBuf};

use ebb_import::onnx::{Attribute, DataType, Dim, Graph, Storage, Value};
use serde_json::json;

use super::{folder, tokenizer, write_json, write_noise};

/// A mean-pooled embedder with a random vector for each byte: equal bags of bytes have equal vectors, and a text's vector
/// does not depend on the texts beside it.
#[derive(Debug, Clone, Copy)]
pub struct Embedder {
    /// Values in a vector.
    pub dimensions: usize,
    /// Longest text in bytes, as the settings say it.
    pub max_tokens: usize,
    /// Add a position table of `max_tokens` rows: order counts, and a longer text fails in the model itself.
    pub positions: bool,
    /// Also give `sentence_embedding`, pooled and normalised by the model.
    pub pooled: bool,
}

impl Default for Embedder {
    fn default() -> Self {
        Self { dimensions: 32, max_tokens: 512, positions: false, pooled: false }
    }
}

/// A 34 KB embedder: `input_ids`, `attention_mask` → `last_hidden_state`; vectors of 32, texts of up to 512 bytes.
pub fn embedder(path: &Path) -> PathBuf {
    Embedder::default().write(path)
}

/// The same, with `sentence_embedding` as a second output.
pub fn embedder_pooled(path: &Path) -> PathBuf {
    Embedder { pooled: true, ..Embedder::default() }.write(path)
}

/// The same with a position table: a text longer than `max_tokens` must be cut before it reaches the model.
pub fn embedder_with_limit(path: &Path, max_tokens: usize) -> PathBuf {
    Embedder { max_tokens, positions: true, ..Embedder::default() }.write(path)
}

impl Embedder {
    /// Writes the model folder, in the layout of sentence-transformers.
    pub fn write(self, path: &Path) -> PathBuf {
        folder(&path.join("1_Pooling"));
        write_noise(path.join("model.onnx"), self.graph(), Storage::Inline);
        write_json(path.join("tokenizer.json"), &tokenizer::byte_level());
        let (dimensions, max_tokens) = (self.dimensions, self.max_tokens);
        let config = json!({
            "model_type": "bytes", "hidden_size": dimensions, "vocab_size": tokenizer::VOCABULARY,
            "max_position_embeddings": max_tokens, "pad_token_id": 0
        });
        write_json(path.join("config.json"), &config);
        write_json(
            path.join("tokenizer_config.json"),
            &json!({"pad_token": "<pad>", "model_max_length": max_tokens}),
        );
        write_json(path.join("sentence_bert_config.json"), &json!({"max_seq_length": max_tokens}));
        let pooling = json!({"word_embedding_dimension": dimensions, "pooling_mode_mean_tokens": true});
        write_json(path.join("1_Pooling/config.json"), &pooling);
        let module = |idx: usize, path: &str, kind: &str| json!({"idx": idx, "name": idx.to_string(), "path": path, "type": format!("sentence_transformers.models.{kind}")});
        let modules = [
            module(0, "", "Transformer"),
            module(1, "1_Pooling", "Pooling"),
            module(2, "2_Normalize", "Normalize"),
        ];
        write_json(path.join("modules.json"), &json!(modules));
        path.to_owned()
    }

    fn graph(self) -> Graph {
        let mut graph = Graph::new("embedder");
        let tokens: [Dim; 2] = ["batch".into(), "sequence".into()];
        let width = self.dimensions as i64;
        let input_ids = graph.input("input_ids", DataType::Int64, &tokens);
        let attention_mask = graph.input("attention_mask", DataType::Int64, &tokens);
        let table = graph.weight("bytes", DataType::Float, &[tokenizer::VOCABULARY as i64, width]);

        let hidden = if self.positions {
            let bytes = graph.node("Gather", "byte", &[&table, &input_ids], []);
            let places = self.places(&mut graph, &input_ids);
            graph.node("Add", "last_hidden_state", &[&bytes, &places], [])
        } else {
            graph.node("Gather", "last_hidden_state", &[&table, &input_ids], [])
        };
        let [batch, sequence] = tokens;
        graph.output(&hidden, DataType::Float, &[batch.clone(), sequence, width.into()]);
        if self.pooled {
            let pooled = pool(&mut graph, &hidden, &attention_mask);
            graph.output(&pooled, DataType::Float, &[batch, width.into()]);
        }
        graph
    }

    fn places(self, graph: &mut Graph, input_ids: &Value) -> Value {
        let table =
            graph.weight("places", DataType::Float, &[self.max_tokens as i64, self.dimensions as i64]);
        let first = graph.constant("first", &[1], &[0i64]);
        let bounds = [Attribute::new("start", 1), Attribute::new("end", 2)];
        let length = graph.node("Shape", "length", &[input_ids], bounds);
        graph.node("Slice", "place", &[&table, &first, &length, &first], [])
    }
}

/// Mean over the mask, then length 1.
fn pool(graph: &mut Graph, hidden: &Value, attention_mask: &Value) -> Value {
    let last = graph.constant("last_axis", &[1], &[-1i64]);
    let tokens = graph.constant("token_axis", &[1], &[1i64]);
    let mask = graph.node("Cast", "mask", &[attention_mask], [Attribute::new("to", DataType::Float)]);
    let mask = graph.node("Unsqueeze", "mask_3d", &[&mask, &last], []);
    let real = graph.node("Mul", "real", &[hidden, &mask], []);
    let drop_axis = || [Attribute::new("keepdims", 0)];
    let sum = graph.node("ReduceSum", "sum", &[&real, &tokens], drop_axis());
    let count = graph.node("ReduceSum", "count", &[&mask, &tokens], drop_axis());
    let mean = graph.node("Div", "mean", &[&sum, &count], []);
    let unit = [Attribute::new("axis", -1), Attribute::new("p", 2)];
    graph.node("LpNormalization", "sentence_embedding", &[&mean], unit)
}
