//! The BERT encoder as a graph of standard operators, in the very form that ONNX Runtime knows.
//!
//! Its CPU optimiser recognises attention only by the operators of opset 12, layer norm spelt out, axes as attributes
//! and -10000 for what is masked. Then (measured on 1.31 with hidden size 384) a batch of 32 × 256 tokens takes 300 MiB
//! of working memory; left unfused, as the same graph in opset 17 is, it takes 470 MiB and no less time. Bias and gelu
//! become one kernel too. One fusion is kept away on purpose: additions with the layer norm after them, which took 15 %
//! more time over the whole model and another 330 MiB. It needs to know that two shapes are equal, and slicing the
//! position table leaves the length of the sequence unnamed.

mod config;

pub(crate) use config::Config;

use crate::{
    Error,
    onnx::{Attribute, DataType, Dim, Graph, Sink, Value},
    weights::Weights,
};

/// The operator set; see above for why no later one.
pub(crate) const OPSET: i64 = 12;

/// Added to the scores of padding. What BERT was trained with; anything far below a score does.
const MASKED: f32 = -10_000.0;

/// Weights saved with a task's head carry the name of the encoder within it.
const PREFIXES: [&str; 2] = ["", "bert."];

/// Where the bytes of one weight come from.
struct Source {
    tensor: String,
    transposed: bool,
}

/// Where the bytes of a graph's weights come from, in the order of the weights.
pub(crate) struct Sources(Vec<Source>);

impl Sources {
    /// Writes the bytes of the weight with this index.
    pub(crate) fn fill(&self, index: usize, weights: &mut Weights, sink: &mut Sink) -> Result<(), Error> {
        let Source { tensor, transposed } = &self.0[index];
        if *transposed { weights.copy_transposed(tensor, sink) } else { weights.copy(tensor, sink) }
    }
}

/// Builds the graph. Every tensor that it needs is looked up and checked; none is read.
pub(crate) fn build(config: &Config, weights: &Weights) -> Result<(Graph, Sources), Error> {
    Builder::new(config, weights)?.build()
}

/// Values that every layer uses.
struct Shared {
    /// 0 where a token is, [`MASKED`] where padding is: `[batch, 1, 1, sequence]`.
    mask: Value,
    /// `[0, 0, heads, head size]`: splits the hidden values among the heads.
    split: Value,
    /// `[0, 0, hidden]`: joins them again.
    join: Value,
    /// Square root of the head size.
    scale: Value,
    /// What keeps a layer norm from dividing by 0.
    epsilon: Value,
    half: Value,
    one: Value,
    two: Value,
    sqrt_two: Value,
}

struct Builder<'a> {
    config: &'a Config,
    weights: &'a Weights,
    prefix: &'static str,
    graph: Graph,
    sources: Vec<Source>,
}

impl<'a> Builder<'a> {
    fn new(config: &'a Config, weights: &'a Weights) -> Result<Self, Error> {
        let probe = "embeddings.word_embeddings.weight";
        let prefix = PREFIXES.into_iter().find(|prefix| weights.contains(&format!("{prefix}{probe}")));
        let missing = || Error::MissingTensor { path: weights.path().to_owned(), name: probe.to_owned() };
        let prefix = prefix.ok_or_else(missing)?;
        Ok(Self { config, weights, prefix, graph: Graph::new("bert"), sources: Vec::new() })
    }

    fn build(mut self) -> Result<(Graph, Sources), Error> {
        let tokens: [Dim; 2] = ["batch".into(), "sequence".into()];
        let input_ids = self.graph.input("input_ids", DataType::Int64, &tokens);
        let attention_mask = self.graph.input("attention_mask", DataType::Int64, &tokens);
        let token_type_ids = self.graph.input("token_type_ids", DataType::Int64, &tokens);

        let shared = self.shared(&attention_mask);
        let mut hidden = self.embeddings(&input_ids, &token_type_ids, &shared)?;
        let last = self.config.num_hidden_layers - 1;
        for index in 0..=last {
            let output =
                if index == last { "last_hidden_state".to_owned() } else { format!("layer.{index}") };
            hidden = self.layer(index, &hidden, &shared, &output)?;
        }
        let [batch, sequence] = tokens;
        let width = Dim::Fixed(self.config.hidden_size as i64);
        self.graph.output(&hidden, DataType::Float, &[batch, sequence, width]);
        Ok((self.graph, Sources(self.sources)))
    }

    fn shared(&mut self, attention_mask: &Value) -> Shared {
        let (heads, size) = (self.config.num_attention_heads as i64, self.config.head_size());
        let hidden = self.config.hidden_size as i64;
        let graph = &mut self.graph;

        let masked = graph.constant("mask.value", &[], &[MASKED]);
        let one = graph.constant("one", &[], &[1f32]);
        let axis = |axis: i64| [Attribute::new("axes", vec![axis])];
        let mask = graph.node("Unsqueeze", "mask.3d", &[attention_mask], axis(1));
        let mask = graph.node("Unsqueeze", "mask.4d", &[&mask], axis(2));
        let mask = graph.node("Cast", "mask.float", &[&mask], [Attribute::new("to", DataType::Float)]);
        let padding = graph.node("Sub", "mask.padding", &[&one, &mask], []);
        Shared {
            mask: graph.node("Mul", "mask", &[&padding, &masked], []),
            split: graph.constant("split", &[4], &[0, 0, heads, size as i64]),
            join: graph.constant("join", &[3], &[0, 0, hidden]),
            scale: graph.constant("scale", &[], &[(size as f32).sqrt()]),
            epsilon: graph.constant("epsilon", &[], &[self.config.layer_norm_eps]),
            half: graph.constant("half", &[], &[0.5f32]),
            one,
            two: graph.constant("two", &[], &[2f32]),
            sqrt_two: graph.constant("sqrt_two", &[], &[std::f32::consts::SQRT_2]),
        }
    }

    fn embeddings(
        &mut self,
        input_ids: &Value,
        token_type_ids: &Value,
        shared: &Shared,
    ) -> Result<Value, Error> {
        let config = self.config;
        let hidden = config.hidden_size;
        let words = self.weight("embeddings.word_embeddings.weight", &[config.vocab_size, hidden])?;
        let kinds =
            self.weight("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?;
        let places =
            self.weight("embeddings.position_embeddings.weight", &[config.max_position_embeddings, hidden])?;

        let graph = &mut self.graph;
        let [zero, one, two] = [0, 1, 2].map(|n: i64| graph.constant(&format!("position.{n}"), &[1], &[n]));
        let shape = graph.node("Shape", "position.shape", &[input_ids], []);
        let length = graph.node("Slice", "position.length", &[&shape, &one, &two, &zero], []);
        let places = graph.node("Slice", "position", &[&places, &zero, &length, &zero], []);
        let words = graph.node("Gather", "word", &[&words, input_ids], []);
        let kinds = graph.node("Gather", "token_type", &[&kinds, token_type_ids], []);
        let sum = graph.node("Add", "word_and_type", &[&words, &kinds], []);
        let sum = graph.node("Add", "embedded", &[&sum, &places], []);
        self.layer_norm("embeddings.LayerNorm", &sum, "embeddings", shared)
    }

    fn layer(&mut self, index: usize, hidden: &Value, shared: &Shared, output: &str) -> Result<Value, Error> {
        let (width, wide) = (self.config.hidden_size, self.config.intermediate_size);
        let tensors = format!("encoder.layer.{index}");
        let named = |name: &str| format!("layer.{index}.{name}");

        let attended = self.attention(index, hidden, shared)?;
        let projected = self.dense(&format!("{tensors}.attention.output.dense"), &attended, width, width)?;
        let sum = self.graph.node("Add", &named("attention.sum"), &[&projected, hidden], []);
        let norm = format!("{tensors}.attention.output.LayerNorm");
        let attended = self.layer_norm(&norm, &sum, &named("attention"), shared)?;

        let inner = self.dense(&format!("{tensors}.intermediate.dense"), &attended, width, wide)?;
        let inner = self.gelu(&named("gelu"), &inner, shared);
        let outer = self.dense(&format!("{tensors}.output.dense"), &inner, wide, width)?;
        let sum = self.graph.node("Add", &named("sum"), &[&outer, &attended], []);
        self.layer_norm(&format!("{tensors}.output.LayerNorm"), &sum, output, shared)
    }

    fn attention(&mut self, index: usize, hidden: &Value, shared: &Shared) -> Result<Value, Error> {
        let named = |name: &str| format!("layer.{index}.attention.{name}");
        let query = self.heads(index, "query", hidden, shared, [0, 2, 1, 3])?;
        // Keys come transposed, ready for the product.
        let key = self.heads(index, "key", hidden, shared, [0, 2, 3, 1])?;
        let value = self.heads(index, "value", hidden, shared, [0, 2, 1, 3])?;

        let graph = &mut self.graph;
        let scores = graph.node("MatMul", &named("product"), &[&query, &key], []);
        let scores = graph.node("Div", &named("scaled"), &[&scores, &shared.scale], []);
        let scores = graph.node("Add", &named("masked"), &[&scores, &shared.mask], []);
        let shares = graph.node("Softmax", &named("shares"), &[&scores], [Attribute::new("axis", 3)]);
        let mixed = graph.node("MatMul", &named("mixed"), &[&shares, &value], []);
        let back = Attribute::new("perm", vec![0, 2, 1, 3]);
        let mixed = graph.node("Transpose", &named("by_token"), &[&mixed], [back]);
        Ok(graph.node("Reshape", &named("joined"), &[&mixed, &shared.join], []))
    }

    fn heads(
        &mut self,
        index: usize,
        role: &str,
        hidden: &Value,
        shared: &Shared,
        order: [i64; 4],
    ) -> Result<Value, Error> {
        let width = self.config.hidden_size;
        let tensor = format!("encoder.layer.{index}.attention.self.{role}");
        let all = self.dense(&tensor, hidden, width, width)?;
        let split = self.graph.node("Reshape", &format!("{tensor}.split"), &[&all, &shared.split], []);
        let order = Attribute::new("perm", order.to_vec());
        Ok(self.graph.node("Transpose", &format!("{tensor}.heads"), &[&split], [order]))
    }

    /// x · (1 + erf(x / √2)) / 2, written in the form that runtimes know as gelu.
    fn gelu(&mut self, name: &str, x: &Value, shared: &Shared) -> Value {
        let graph = &mut self.graph;
        let part = graph.node("Div", &format!("{name}.scaled"), &[x, &shared.sqrt_two], []);
        let part = graph.node("Erf", &format!("{name}.erf"), &[&part], []);
        let part = graph.node("Add", &format!("{name}.share"), &[&part, &shared.one], []);
        let part = graph.node("Mul", &format!("{name}.doubled"), &[x, &part], []);
        graph.node("Mul", name, &[&part, &shared.half], [])
    }

    fn dense(&mut self, name: &str, x: &Value, inputs: usize, outputs: usize) -> Result<Value, Error> {
        let matrix = self.transposed(&format!("{name}.weight"), [outputs, inputs])?;
        let bias = self.weight(&format!("{name}.bias"), &[outputs])?;
        let product = self.graph.node("MatMul", &format!("{name}.product"), &[x, &matrix], []);
        Ok(self.graph.node("Add", name, &[&product, &bias], []))
    }

    /// (x - mean) / √(variance + ε) · scale + bias, spelt out.
    fn layer_norm(&mut self, name: &str, x: &Value, output: &str, shared: &Shared) -> Result<Value, Error> {
        let width = self.config.hidden_size;
        let scale = self.weight(&format!("{name}.weight"), &[width])?;
        let bias = self.weight(&format!("{name}.bias"), &[width])?;
        let graph = &mut self.graph;
        let named = |part: &str| format!("{output}.norm.{part}");
        let over_width = || [Attribute::new("axes", vec![-1])];
        let mean = graph.node("ReduceMean", &named("mean"), &[x], over_width());
        let centred = graph.node("Sub", &named("centred"), &[x, &mean], []);
        let squared = graph.node("Pow", &named("squared"), &[&centred, &shared.two], []);
        let variance = graph.node("ReduceMean", &named("variance"), &[&squared], over_width());
        let variance = graph.node("Add", &named("above_zero"), &[&variance, &shared.epsilon], []);
        let spread = graph.node("Sqrt", &named("spread"), &[&variance], []);
        let unit = graph.node("Div", &named("unit"), &[&centred, &spread], []);
        let scaled = graph.node("Mul", &named("scaled"), &[&unit, &scale], []);
        Ok(graph.node("Add", output, &[&scaled, &bias], []))
    }

    /// A weight with the shape that it has in the file.
    fn weight(&mut self, name: &str, shape: &[usize]) -> Result<Value, Error> {
        let dims: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
        self.add_weight(name, shape, &dims, false)
    }

    /// A matrix kept as `[outputs, inputs]` in the file, turned once here rather than at every load.
    fn transposed(&mut self, name: &str, shape: [usize; 2]) -> Result<Value, Error> {
        let [outputs, inputs] = shape;
        self.add_weight(name, &shape, &[inputs as i64, outputs as i64], true)
    }

    fn add_weight(
        &mut self,
        name: &str,
        shape: &[usize],
        dims: &[i64],
        transposed: bool,
    ) -> Result<Value, Error> {
        let tensor = format!("{}{name}", self.prefix);
        self.weights.check(&tensor, shape)?;
        self.sources.push(Source { tensor, transposed });
        Ok(self.graph.weight(name, DataType::Float, dims))
    }
}
