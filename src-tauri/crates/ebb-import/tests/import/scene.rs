use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use ebb_import::{
    Error, Options, Progress, import,
    onnx::{GraphProto, ModelProto},
};
use prost::Message;
use safetensors::{Dtype, serialize_to_file, tensor::TensorView};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const HIDDEN: usize = 8;
pub(crate) const WIDE: usize = 12;
pub(crate) const TOKENS: usize = 10;
pub(crate) const PLACES: usize = 6;

/// For whom progress is of no interest.
pub(crate) fn unheard(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A source folder under construction, and a destination beside it.
pub(crate) struct Scene {
    pub(crate) folder: TempDir,
    pub(crate) config: Value,
    pub(crate) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    pub(crate) data_type: Dtype,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let config = json!({
            "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN,
            "intermediate_size": WIDE, "layer_norm_eps": 1e-12, "max_position_embeddings": PLACES,
            "num_attention_heads": 2, "num_hidden_layers": 2, "position_embedding_type": "absolute",
            "type_vocab_size": 2, "vocab_size": TOKENS
        });
        let folder = tempfile::tempdir().unwrap();
        Self { folder, config, tensors: tensors(), data_type: Dtype::F32 }
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    pub(crate) fn destination(&self) -> PathBuf {
        self.folder.path().join("models/mein Modell ü")
    }

    pub(crate) fn write(&self) -> &Self {
        self.write_to(&self.source());
        self
    }

    pub(crate) fn write_to(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("config.json"), self.config.to_string()).unwrap();
        fs::write(folder.join("tokenizer.json"), r#"{"model": {}}"#).unwrap();
        let data: Vec<(&String, &Vec<usize>, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, (shape, values))| (name, shape, encode(values, self.data_type)))
            .collect();
        let views = data.iter().map(|(name, shape, bytes)| {
            (name, TensorView::new(self.data_type, shape.to_vec(), bytes).unwrap())
        });
        serialize_to_file(views, None, &folder.join("model.safetensors")).unwrap();
    }

    pub(crate) fn import(&self) -> Result<ebb_import::Imported, Error> {
        import(&self.source(), &self.destination(), Options::default(), &mut unheard)
    }

    pub(crate) fn graph(&self) -> GraphProto {
        let bytes = fs::read(self.destination().join("model.onnx")).unwrap();
        ModelProto::decode(bytes.as_slice()).unwrap().graph.unwrap()
    }

    /// Imports, expects to be refused, and checks that nothing was left.
    pub(crate) fn refused(&self) -> Error {
        let error = self.import().expect_err("it should have been refused");
        let models = self.folder.path().join("models");
        let left = models.is_dir() && models.read_dir().unwrap().next().is_some();
        assert!(!left, "something was left after: {error}");
        error
    }
}

/// All values are different from their neighbours and exact in 16 bits.
fn tensors() -> BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    let mut tensors = BTreeMap::new();
    let mut add = |name: String, shape: &[usize]| {
        let values = (0..shape.iter().product()).map(|index: usize| (index % 120) as f32).collect();
        tensors.insert(name, (shape.to_vec(), values));
    };
    add("embeddings.word_embeddings.weight".into(), &[TOKENS, HIDDEN]);
    add("embeddings.position_embeddings.weight".into(), &[PLACES, HIDDEN]);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN]);
    let mut pairs = vec![("embeddings.LayerNorm".to_owned(), vec![HIDDEN])];
    for layer in 0..2 {
        let at = format!("encoder.layer.{layer}");
        for name in
            ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
        {
            pairs.push((format!("{at}.{name}"), vec![HIDDEN, HIDDEN]));
        }
        pairs.push((format!("{at}.intermediate.dense"), vec![WIDE, HIDDEN]));
        pairs.push((format!("{at}.output.dense"), vec![HIDDEN, WIDE]));
        pairs.push((format!("{at}.attention.output.LayerNorm"), vec![HIDDEN]));
        pairs.push((format!("{at}.output.LayerNorm"), vec![HIDDEN]));
    }
    for (name, shape) in pairs {
        add(format!("{name}.bias"), &shape[..1]);
        add(format!("{name}.weight"), &shape);
    }
    tensors
}

fn encode(values: &[f32], data_type: Dtype) -> Vec<u8> {
    let f16 =
        |value: f32| if value == 0.0 { 0 } else { (value.to_bits() >> 13).wrapping_sub(112 << 10) as u16 };
    match data_type {
        Dtype::BF16 => {
            values.iter().flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()).collect()
        }
        Dtype::F16 => values.iter().flat_map(|&value| f16(value).to_le_bytes()).collect(),
        Dtype::F64 => values.iter().flat_map(|&value| f64::from(value).to_le_bytes()).collect(),
        _ => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}
