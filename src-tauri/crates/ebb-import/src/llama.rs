//! A decoder of the Llama family as a graph: the operators that ONNX Runtime has for it, weights as the GGUF has them.
//!
//! Between the token table and the last norm everything is a matrix `[tokens, values]`, batch and sequence in one. So the
//! offsets of quantised blocks (`w = scale · code + offset`) cost one `Gemm` that adds to what `MatMulNBits` gave: the sums
//! of the input's blocks times the offsets, exact and 10 % faster per token than a product and a sum (measured on 1.31,
//! SmolLM2 135M). Offsets given to `MatMulNBits` as zero points of its own made it ten times slower there.
//!
//! The cache is the model's input and output. `GroupQueryAttention` turns queries and keys by their position itself, which
//! it counts from the attention mask, and can write into a cache that both share.

mod config;
mod linear;
mod weights;

use std::collections::BTreeSet;

pub(crate) use config::Config;
pub(crate) use weights::Source;
use weights::{Content, Rows};

use crate::{
    Error,
    gguf::Gguf,
    onnx::{Attribute, DataType, Dim, Graph, Value},
};

/// The operator set of the standard operators.
pub(crate) const OPSET: i64 = 17;

/// Where the others come from.
pub(crate) const CONTRIB: &str = "com.microsoft";

/// A graph, and where its weights come from, in their order.
pub(crate) struct Built {
    pub(crate) graph: Graph,
    pub(crate) sources: Vec<Source>,
    /// Tensors that had to be quantised anew.
    pub(crate) requantised: usize,
}

/// Builds the graph. Every tensor is looked up and checked, and none may be left over: it would be missing in what the
/// model computes.
pub(crate) fn build(config: &Config, gguf: &Gguf) -> Result<Built, Error> {
    let graph = Graph::new(config.family.name());
    let mut builder = Builder {
        config,
        gguf,
        graph,
        sources: Vec::new(),
        presents: Vec::new(),
        used: BTreeSet::from(["rope_freqs.weight".to_owned()]),
        summed: BTreeSet::new(),
        requantised: BTreeSet::new(),
    };
    builder.decoder()?;
    if let Some(left) = gguf.tensors().keys().find(|name| !builder.used.contains(*name)) {
        return Err(gguf.unsupported(format!("its tensor {left} has no place in a model of its family")));
    }
    let Builder { graph, sources, requantised, .. } = builder;
    Ok(Built { graph, sources, requantised: requantised.len() })
}

/// Rows of a matrix that is multiplied with, by the name of its tensor without the ending.
struct Part {
    tensor: String,
    outputs: usize,
    /// Rows of a head if they stand in pairs.
    paired: Option<usize>,
}

/// Values that every layer uses.
struct Shared {
    /// `[values]` in one row for each token: `[-1, hidden]`.
    by_token: Value,
    /// Batch and sequence of the input, then the values of query, key and value.
    attention_shape: Value,
    gate_and_up: Value,
    lengths: Value,
    total: Value,
    cosines: Value,
    sines: Value,
}

struct Builder<'a> {
    config: &'a Config,
    gguf: &'a Gguf,
    graph: Graph,
    sources: Vec<Source>,
    /// What a run adds to the cache, for the outputs.
    presents: Vec<Value>,
    used: BTreeSet<String>,
    /// Values whose blocks are summed already, and constants for that.
    summed: BTreeSet<String>,
    requantised: BTreeSet<String>,
}

impl Builder<'_> {
    fn decoder(&mut self) -> Result<(), Error> {
        let config = self.config;
        let tokens: [Dim; 2] = ["batch".into(), "sequence".into()];
        let all: [Dim; 2] = ["batch".into(), "total_sequence".into()];
        let input_ids = self.graph.input("input_ids", DataType::Int64, &tokens);
        let attention_mask = self.graph.input("attention_mask", DataType::Int64, &all);

        let embedded = self.embeddings(&input_ids)?;
        let batch_and_sequence = self.graph.node("Shape", "tokens.shape", &[&input_ids], []);
        let shared = self.shared(&attention_mask, &batch_and_sequence);
        let mut hidden = self.graph.node("Reshape", "embedded", &[&embedded, &shared.by_token], []);
        for layer in 0..config.layers {
            hidden = self.layer(layer, &hidden, &shared)?;
        }

        let graph = &mut self.graph;
        let width = graph.constant("hidden.size", &[1], &[config.hidden_size as i64]);
        let axis = [Attribute::new("axis", 0)];
        let shape = graph.node("Concat", "hidden.shape", &[&batch_and_sequence, &width], axis);
        let hidden = graph.node("Reshape", "hidden", &[&hidden, &shape], []);
        // Only the last position is asked for its next token.
        let [first, end, axis] = [("last.first", -1), ("last.end", i64::MAX), ("last.axis", 1)]
            .map(|(name, at)| graph.constant(name, &[1], &[at]));
        let last = graph.node("Slice", "last", &[&hidden, &first, &end, &axis], []);
        let last = graph.node("Reshape", "last.by_token", &[&last, &shared.by_token], []);
        let last = self.norm("output_norm", &last)?;
        let logits = self.logits(&last)?;
        let shape = self.graph.constant("logits.shape", &[3], &[-1, 1, config.vocabulary_size as i64]);
        let logits = self.graph.node("Reshape", "logits", &[&logits, &shape], []);
        let dims = ["batch".into(), 1.into(), (config.vocabulary_size as i64).into()];
        self.graph.output(&logits, DataType::Float, &dims);
        for present in std::mem::take(&mut self.presents) {
            self.graph.output(&present, DataType::Float, &config.cache_dims("total_sequence"));
        }
        Ok(())
    }

    fn shared(&mut self, attention_mask: &Value, batch_and_sequence: &Value) -> Shared {
        let config = self.config;
        let (pairs, positions) = (config.head_size / 2, config.positions);
        let [cosines, sines] = [("cosines", false), ("sines", true)].map(|(name, sine)| {
            self.sources.push(Source::Turns { frequencies: config.frequencies.clone(), positions, sine });
            self.graph.weight(name, DataType::Float, &[positions as i64, pairs as i64])
        });
        let graph = &mut self.graph;
        let to_int = || [Attribute::new("to", DataType::Int32)];
        let [axis, one] =
            [("mask.axis", 1i64), ("one", 1)].map(|(name, value)| graph.constant(name, &[1], &[value]));
        let sum =
            graph.node("ReduceSum", "mask.sum", &[attention_mask, &axis], [Attribute::new("keepdims", 0)]);
        let before = graph.node("Sub", "mask.before_last", &[&sum, &one], []);
        let lengths = graph.node("Cast", "lengths", &[&before], to_int());
        let shape = graph.node("Shape", "mask.shape", &[attention_mask], [Attribute::new("start", 1)]);
        let first_axis = graph.constant("first_axis", &[1], &[0i64]);
        let total = graph.node("Squeeze", "mask.length", &[&shape, &first_axis], []);
        let total = graph.node("Cast", "total", &[&total], to_int());
        let size = (config.query_size() + 2 * config.kv_size()) as i64;
        let size = graph.constant("attention.size", &[1], &[size]);
        let wide = config.wide_size as i64;
        Shared {
            by_token: graph.constant("by_token", &[2], &[-1, config.hidden_size as i64]),
            attention_shape: graph.node(
                "Concat",
                "attention.shape",
                &[batch_and_sequence, &size],
                [Attribute::new("axis", 0)],
            ),
            gate_and_up: graph.constant("gate_and_up", &[2], &[wide, wide]),
            lengths,
            total,
            cosines,
            sines,
        }
    }

    fn layer(&mut self, index: usize, hidden: &Value, shared: &Shared) -> Result<Value, Error> {
        let (config, named) = (self.config, |name: &str| format!("layer.{index}.{name}"));
        let (width, wide) = (config.hidden_size, config.wide_size);
        let part = |name: &str, outputs: usize| Part {
            tensor: format!("blk.{index}.{name}"),
            outputs,
            paired: None,
        };

        let normed = self.norm(&format!("blk.{index}.attn_norm"), hidden)?;
        let attended = self.attention(index, &normed, shared)?;
        let projected = self.linear(
            &named("attention.output"),
            &attended,
            config.query_size(),
            &[part("attn_output", width)],
        )?;
        let hidden = self.graph.node("Add", &named("attended"), &[hidden, &projected], []);

        let normed = self.norm(&format!("blk.{index}.ffn_norm"), &hidden)?;
        let parts = [part("ffn_gate", wide), part("ffn_up", wide)];
        let both = self.linear(&named("gate_and_up"), &normed, width, &parts)?;
        let [gate, up] = self.graph.node_of(
            "",
            "Split",
            [&named("gate"), &named("up")],
            &[&both, &shared.gate_and_up],
            [Attribute::new("axis", -1)],
        );
        let graph = &mut self.graph;
        let sigmoid = graph.node("Sigmoid", &named("gate.sigmoid"), &[&gate], []);
        let open = graph.node("Mul", &named("gate.silu"), &[&gate, &sigmoid], []);
        let inner = graph.node("Mul", &named("inner"), &[&open, &up], []);
        let outer = self.linear(&named("down"), &inner, wide, &[part("ffn_down", width)])?;
        Ok(self.graph.node("Add", &named("output"), &[&hidden, &outer], []))
    }

    fn attention(&mut self, index: usize, normed: &Value, shared: &Shared) -> Result<Value, Error> {
        let (config, named) = (self.config, |name: &str| format!("layer.{index}.{name}"));
        let part = |name: &str, outputs: usize, turned: bool| Part {
            tensor: format!("blk.{index}.{name}"),
            outputs,
            paired: (turned && config.family == config::Family::Llama).then_some(config.head_size),
        };
        let parts = [
            part("attn_q", config.query_size(), true),
            part("attn_k", config.kv_size(), true),
            part("attn_v", config.kv_size(), false),
        ];
        let qkv = self.linear(&named("qkv"), normed, config.hidden_size, &parts)?;
        let graph = &mut self.graph;
        let qkv = graph.node("Reshape", &named("qkv.by_sequence"), &[&qkv, &shared.attention_shape], []);
        let [past_key, past_value] = ["key", "value"].map(|kind| {
            graph.input(
                &format!("past_key_values.{index}.{kind}"),
                DataType::Float,
                &config.cache_dims("past_sequence"),
            )
        });
        let [key, value] = ["key", "value"].map(|kind| format!("present.{index}.{kind}"));
        let none = Value::none();
        let [attended, key, value] = graph.node_of(
            CONTRIB,
            "GroupQueryAttention",
            [&named("attention"), &key, &value],
            &[
                &qkv,
                &none,
                &none,
                &past_key,
                &past_value,
                &shared.lengths,
                &shared.total,
                &shared.cosines,
                &shared.sines,
            ],
            [
                Attribute::new("num_heads", config.heads as i64),
                Attribute::new("kv_num_heads", config.kv_heads as i64),
                Attribute::new("scale", (config.head_size as f64).sqrt().recip() as f32),
                Attribute::new("do_rotary", 1),
                Attribute::new("rotary_interleaved", 0),
            ],
        );
        self.presents.extend([key, value]);
        let graph = &mut self.graph;
        let size = graph.constant(&named("attention.by_token"), &[2], &[-1, config.query_size() as i64]);
        Ok(graph.node("Reshape", &named("attention.rows"), &[&attended, &size], []))
    }

    fn norm(&mut self, tensor: &str, x: &Value) -> Result<Value, Error> {
        let scale = format!("{tensor}.weight");
        self.used(&scale, &[self.config.hidden_size])?;
        let rows = Rows { tensor: scale.clone(), paired: None };
        let scale =
            self.weight(&scale, DataType::Float, &[self.config.hidden_size], Content::Floats, vec![rows]);
        let attributes = [
            Attribute::new("axis", -1),
            Attribute::new("epsilon", self.config.epsilon),
            Attribute::new("stash_type", 1),
        ];
        Ok(self.graph.node("SimplifiedLayerNormalization", tensor, &[x, &scale], attributes))
    }
}
