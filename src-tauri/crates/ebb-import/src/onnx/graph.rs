//! A small builder: values are handles, a node's output carries the node's name.

use super::proto::{
    AttributeProto, AttributeType, DataType, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    TypeValue, ValueInfoProto,
};

/// The format version written: what opset 17 came with, read by every ONNX Runtime since 1.14.
const IR_VERSION: i64 = 8;

/// A named value in a graph: an input, a constant or a node's output.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Value(String);

impl Value {
    /// Stands for an optional input that is left out.
    pub fn none() -> Self {
        Self(String::new())
    }

    /// The value of this name, which the graph has already.
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The name in the file.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// One dimension of an input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// A fixed size.
    Fixed(i64),
    /// An open size; equal names mean equal sizes.
    Named(String),
}

impl From<i64> for Dim {
    fn from(size: i64) -> Self {
        Self::Fixed(size)
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

/// A fixed parameter of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute(AttributeProto);

impl Attribute {
    /// An attribute with its value: `Attribute::new("axis", -1)`, `Attribute::new("perm", vec![0, 2, 1, 3])`.
    pub fn new(name: &str, value: impl Into<AttributeValue>) -> Self {
        let mut proto = AttributeProto { name: name.to_owned(), ..Default::default() };
        match value.into() {
            AttributeValue::Float(value) => {
                proto.f = Some(value);
                proto.set_type(AttributeType::Float);
            }
            AttributeValue::Int(value) => {
                proto.i = Some(value);
                proto.set_type(AttributeType::Int);
            }
            AttributeValue::Ints(values) => {
                proto.ints = values;
                proto.set_type(AttributeType::Ints);
            }
            AttributeValue::String(value) => {
                proto.s = Some(value.into_bytes());
                proto.set_type(AttributeType::String);
            }
        }
        Self(proto)
    }
}

/// What an [`Attribute`] can hold here.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    /// A float.
    Float(f32),
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(Vec<i64>),
    /// Text.
    String(String),
}

impl From<f32> for AttributeValue {
    fn from(value: f32) -> Self {
        Self::Float(value)
    }
}

impl From<i64> for AttributeValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<Vec<i64>> for AttributeValue {
    fn from(values: Vec<i64>) -> Self {
        Self::Ints(values)
    }
}

impl From<&str> for AttributeValue {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<DataType> for AttributeValue {
    fn from(value: DataType) -> Self {
        Self::Int(value as i64)
    }
}

/// A Rust type whose values can be written into a tensor.
pub trait Element: Copy {
    /// Its type in ONNX.
    const DATA_TYPE: DataType;

    /// Appends the little-endian bytes of `self`.
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! element {
    ($($type:ty => $data_type:ident),*) => {
        $(impl Element for $type {
            const DATA_TYPE: DataType = DataType::$data_type;

            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

element!(f32 => Float, f64 => Double, i8 => Int8, i32 => Int32, i64 => Int64, u8 => Uint8);

impl Element for bool {
    const DATA_TYPE: DataType = DataType::Bool;

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

/// A constant whose bytes are asked for only while the model is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weight {
    /// Name of the value.
    pub name: String,
    /// Element type.
    pub data_type: DataType,
    /// Shape.
    pub dims: Vec<i64>,
    /// Bytes that the elements take.
    pub size_bytes: u64,
}

/// A graph under construction. Nodes must be added after the values that they take.
#[derive(Debug, Clone)]
pub struct Graph {
    pub(super) proto: GraphProto,
    pub(super) weights: Vec<Weight>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: &str) -> Self {
        Self { proto: GraphProto { name: name.to_owned(), ..Default::default() }, weights: Vec::new() }
    }

    /// Declares what a run takes.
    pub fn input(&mut self, name: &str, data_type: DataType, dims: &[Dim]) -> Value {
        self.proto.input.push(value_info(name, data_type, dims));
        Value(name.to_owned())
    }

    /// Declares a value as what a run gives.
    pub fn output(&mut self, value: &Value, data_type: DataType, dims: &[Dim]) {
        self.proto.output.push(value_info(&value.0, data_type, dims));
    }

    /// Adds a constant that is held in memory until the model is written: shapes, axes, small tables.
    pub fn constant<T: Element>(&mut self, name: &str, dims: &[i64], elements: &[T]) -> Value {
        let mut raw_data = Vec::with_capacity(size_of_val(elements));
        for &element in elements {
            element.append_to(&mut raw_data);
        }
        self.proto.initializer.push(TensorProto {
            dims: dims.to_vec(),
            data_type: T::DATA_TYPE as i32,
            name: name.to_owned(),
            raw_data: Some(raw_data),
            ..Default::default()
        });
        Value(name.to_owned())
    }

    /// Adds a constant whose bytes [`Model::write`] asks for. `data_type` must have a fixed width.
    pub fn weight(&mut self, name: &str, data_type: DataType, dims: &[i64]) -> Value {
        let elements: u64 = dims.iter().map(|&dim| dim.unsigned_abs()).product();
        let size_bytes = elements * data_type.size_bytes().unwrap_or(0);
        self.weights.push(Weight { name: name.to_owned(), data_type, dims: dims.to_vec(), size_bytes });
        Value(name.to_owned())
    }

    /// Adds an operation of the standard set with one output, named as the node is.
    pub fn node(
        &mut self,
        op_type: &str,
        name: &str,
        inputs: &[&Value],
        attributes: impl IntoIterator<Item = Attribute>,
    ) -> Value {
        let [value] = self.node_of("", op_type, [name], inputs, attributes);
        value
    }

    /// Adds an operation of any set (`domain`; empty for the standard one) with outputs of these names. The node is named
    /// as the first.
    pub fn node_of<const N: usize>(
        &mut self,
        domain: &str,
        op_type: &str,
        names: [&str; N],
        inputs: &[&Value],
        attributes: impl IntoIterator<Item = Attribute>,
    ) -> [Value; N] {
        self.proto.node.push(NodeProto {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output: names.map(str::to_owned).to_vec(),
            name: names.first().copied().unwrap_or_default().to_owned(),
            op_type: op_type.to_owned(),
            attribute: attributes.into_iter().map(|attribute| attribute.0).collect(),
            domain: domain.to_owned(),
        });
        names.map(|name| Value(name.to_owned()))
    }

    /// The weights whose bytes are asked for, in the order of [`Graph::weight`] calls.
    pub fn weights(&self) -> &[Weight] {
        &self.weights
    }
}

/// A graph with the versions that make it a file. Its constants lie in memory, its weights do not.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) proto: ModelProto,
    pub(super) graph: Graph,
}

impl Model {
    /// A model of standard operators of version `opset`.
    pub fn new(graph: Graph, opset: i64) -> Self {
        let proto = ModelProto {
            ir_version: IR_VERSION,
            producer_name: env!("CARGO_PKG_NAME").to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: opset }],
            ..Default::default()
        };
        Self { proto, graph }
    }

    /// Takes operators of another set as well.
    #[must_use]
    pub fn with_operators(mut self, domain: &str, version: i64) -> Self {
        self.proto.opset_import.push(OperatorSetIdProto { domain: domain.to_owned(), version });
        self
    }

    /// Adds a note to the file: name, licence.
    #[must_use]
    pub fn with_note(mut self, key: &str, value: &str) -> Self {
        let entry = StringStringEntryProto { key: key.to_owned(), value: value.to_owned() };
        self.proto.metadata_props.push(entry);
        self
    }

    /// Bytes of all weights together.
    pub fn weights_bytes(&self) -> u64 {
        self.graph.weights.iter().map(|weight| weight.size_bytes).sum()
    }
}

fn value_info(name: &str, data_type: DataType, dims: &[Dim]) -> ValueInfoProto {
    let dim = dims
        .iter()
        .map(|dim| match dim {
            Dim::Fixed(size) => DimensionValue::DimValue(*size),
            Dim::Named(name) => DimensionValue::DimParam(name.clone()),
        })
        .map(|value| Dimension { value: Some(value) })
        .collect();
    let tensor = TensorTypeProto { elem_type: data_type as i32, shape: Some(TensorShapeProto { dim }) };
    let r#type = Some(TypeProto { value: Some(TypeValue::TensorType(tensor)) });
    ValueInfoProto { name: name.to_owned(), r#type }
}
