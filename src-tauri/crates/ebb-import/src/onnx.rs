//! As much of the ONNX format as making a model takes: the messages, a builder, and a writer that streams weights.
//!
//! ```
//! use ebb_import::onnx::{Attribute, DataType, Graph, Model, Storage};
//!
//! let mut graph = Graph::new("softmax");
//! let x = graph.input("x", DataType::Float, &["batch".into(), 8.into()]);
//! let y = graph.node("Softmax", "y", &[&x], [Attribute::new("axis", -1)]);
//! graph.output(&y, DataType::Float, &["batch".into(), 8.into()]);
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("model.onnx");
//! Model::new(graph, 17).write(&path, Storage::Inline, |_, _, _| Ok(()))?;
//! assert!(path.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod graph;
mod proto;
mod verify;
mod write;

pub use graph::{Attribute, AttributeValue, Dim, Element, Graph, Model, Value, Weight};
pub use proto::{
    AttributeProto, AttributeType, DataLocation, DataType, Dimension, DimensionValue, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, TypeValue, ValueInfoProto,
};
pub(crate) use verify::verify;
pub use write::{INLINE_LIMIT_BYTES, Sink, Storage, Written};
