//! Writing a model without holding its weights.
//!
//! A protobuf message is a length and then its fields in any order, and a repeated field may come in pieces. So the
//! graph's small part goes out as prost encodes it, and each weight follows as one more `initializer` field: a short
//! head, then the bytes straight from their source. Only the lengths must be known beforehand, and they are.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len},
};

use sha2::{Digest as _, Sha256};

use super::{
    graph::{Model, Weight},
    proto::{DataLocation, StringStringEntryProto, TensorProto},
};
use crate::Error;

/// Protobuf readers stop at 2 GiB; above this many bytes of weights they go into a file beside the model.
pub const INLINE_LIMIT_BYTES: u64 = 1_500_000_000;

/// External weights start at multiples of this, so that a runtime can map them page by page.
const EXTERNAL_ALIGNMENT_BYTES: u64 = 4096;

const MODEL_GRAPH: u32 = 7;
const GRAPH_INITIALIZER: u32 = 5;
const TENSOR_RAW_DATA: u32 = 9;

/// Where a model's weights go. Constants stay in the model file either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Into the model file.
    Inline,
    /// Into a second file beside it, named as the model with `.data` appended.
    External,
}

impl Storage {
    /// What suits weights of this size.
    pub fn for_weights(size_bytes: u64) -> Self {
        if size_bytes > INLINE_LIMIT_BYTES { Self::External } else { Self::Inline }
    }
}

/// Takes the bytes of the weights, one after the other.
pub struct Sink {
    file: BufWriter<File>,
    path: PathBuf,
    written_bytes: u64,
    /// Of the weight that is being written.
    digest: Sha256,
}

/// A model that was written, and what its weights were then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the model file and its data file.
    pub size_bytes: u64,
    /// Every weight with the SHA-256 of its bytes.
    pub weights: Vec<(Weight, [u8; 32])>,
}

impl Sink {
    fn create(path: PathBuf) -> Result<Self, Error> {
        let file = File::create(&path).map_err(|source| Error::io(&path, source))?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, file),
            path,
            written_bytes: 0,
            digest: Sha256::new(),
        })
    }

    /// Appends bytes. Fails as the file system does: full disk, no permission.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|source| Error::io(&self.path, source))?;
        self.written_bytes += bytes.len() as u64;
        self.digest.update(bytes);
        Ok(())
    }

    fn write_weight(
        &mut self,
        index: usize,
        weight: &Weight,
        fill: &mut impl FnMut(usize, &Weight, &mut Sink) -> Result<(), Error>,
    ) -> Result<[u8; 32], Error> {
        let start_bytes = self.written_bytes;
        self.digest = Sha256::new();
        fill(index, weight, self)?;
        let actual_bytes = self.written_bytes - start_bytes;
        if actual_bytes == weight.size_bytes {
            return Ok(self.digest.finalize_reset().into());
        }
        Err(Error::WeightLength {
            name: weight.name.clone(),
            expected_bytes: weight.size_bytes,
            actual_bytes,
        })
    }

    fn pad_to(&mut self, offset_bytes: u64) -> Result<(), Error> {
        let padding = [0; EXTERNAL_ALIGNMENT_BYTES as usize];
        self.write(&padding[..(offset_bytes - self.written_bytes) as usize])
    }

    /// Waits until the bytes are on the disk: a model that was renamed into place must be whole after a power cut.
    fn finish(mut self) -> Result<u64, Error> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(|source| Error::io(&self.path, source))?;
        Ok(self.written_bytes)
    }
}

impl Model {
    /// Writes the model to `path` (and `path` + `.data` for [`Storage::External`]), asking `fill` for the bytes of each
    /// weight in turn, little endian and exactly [`Weight::size_bytes`] of them. Gives the bytes written.
    ///
    /// Fails with what `fill` fails with, with the file system's errors, or if a weight got the wrong number of bytes.
    pub fn write(
        self,
        path: &Path,
        storage: Storage,
        fill: impl FnMut(usize, &Weight, &mut Sink) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        Ok(self.write_recorded(path, storage, fill)?.size_bytes)
    }

    /// Writes the model as [`Model::write`] does, and tells what was written.
    pub fn write_recorded(
        self,
        path: &Path,
        storage: Storage,
        fill: impl FnMut(usize, &Weight, &mut Sink) -> Result<(), Error>,
    ) -> Result<Written, Error> {
        match storage {
            Storage::Inline => self.write_inline(path, fill),
            Storage::External => self.write_external(path, fill),
        }
    }

    fn write_inline(
        self,
        path: &Path,
        mut fill: impl FnMut(usize, &Weight, &mut Sink) -> Result<(), Error>,
    ) -> Result<Written, Error> {
        let heads: Vec<Vec<u8>> = self.graph.weights.iter().map(inline_head).collect();
        let initializers_bytes: u64 = heads
            .iter()
            .zip(&self.graph.weights)
            .map(|(head, weight)| head.len() as u64 + weight.size_bytes)
            .map(|body_bytes| {
                (key_len(GRAPH_INITIALIZER) + encoded_len_varint(body_bytes)) as u64 + body_bytes
            })
            .sum();

        let mut sink = Sink::create(path.to_owned())?;
        sink.write(&self.proto.encode_to_vec())?;
        let graph = self.graph.proto.encode_to_vec();
        sink.write(&field(MODEL_GRAPH, graph.len() as u64 + initializers_bytes))?;
        sink.write(&graph)?;
        let mut weights = Vec::new();
        for (index, (head, weight)) in heads.iter().zip(self.graph.weights).enumerate() {
            sink.write(&field(GRAPH_INITIALIZER, head.len() as u64 + weight.size_bytes))?;
            sink.write(head)?;
            let digest = sink.write_weight(index, &weight, &mut fill)?;
            weights.push((weight, digest));
        }
        Ok(Written { size_bytes: sink.finish()?, weights })
    }

    fn write_external(
        mut self,
        path: &Path,
        mut fill: impl FnMut(usize, &Weight, &mut Sink) -> Result<(), Error>,
    ) -> Result<Written, Error> {
        let mut data_name = path.file_name().unwrap_or(OsStr::new("model.onnx")).to_owned();
        data_name.push(".data");
        let location = data_name.to_string_lossy().into_owned();

        let mut sink = Sink::create(path.with_file_name(data_name))?;
        let mut weights = Vec::new();
        for (index, weight) in self.graph.weights.into_iter().enumerate() {
            let offset_bytes = sink.written_bytes.next_multiple_of(EXTERNAL_ALIGNMENT_BYTES);
            sink.pad_to(offset_bytes)?;
            let digest = sink.write_weight(index, &weight, &mut fill)?;
            self.graph.proto.initializer.push(external_tensor(&weight, &location, offset_bytes));
            weights.push((weight, digest));
        }
        let data_bytes = sink.finish()?;

        self.proto.graph = Some(self.graph.proto);
        let mut sink = Sink::create(path.to_owned())?;
        sink.write(&self.proto.encode_to_vec())?;
        Ok(Written { size_bytes: data_bytes + sink.finish()?, weights })
    }
}

/// A tensor message up to and including the length of its raw data.
fn inline_head(weight: &Weight) -> Vec<u8> {
    let mut head = described(weight).encode_to_vec();
    head.extend(field(TENSOR_RAW_DATA, weight.size_bytes));
    head
}

fn external_tensor(weight: &Weight, location: &str, offset_bytes: u64) -> TensorProto {
    let entry = |key: &str, value: String| StringStringEntryProto { key: key.to_owned(), value };
    TensorProto {
        external_data: vec![
            entry("location", location.to_owned()),
            entry("offset", offset_bytes.to_string()),
            entry("length", weight.size_bytes.to_string()),
        ],
        data_location: DataLocation::External as i32,
        ..described(weight)
    }
}

fn described(weight: &Weight) -> TensorProto {
    TensorProto {
        dims: weight.dims.clone(),
        data_type: weight.data_type as i32,
        name: weight.name.clone(),
        ..Default::default()
    }
}

/// Key and length of a length-delimited field.
fn field(tag: u32, length_bytes: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    encode_key(tag, WireType::LengthDelimited, &mut bytes);
    encode_varint(length_bytes, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::{Attribute, DataType, Graph, ModelProto};

    /// y = softmax(x · W + b), the weights counting up from 0.
    fn model() -> Model {
        let mut graph = Graph::new("test");
        let x = graph.input("x", DataType::Float, &["batch".into(), 3.into()]);
        let matrix = graph.weight("W", DataType::Float, &[3, 2]);
        let bias = graph.weight("b", DataType::Float, &[2]);
        let one = graph.constant("one", &[], &[1i64]);
        let product = graph.node("MatMul", "product", &[&x, &matrix], []);
        let sum = graph.node("Add", "sum", &[&product, &bias], []);
        let y = graph.node("Softmax", "y", &[&sum], [Attribute::new("axis", 0)]);
        graph.node("Identity", "unused", &[&one], []);
        graph.output(&y, DataType::Float, &["batch".into(), 2.into()]);
        Model::new(graph, 17)
    }

    fn count_up(_: usize, weight: &Weight, sink: &mut Sink) -> Result<(), Error> {
        (0..weight.size_bytes / 4).try_for_each(|value| sink.write(&(value as f32).to_le_bytes()))
    }

    fn counted(values: u8) -> Vec<u8> {
        (0..values).flat_map(|value| f32::from(value).to_le_bytes()).collect()
    }

    #[test]
    fn an_inline_model_is_one_whole_protobuf_message() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        let written_bytes = model().write(&path, Storage::Inline, count_up).unwrap();

        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, written_bytes);
        let read = ModelProto::decode(bytes.as_slice()).unwrap();
        assert_eq!(read.opset_import[0].version, 17);
        let graph = read.graph.clone().unwrap();
        let names: Vec<&str> = graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
        assert_eq!(names, ["one", "W", "b"]);
        assert_eq!(graph.initializer[1].dims, [3, 2]);
        assert_eq!(graph.initializer[1].raw_data, Some(counted(6)));
        assert_eq!(graph.initializer[2].raw_data, Some(counted(2)));
        assert_eq!(graph.node[2].attribute[0].i, Some(0), "an attribute of 0 is written");
        // What was streamed is what prost itself makes of the same model: fields come back in their order.
        assert_eq!(ModelProto::decode(read.encode_to_vec().as_slice()).unwrap(), read);
        assert_eq!(read.encoded_len() as u64, written_bytes);
    }

    #[test]
    fn external_weights_lie_page_aligned_beside_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        let written_bytes = model().write(&path, Storage::External, count_up).unwrap();

        let data = std::fs::read(folder.path().join("model.onnx.data")).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes.len() + data.len()) as u64, written_bytes);
        let graph = ModelProto::decode(bytes.as_slice()).unwrap().graph.unwrap();
        let bias = &graph.initializer[2];
        assert_eq!(bias.data_location(), DataLocation::External);
        let entries: Vec<(&str, &str)> =
            bias.external_data.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())).collect();
        assert_eq!(entries, [("location", "model.onnx.data"), ("offset", "4096"), ("length", "8")]);
        assert_eq!(data[4096..], counted(2));
        assert_eq!(data[..24], counted(6));
    }

    #[test]
    fn weights_above_the_limit_of_protobuf_go_beside_the_model() {
        assert_eq!(Storage::for_weights(90_000_000), Storage::Inline);
        assert_eq!(Storage::for_weights(INLINE_LIMIT_BYTES + 1), Storage::External);
    }

    #[test]
    fn a_weight_of_the_wrong_length_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let result =
            model().write(&folder.path().join("m.onnx"), Storage::Inline, |_, _, sink| sink.write(&[0; 8]));
        let Err(Error::WeightLength { name, expected_bytes: 24, actual_bytes: 8 }) = result else {
            panic!("{result:?}");
        };
        assert_eq!(name, "W");
    }

    #[test]
    fn a_failing_source_of_weights_ends_the_writing() {
        let folder = tempfile::tempdir().unwrap();
        let fail = |_: usize, _: &Weight, _: &mut Sink| Err(Error::ImpossibleConfig("no".into()));
        let result = model().write(&folder.path().join("m.onnx"), Storage::Inline, fail);
        assert!(matches!(result, Err(Error::ImpossibleConfig(_))));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named() {
        let result = model().write(Path::new("/dev/full"), Storage::Inline, count_up);
        assert!(matches!(result, Err(Error::DiskFull { .. })), "{result:?}");
    }
}
