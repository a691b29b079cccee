//! Matrices: multiplied with, or looked up in.

use super::{
    Builder, CONTRIB, Part,
    weights::{Content, Form, Rows, Source, check},
};
use crate::{
    Error,
    gguf::{BLOCK_VALUES, TensorType},
    onnx::{Attribute, DataType, Value},
};

/// Products of 8-bit numbers: the level whose kernels are fast on a CPU.
const ACCURACY_LEVEL: i64 = 4;

const EMBEDDINGS: &str = "token_embd.weight";

impl Builder<'_> {
    /// `x · Wᵀ + bias`, the rows of all parts as one matrix if their types allow it.
    pub(super) fn linear(
        &mut self,
        name: &str,
        x: &Value,
        inputs: usize,
        parts: &[Part],
    ) -> Result<Value, Error> {
        let mut forms = Vec::new();
        for part in parts {
            forms.push(self.form(&format!("{}.weight", part.tensor), &[part.outputs, inputs])?);
        }
        let joined = forms.iter().copied().map(Some).reduce(|all, form| all?.joined(form?)).flatten();
        if let Some(form) = joined {
            return self.product(name, x, inputs, parts, form);
        }
        let mut products = Vec::new();
        for (part, form) in parts.iter().zip(forms) {
            let part = std::slice::from_ref(part);
            products.push(self.product(&format!("{name}.{}", products.len()), x, inputs, part, form)?);
        }
        let products: Vec<&Value> = products.iter().collect();
        Ok(self.graph.node("Concat", name, &products, [Attribute::new("axis", -1)]))
    }

    /// The rows of the tokens, from the table as the file has it, or as 8-bit blocks.
    pub(super) fn embeddings(&mut self, input_ids: &Value) -> Result<Value, Error> {
        let shape = [self.config.vocabulary_size, self.config.hidden_size];
        let [vocabulary, width] = shape;
        let data_type = self.used(EMBEDDINGS, &shape)?;
        let rows = || vec![Rows { tensor: EMBEDDINGS.to_owned(), paired: None }];
        if data_type.is_float() {
            let table = self.weight("embeddings", DataType::Float, &shape, Content::Floats, rows());
            return Ok(self.graph.node("Gather", "embedded.rows", &[&table, input_ids], []));
        }
        if !matches!(data_type, TensorType::Q8_0 | TensorType::Q5_0 | TensorType::Q4_0) {
            self.requantised.insert(EMBEDDINGS.to_owned());
        }
        let blocks = width / BLOCK_VALUES;
        let (codes, scales) =
            (Content::Bytes { without_offset: true }, Content::Scales { without_offset: true });
        let dims = [vocabulary, blocks, BLOCK_VALUES];
        let codes = self.weight("embeddings.codes", DataType::Uint8, &dims, codes, rows());
        let scales = self.weight("embeddings.scales", DataType::Float, &[vocabulary, blocks], scales, rows());

        let graph = &mut self.graph;
        let middle = graph.constant("embeddings.middle", &[], &[128f32]);
        let axis = graph.constant("embeddings.axis", &[1], &[-1i64]);
        let codes = graph.node("Gather", "embedded.codes", &[&codes, input_ids], []);
        let codes = graph.node("Cast", "embedded.floats", &[&codes], [Attribute::new("to", DataType::Float)]);
        let codes = graph.node("Sub", "embedded.centred", &[&codes, &middle], []);
        let scales = graph.node("Gather", "embedded.scales", &[&scales, input_ids], []);
        let scales = graph.node("Unsqueeze", "embedded.block_scales", &[&scales, &axis], []);
        Ok(graph.node("Mul", "embedded.blocks", &[&codes, &scales], []))
    }

    /// A score for each token, from the output matrix or the table of embeddings.
    pub(super) fn logits(&mut self, last: &Value) -> Result<Value, Error> {
        let [vocabulary, width] = [self.config.vocabulary_size, self.config.hidden_size];
        if !self.config.tied {
            let part = Part { tensor: "output".to_owned(), outputs: vocabulary, paired: None };
            return self.linear("scores", last, width, &[part]);
        }
        if self.gguf.tensor(EMBEDDINGS)?.data_type.is_float() {
            let table = Value::named("embeddings");
            let turned = [Attribute::new("transB", 1)];
            return Ok(self.graph.node("Gemm", "scores", &[last, &table], turned));
        }
        let (codes, scales) = (Value::named("embeddings.codes"), Value::named("embeddings.scales"));
        Ok(self.blocks_product("scores", [last, &codes, &scales], [vocabulary, width], 8))
    }

    /// The type of a tensor of the right shape, which is then no longer left over.
    pub(super) fn used(&mut self, tensor: &str, shape: &[usize]) -> Result<TensorType, Error> {
        let data_type = check(self.gguf, tensor, shape)?;
        self.used.insert(tensor.to_owned());
        Ok(data_type)
    }

    /// A weight made of tensors.
    pub(super) fn weight(
        &mut self,
        name: &str,
        data_type: DataType,
        dims: &[usize],
        content: Content,
        rows: Vec<Rows>,
    ) -> Value {
        self.sources.push(Source::Tensors(content, rows));
        let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        self.graph.weight(name, data_type, &dims)
    }

    fn form(&mut self, tensor: &str, shape: &[usize]) -> Result<Form, Error> {
        let data_type = self.used(tensor, shape)?;
        if data_type == TensorType::Q6_K {
            self.requantised.insert(tensor.to_owned());
        }
        // What is not converted was refused just before.
        Ok(Form::of(data_type).unwrap_or(Form::Floats))
    }

    fn product(
        &mut self,
        name: &str,
        x: &Value,
        inputs: usize,
        parts: &[Part],
        form: Form,
    ) -> Result<Value, Error> {
        let outputs = parts.iter().map(|part| part.outputs).sum();
        let rows = |ending: &str| -> Vec<Rows> {
            let of = |part: &Part| Rows { tensor: format!("{}.{ending}", part.tensor), paired: part.paired };
            parts.iter().map(of).collect()
        };
        let bias = self.bias(name, parts, outputs, rows("bias"))?;
        let Form::Blocks { bits, offset } = form else {
            let dims = [outputs, inputs];
            let matrix = self.weight(
                &format!("{name}.weight"),
                DataType::Float,
                &dims,
                Content::Floats,
                rows("weight"),
            );
            let given: Vec<&Value> = [x, &matrix].into_iter().chain(&bias).collect();
            return Ok(self.graph.node("Gemm", name, &given, [Attribute::new("transB", 1)]));
        };

        let blocks = inputs / BLOCK_VALUES;
        let (content, bytes) = match bits {
            4 => (Content::Nibbles, BLOCK_VALUES / 2),
            _ => (Content::Bytes { without_offset: false }, BLOCK_VALUES),
        };
        let dims = [outputs, blocks, bytes];
        let codes = self.weight(&format!("{name}.codes"), DataType::Uint8, &dims, content, rows("weight"));
        let scales = Content::Scales { without_offset: false };
        let scales = self.weight(
            &format!("{name}.scales"),
            DataType::Float,
            &[outputs, blocks],
            scales,
            rows("weight"),
        );
        let last = |step: bool, ending: &str| if step { format!("{name}.{ending}") } else { name.to_owned() };
        let by_scale = last(offset || bias.is_some(), "by_scale");
        let mut product = self.blocks_product(&by_scale, [x, &codes, &scales], [outputs, inputs], bits);
        if offset {
            let sums = self.block_sums(x, blocks);
            let dims = [outputs, blocks];
            let offsets = self.weight(
                &format!("{name}.offsets"),
                DataType::Float,
                &dims,
                Content::Offsets,
                rows("weight"),
            );
            let turned = [Attribute::new("transB", 1)];
            product = self.graph.node(
                "Gemm",
                &last(bias.is_some(), "by_block"),
                &[&sums, &offsets, &product],
                turned,
            );
        }
        Ok(match bias {
            Some(bias) => self.graph.node("Add", name, &[&product, &bias], []),
            None => product,
        })
    }

    fn bias(
        &mut self,
        name: &str,
        parts: &[Part],
        outputs: usize,
        rows: Vec<Rows>,
    ) -> Result<Option<Value>, Error> {
        let there = rows.iter().filter(|rows| self.gguf.has_tensor(&rows.tensor)).count();
        if there == 0 {
            return Ok(None);
        }
        for (part, rows) in parts.iter().zip(&rows) {
            self.used(&rows.tensor, &[part.outputs])?;
        }
        Ok(Some(self.weight(&format!("{name}.bias"), DataType::Float, &[outputs], Content::Floats, rows)))
    }

    fn blocks_product(
        &mut self,
        name: &str,
        inputs: [&Value; 3],
        [outputs, width]: [usize; 2],
        bits: u8,
    ) -> Value {
        let attributes = [
            Attribute::new("K", width as i64),
            Attribute::new("N", outputs as i64),
            Attribute::new("bits", i64::from(bits)),
            Attribute::new("block_size", BLOCK_VALUES as i64),
            Attribute::new("accuracy_level", ACCURACY_LEVEL),
        ];
        let [product] = self.graph.node_of(CONTRIB, "MatMulNBits", [name], &inputs, attributes);
        product
    }

    /// The sums of the blocks of `x`, once for all matrices that it is multiplied with.
    fn block_sums(&mut self, x: &Value, blocks: usize) -> Value {
        let name = format!("{}.block_sums", x.name());
        if !self.summed.insert(name.clone()) {
            return Value::named(&name);
        }
        let (shape, axis) = (format!("blocks.{blocks}"), "blocks.axis");
        if self.summed.insert(shape.clone()) {
            self.graph.constant(&shape, &[3], &[-1, blocks as i64, BLOCK_VALUES as i64]);
        }
        if self.summed.insert(axis.to_owned()) {
            self.graph.constant(axis, &[1], &[-1i64]);
        }
        let reshaped = format!("{}.blocks", x.name());
        let in_blocks = self.graph.node("Reshape", &reshaped, &[x, &Value::named(&shape)], []);
        let keep = [Attribute::new("keepdims", 0)];
        self.graph.node("ReduceSum", &name, &[&in_blocks, &Value::named(axis)], keep)
    }
}
