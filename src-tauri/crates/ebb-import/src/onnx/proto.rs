//! The messages of `onnx.proto`, as far as a model without functions, sparse tensors and training needs them.
//!
//! Field numbers are the format's. Singular values that ONNX tells apart from "absent" are `Option`, so that an
//! attribute of 0 is written and not dropped. Unknown fields of a model that is read are skipped.

use prost::{Enumeration, Message, Oneof};

/// A whole model file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format itself, not of the operators.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// The program that made the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// That program's version.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// The computation.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Operator sets that the nodes are taken from.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Free notes.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// One operator set: a domain and its version.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct OperatorSetIdProto {
    /// Empty for the standard operators.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version of the set.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A key and its value.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct StringStringEntryProto {
    /// Key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Nodes in topological order with what goes in and comes out.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// Operations.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// A name for people.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants: weights, shapes, axes.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// What a run takes.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// What a run gives.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Known shapes of values in between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the values it takes; empty for an input left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the values it makes.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// A name for people and profilers.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Its fixed parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// The operator's domain; empty for standard ones.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A fixed parameter of a node.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A float.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// An integer.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A UTF-8 string.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    /// A tensor.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// A subgraph.
    #[prost(message, optional, tag = "6")]
    pub g: Option<GraphProto>,
    /// Floats.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Integers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// UTF-8 strings.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Which of the fields above holds.
    #[prost(enumeration = "AttributeType", tag = "20")]
    pub r#type: i32,
}

/// What an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AttributeType {
    /// Nothing.
    Undefined = 0,
    /// `f`.
    Float = 1,
    /// `i`.
    Int = 2,
    /// `s`.
    String = 3,
    /// `t`.
    Tensor = 4,
    /// `g`.
    Graph = 5,
    /// `floats`.
    Floats = 6,
    /// `ints`.
    Ints = 7,
    /// `strings`.
    Strings = 8,
}

/// A constant tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Shape; empty for a scalar.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Element type.
    #[prost(enumeration = "DataType", tag = "2")]
    pub data_type: i32,
    /// Elements as floats, where the writer chose this over `raw_data`.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of the types of up to 32 bits, likewise.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements as 64-bit integers, likewise.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name of the value.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements, little endian, row by row.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
    /// Where the elements lie if not in this file: `location`, `offset`, `length`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// Whether `external_data` holds.
    #[prost(enumeration = "DataLocation", tag = "14")]
    pub data_location: i32,
}

/// Where a tensor's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum DataLocation {
    /// In the model file.
    Default = 0,
    /// In a file beside it.
    External = 1,
}

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum DataType {
    /// None given.
    Undefined = 0,
    /// 32-bit float.
    Float = 1,
    /// 8-bit unsigned.
    Uint8 = 2,
    /// 8-bit signed.
    Int8 = 3,
    /// 16-bit unsigned.
    Uint16 = 4,
    /// 16-bit signed.
    Int16 = 5,
    /// 32-bit signed.
    Int32 = 6,
    /// 64-bit signed.
    Int64 = 7,
    /// UTF-8 text.
    String = 8,
    /// Truth value, one byte.
    Bool = 9,
    /// 16-bit IEEE float.
    Float16 = 10,
    /// 64-bit float.
    Double = 11,
    /// 32-bit unsigned.
    Uint32 = 12,
    /// 64-bit unsigned.
    Uint64 = 13,
    /// 16-bit brain float.
    Bfloat16 = 16,
}

impl DataType {
    /// Bytes that one element takes in a file; `None` for types without a fixed width.
    pub fn size_bytes(self) -> Option<u64> {
        match self {
            Self::Undefined | Self::String => None,
            Self::Uint8 | Self::Int8 | Self::Bool => Some(1),
            Self::Uint16 | Self::Int16 | Self::Float16 | Self::Bfloat16 => Some(2),
            Self::Float | Self::Int32 | Self::Uint32 => Some(4),
            Self::Int64 | Self::Uint64 | Self::Double => Some(8),
        }
    }
}

/// A value's name and type.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A value's type.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Only tensors are known here.
    #[prost(oneof = "TypeValue", tags = "1")]
    pub value: Option<TypeValue>,
}

/// The kinds of types.
#[derive(Clone, PartialEq, Oneof)]
pub enum TypeValue {
    /// A tensor.
    #[prost(message, tag = "1")]
    TensorType(TensorTypeProto),
}

/// A tensor's element type and shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// Element type.
    #[prost(enumeration = "DataType", tag = "1")]
    pub elem_type: i32,
    /// Shape, if the rank is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape whose dimensions may be open.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// Dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// One dimension.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Dimension {
    /// Open without a name if absent.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
}

/// A dimension's size or name.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum DimensionValue {
    /// A fixed size.
    #[prost(int64, tag = "1")]
    DimValue(i64),
    /// A named open size, such as `batch`.
    #[prost(string, tag = "2")]
    DimParam(String),
}
