use std::path::{Path, PathBuf};

use ebb_import::onnx::{Attribute, DataType, Graph, Model, Storage, Value};
use serde_json::json;

use super::{OPSET, folder, tokenizer, write_json};

/// Width of the model: a place for each token and for each of its positions, a multiple of 8 as GroupQueryAttention wants it.
const WIDTH: i64 = 264;

/// Positions are told apart by two digits, of which this is the base of the first.
const DIGIT: i64 = 64;

/// How far back the model looks.
const PERIOD: i64 = 4;

/// A chat model without weights whose likeliest next token is the one four places back, wherever its cache has it: after
/// `abcd` comes `abcdabcd…`, and any slip in the cache shows. Tokens are bytes, `</s>` ends an answer. Its template puts
/// `</s>` before the last two bytes of the prompt, so that a conversation is answered with the last byte of its last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatModel {
    /// In the layout of onnxruntime-genai, or of Optimum.
    pub genai: bool,
    /// With GroupQueryAttention, which takes the cache in place; or Concat and `position_ids`.
    pub in_place: bool,
    /// Cache and scores are float16.
    pub half: bool,
    /// Scores are given for every token that is read.
    pub all_scores: bool,
    /// With `use_cache_branch`.
    pub merged: bool,
    /// Layers; each does the same.
    pub layers: usize,
    /// Most tokens, as the configuration says it; positions go up to 12,800.
    pub context_tokens: usize,
}

impl Default for ChatModel {
    fn default() -> Self {
        Self {
            genai: true,
            in_place: true,
            half: false,
            all_scores: false,
            merged: false,
            layers: 2,
            context_tokens: 4096,
        }
    }
}

/// Writes [`ChatModel::default`].
pub fn chat(path: &Path) -> PathBuf {
    ChatModel::default().write(path)
}

impl ChatModel {
    /// Bytes of cache that one token takes.
    pub fn kv_bytes_per_token(self) -> u64 {
        let number_bytes = if self.half { 2 } else { 4 };
        self.layers as u64 * 2 * WIDTH as u64 * number_bytes
    }

    /// Writes the model folder.
    pub fn write(self, path: &Path) -> PathBuf {
        folder(path);
        let file = if self.merged { "decoder_model_merged.onnx" } else { "model.onnx" };
        let model = Model::new(self.graph(), OPSET).with_operators("com.microsoft", 1);
        let written = model.write(&path.join(file), Storage::Inline, |_, _, _| Ok(()));
        written.expect("the model can be written");
        write_json(path.join("tokenizer.json"), &tokenizer::byte_level());
        let template = "{% for message in messages %}{{ message.role }}:{{ message.content }}</s>{% endfor %}\
                        {% if add_generation_prompt %}a:{% endif %}";
        let tokenizer_config = json!({"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"});
        write_json(path.join("tokenizer_config.json"), &tokenizer_config);
        if self.genai {
            write_json(path.join("genai_config.json"), &self.genai_config(file));
        } else {
            let config = json!({
                "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": self.layers,
                "num_attention_heads": 1, "head_dim": WIDTH, "vocab_size": tokenizer::VOCABULARY,
                "max_position_embeddings": self.context_tokens, "eos_token_id": 2, "bos_token_id": 1
            });
            write_json(path.join("config.json"), &config);
        }
        path.to_owned()
    }

    fn genai_config(self, file: &str) -> serde_json::Value {
        json!({
            "model": {
                "type": "llama", "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
                "vocab_size": tokenizer::VOCABULARY, "context_length": self.context_tokens,
                "decoder": {
                    "session_options": {"log_id": "genai", "provider_options": []}, "filename": file,
                    "head_size": WIDTH, "hidden_size": WIDTH, "num_attention_heads": 1, "num_key_value_heads": 1,
                    "num_hidden_layers": self.layers,
                    "inputs": {
                        "input_ids": "input_ids", "attention_mask": "attention_mask", "position_ids": "position_ids",
                        "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"
                    },
                    "outputs": {
                        "logits": "logits", "present_key_names": "present.%d.key",
                        "present_value_names": "present.%d.value"
                    }
                }
            },
            "search": {"do_sample": false, "max_length": 512, "past_present_share_buffer": self.in_place}
        })
    }

    fn graph(self) -> Graph {
        let mut graph = Graph::new("chat");
        let tokens = ["batch".into(), "sequence".into()];
        let ids = graph.input("input_ids", DataType::Int64, &tokens);
        let mask = graph.input("attention_mask", DataType::Int64, &["batch".into(), "total".into()]);
        if self.merged {
            graph.input("use_cache_branch", DataType::Bool, &[1.into()]);
        }
        let places = if self.in_place {
            places(&mut graph, &ids, &mask)
        } else {
            graph.input("position_ids", DataType::Int64, &tokens)
        };
        let key = digits(&mut graph, "key", &places);
        let back = graph.constant("back", &[1], &[1 - PERIOD]);
        let none = graph.constant("none", &[1], &[0_i64]);
        let looked_at = graph.node("Add", "looked_at_or_before", &[&places, &back], []);
        let looked_at = graph.node("Max", "looked_at", &[&looked_at, &none], []);
        let query = digits(&mut graph, "query", &looked_at);
        let value = one_hot(&mut graph, "value", &ids);
        let [query, key, value] = [query, key, value].map(|wide| self.as_kept(&mut graph, &wide));

        let layers: Vec<Value> = (0..self.layers)
            .map(|layer| {
                let names = [format!("{layer}.key"), format!("{layer}.value")];
                let past = names.clone().map(|name| self.past(&mut graph, &name));
                let given = Given { query: &query, key: &key, value: &value, mask: &mask, past: &past };
                let made = if self.in_place {
                    grouped(&mut graph, layer, &given)
                } else {
                    self.by_hand(&mut graph, layer, &given)
                };
                let [found, present_key, present_value] = made;
                for present in [present_key, present_value] {
                    graph.output(
                        &present,
                        self.number(),
                        &["batch".into(), 1.into(), "total".into(), WIDTH.into()],
                    );
                }
                found
            })
            .collect();
        self.scores(&mut graph, &layers);
        graph
    }

    fn number(self) -> DataType {
        if self.half { DataType::Float16 } else { DataType::Float }
    }

    fn past(self, graph: &mut Graph, name: &str) -> Value {
        let dims = ["batch".into(), 1.into(), "past".into(), WIDTH.into()];
        graph.input(&format!("past_key_values.{name}"), self.number(), &dims)
    }

    /// In the type of the cache.
    fn as_kept(self, graph: &mut Graph, value: &Value) -> Value {
        let name = format!("{}_kept", value.name());
        graph.node("Cast", &name, &[value], [Attribute::new("to", self.number())])
    }

    /// Attention of standard operators. Every query finds one key alone, so nothing needs to be masked.
    fn by_hand(self, graph: &mut Graph, layer: usize, given: &Given<'_>) -> [Value; 3] {
        let heads = graph.constant(&format!("heads.{layer}"), &[1], &[1_i64]);
        let mut present = |name: &str, past: &Value, new: &Value| {
            let new = graph.node("Unsqueeze", &format!("new.{layer}.{name}"), &[new, &heads], []);
            graph.node(
                "Concat",
                &format!("present.{layer}.{name}"),
                &[past, &new],
                [Attribute::new("axis", 2)],
            )
        };
        let key = present("key", &given.past[0], given.key);
        let value = present("value", &given.past[1], given.value);
        let mut wide = |name: &str, value: &Value| {
            graph.node("Cast", &format!("{name}.{layer}"), &[value], [Attribute::new("to", DataType::Float)])
        };
        let (wide_key, wide_value, query) =
            (wide("keys", &key), wide("values", &value), wide("queries", given.query));
        let turned = graph.node(
            "Transpose",
            &format!("turned.{layer}"),
            &[&wide_key],
            [Attribute::new("perm", vec![0, 1, 3, 2])],
        );
        let query = graph.node("Unsqueeze", &format!("asked.{layer}"), &[&query, &heads], []);
        let match_ = graph.node("MatMul", &format!("match.{layer}"), &[&query, &turned], []);
        let sharp = graph.constant(&format!("sharp.{layer}"), &[1], &[100.0_f32]);
        let sharpened = graph.node("Mul", &format!("sharpened.{layer}"), &[&match_, &sharp], []);
        let chosen =
            graph.node("Softmax", &format!("chosen.{layer}"), &[&sharpened], [Attribute::new("axis", -1)]);
        let found = graph.node("MatMul", &format!("found_4d.{layer}"), &[&chosen, &wide_value], []);
        [graph.node("Squeeze", &format!("found.{layer}"), &[&found, &heads], []), key, value]
    }

    fn scores(self, graph: &mut Graph, layers: &[Value]) {
        let number = |name: &str, graph: &mut Graph, value: i64| graph.constant(name, &[1], &[value]);
        let all: Vec<&Value> = layers.iter().collect();
        let mut sum = graph.node("Sum", "sum", &all, []);
        if !self.all_scores {
            let (last, end) = (number("last", graph, -1), number("end", graph, i64::MAX));
            let axis = number("token_axis", graph, 1);
            sum = graph.node("Slice", "of_last", &[&sum, &last, &end, &axis], []);
        }
        let (first, width) =
            (number("first", graph, 0), number("width", graph, tokenizer::VOCABULARY as i64));
        let axis = number("score_axis", graph, 2);
        let scores = graph.node("Slice", "of_tokens", &[&sum, &first, &width, &axis], []);
        let logits = graph.node("Cast", "logits", &[&scores], [Attribute::new("to", self.number())]);
        let rows = if self.all_scores { "sequence".into() } else { 1.into() };
        graph.output(&logits, self.number(), &["batch".into(), rows, (tokenizer::VOCABULARY as i64).into()]);
    }
}

/// What attention is made of.
struct Given<'a> {
    query: &'a Value,
    key: &'a Value,
    value: &'a Value,
    mask: &'a Value,
    past: &'a [Value; 2],
}

/// The places of the tokens that are read: the last of those that the mask counts.
fn places(graph: &mut Graph, ids: &Value, mask: &Value) -> Value {
    let axis = graph.constant("mask_axis", &[1], &[1_i64]);
    let bounds = || [Attribute::new("start", 1), Attribute::new("end", 2)];
    let total = graph.node("Shape", "total", &[mask], bounds());
    let read = graph.node("Shape", "read", &[ids], bounds());
    let past = graph.node("Sub", "past", &[&total, &read], []);
    let counted = graph.node("CumSum", "counted", &[mask, &axis], [Attribute::new("exclusive", 1)]);
    graph.node("Slice", "places", &[&counted, &past, &total, &axis], [])
}

fn one_hot(graph: &mut Graph, name: &str, indices: &Value) -> Value {
    let depth = graph.constant(&format!("{name}_depth"), &[], &[WIDTH]);
    let off_on = graph.constant(&format!("{name}_off_on"), &[2], &[0.0_f32, 1.0]);
    graph.node("OneHot", name, &[indices, &depth, &off_on], [Attribute::new("axis", -1)])
}

/// A place as two digits, each a 1 in a place of its own: the product of two is 2 for the same place and at most 1 else.
fn digits(graph: &mut Graph, name: &str, places: &Value) -> Value {
    let base = graph.constant(&format!("{name}_base"), &[1], &[DIGIT]);
    let low = graph.node("Mod", &format!("{name}_low"), &[places, &base], []);
    let high = graph.node("Div", &format!("{name}_high"), &[places, &base], []);
    let high = graph.node("Add", &format!("{name}_high_after_low"), &[&high, &base], []);
    let low = one_hot(graph, &format!("{name}_low_1"), &low);
    let high = one_hot(graph, &format!("{name}_high_1"), &high);
    graph.node("Add", name, &[&low, &high], [])
}

/// GroupQueryAttention of one head.
fn grouped(graph: &mut Graph, layer: usize, given: &Given<'_>) -> [Value; 3] {
    let name = |what: &str| format!("{what}.{layer}");
    let to_int32 = || [Attribute::new("to", DataType::Int32)];
    let axis = graph.constant(&name("axis"), &[1], &[1_i64]);
    let one = graph.constant(&name("one"), &[1], &[1_i64]);
    let there =
        graph.node("ReduceSum", &name("there"), &[given.mask, &axis], [Attribute::new("keepdims", 0)]);
    let before = graph.node("Sub", &name("before"), &[&there, &one], []);
    let lengths = graph.node("Cast", &name("lengths"), &[&before], to_int32());
    let shape = graph.node("Shape", &name("shape"), &[given.mask], []);
    let index = graph.constant(&name("index"), &[], &[1_i64]);
    let total = graph.node("Gather", &name("total_wide"), &[&shape, &index], []);
    let total = graph.node("Cast", &name("total"), &[&total], to_int32());
    let inputs = [given.query, given.key, given.value, &given.past[0], &given.past[1], &lengths, &total];
    let attributes =
        [Attribute::new("num_heads", 1), Attribute::new("kv_num_heads", 1), Attribute::new("scale", 100.0)];
    let (found, key, value) =
        (name("found"), format!("present.{layer}.key"), format!("present.{layer}.value"));
    let [found, key, value] =
        graph.node_of("com.microsoft", "GroupQueryAttention", [&found, &key, &value], &inputs, attributes);
    let wide = graph.node("Cast", &name("found_wide"), &[&found], [Attribute::new("to", DataType::Float)]);
    [wide, key, value]
}
