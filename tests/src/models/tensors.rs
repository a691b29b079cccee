use std::path::{Path, PathBuf};

use ebb_import::onnx::{Attribute, DataType, Graph, Storage, Value};

use super::{folder, write_noise};

/// `X` [batch, width] → `Y` [batch, width] through `layers` square matrices: weights of 4 · width² · layers bytes (512 wide
/// and 4 layers: 4 MiB), activations of 4 · width bytes for each row of the batch. File `mlp.onnx`.
pub fn mlp(path: &Path, width: usize, layers: usize) -> PathBuf {
    folder(path);
    write_noise(path.join("mlp.onnx"), mlp_graph(width, layers), Storage::Inline)
}

/// The same with its weights in `mlp.onnx.data`.
pub fn mlp_external(path: &Path, width: usize, layers: usize) -> PathBuf {
    folder(path);
    write_noise(path.join("mlp.onnx"), mlp_graph(width, layers), Storage::External)
}

fn mlp_graph(width: usize, layers: usize) -> Graph {
    let mut graph = Graph::new("mlp");
    let width = width as i64;
    let mut x = graph.input("X", DataType::Float, &["batch".into(), width.into()]);
    for layer in 1..=layers {
        let matrix = graph.weight(&format!("W{layer}"), DataType::Float, &[width, width]);
        let product = graph.node("MatMul", &format!("product{layer}"), &[&x, &matrix], []);
        x = if layer == layers {
            graph.node("Tanh", "Y", &[&product], [])
        } else {
            graph.node("Relu", &format!("relu{layer}"), &[&product], [])
        };
    }
    graph.output(&x, DataType::Float, &["batch".into(), width.into()]);
    graph
}

/// C01: 2 MiB of weights whose activations take 32 KiB for each row of the batch, three of them at once. `X` [batch, 64] →
/// `Y` [batch, 1]; a batch of 4,096 rows takes 1 MiB in and 384 MiB in between. File `activations.onnx`.
pub fn activations(path: &Path) -> PathBuf {
    folder(path);
    let mut graph = Graph::new("activations");
    let x = graph.input("X", DataType::Float, &["batch".into(), 64.into()]);
    let matrix = graph.weight("W", DataType::Float, &[64, 8192]);
    let wide = graph.node("MatMul", "wide", &[&x, &matrix], []);
    let bent = graph.node("Tanh", "bent", &[&wide], []);
    // Takes both, so that neither can be given back before it.
    let mixed = graph.node("Mul", "mixed", &[&wide, &bent], []);
    let mean = graph.node(
        "ReduceMean",
        "Y",
        &[&mixed],
        [Attribute::new("axes", vec![1]), Attribute::new("keepdims", 1)],
    );
    graph.output(&mean, DataType::Float, &["batch".into(), 1.into()]);
    write_noise(path.join("activations.onnx"), graph, Storage::Inline)
}

/// Gives back what it gets, for each type that tensors can have: `float32` [rows, 2] → `float32_out` [rows, 2], and so on
/// for float16, bfloat16, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool. File `identity.onnx`.
pub fn identity(path: &Path) -> PathBuf {
    folder(path);
    let types = [
        ("float16", DataType::Float16),
        ("bfloat16", DataType::Bfloat16),
        ("float32", DataType::Float),
        ("float64", DataType::Double),
        ("int8", DataType::Int8),
        ("int16", DataType::Int16),
        ("int32", DataType::Int32),
        ("int64", DataType::Int64),
        ("uint8", DataType::Uint8),
        ("uint16", DataType::Uint16),
        ("uint32", DataType::Uint32),
        ("uint64", DataType::Uint64),
        ("bool", DataType::Bool),
    ];
    let mut graph = Graph::new("identity");
    for (name, data_type) in types {
        same(&mut graph, name, data_type);
    }
    write_noise(path.join("identity.onnx"), graph, Storage::Inline)
}

/// Takes and gives text (`text` → `text_out`): a type that Ebb does not pass. File `strings.onnx`.
pub fn strings(path: &Path) -> PathBuf {
    folder(path);
    let mut graph = Graph::new("strings");
    same(&mut graph, "text", DataType::String);
    write_noise(path.join("strings.onnx"), graph, Storage::Inline)
}

fn same(graph: &mut Graph, name: &str, data_type: DataType) -> Value {
    let dims = ["rows".into(), 2.into()];
    let x = graph.input(name, data_type, &dims);
    let y = graph.node("Identity", &format!("{name}_out"), &[&x], []);
    graph.output(&y, data_type, &dims);
    y
}
