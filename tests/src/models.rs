//! Tiny deterministic models, written where a test wants them.
//!
//! Every function takes a folder (made if it is missing) and gives the path of what a user would name: the model folder
//! of an embedder, the file of a bare model. They panic if the folder cannot be written: a test whose scene cannot be
//! set has failed.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let model = ebb_tests::models::mlp(folder.path(), 64, 2);
//! assert!(model.ends_with("mlp.onnx"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod bert;
mod broken;
mod chat;
mod embedder;
mod gguf;
mod noise;
mod tensors;
mod tokenizer;

use std::{
    fs,
    path::{Path, PathBuf},
};

use ebb_import::onnx::{Graph, Model, Sink, Storage, Weight};

pub use bert::{BertFolder, bert_folder};
pub use broken::{break_tokenizer, garbage_model, remove_external_data, remove_tokenizer, truncate_half};
pub use chat::{ChatModel, chat};
pub use embedder::{Embedder, embedder, embedder_pooled, embedder_with_limit};
pub use gguf::{GGUF_EOS, GGUF_HEAD_SIZE, GgufModel, GgufTensor, GgufType, gguf};
pub use noise::Noise;
pub use tensors::{activations, identity, mlp, mlp_external, strings};

/// The operator set of every model here.
const OPSET: i64 = 17;

fn folder(path: &Path) {
    fs::create_dir_all(path).expect("the model's folder can be made");
}

fn write_file(path: PathBuf, contents: impl AsRef<[u8]>) -> PathBuf {
    fs::write(&path, contents).expect("the model's folder can be written");
    path
}

fn write_json(path: PathBuf, value: &serde_json::Value) -> PathBuf {
    write_file(path, value.to_string())
}

/// Writes a model whose weights are noise of a spread that keeps activations near 1.
fn write_noise(path: PathBuf, graph: Graph, storage: Storage) -> PathBuf {
    let fill = |index: usize, weight: &Weight, sink: &mut Sink| {
        let fan_in = weight.dims.first().copied().unwrap_or(1).max(1) as f32;
        let mut noise = Noise::new(index as u64);
        let rows = weight.size_bytes / 4;
        let mut block = Vec::with_capacity(1 << 16);
        for row in 0..rows {
            block.extend_from_slice(&(noise.next_f32() * (3.0 / fan_in).sqrt()).to_le_bytes());
            if block.len() == 1 << 16 || row + 1 == rows {
                sink.write(&block)?;
                block.clear();
            }
        }
        Ok(())
    };
    Model::new(graph, OPSET).write(&path, storage, fill).expect("the model can be written");
    path
}
