//! Reading a written model back, by the rules of the format alone: nothing of what the writer kept is used but what the
//! weights should be.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use prost::Message;
use sha2::{Digest as _, Sha256};

use super::{
    graph::Weight,
    proto::{DataLocation, GraphProto, TensorProto},
    write::Written,
};
use crate::Error;

const MODEL_GRAPH: u64 = 7;
const GRAPH_INITIALIZER: u64 = 5;
const TENSOR_RAW_DATA: u64 = 9;

/// A node, an input, a tensor's head: none is longer.
const SMALL_LIMIT_BYTES: u64 = 1 << 20;

/// A weight as the file describes it, and where its bytes lie.
struct Found {
    tensor: TensorProto,
    start_bytes: u64,
    size_bytes: u64,
}

/// Compares a model file with what was written into it: its graph holds together, and its weights are byte for byte what
/// they were. `compared` hears of each weight and may end it.
pub(crate) fn verify(
    path: &Path,
    written: &Written,
    mut compared: impl FnMut(&Weight) -> Result<(), Error>,
) -> Result<(), Error> {
    let differs = |reason: String| Error::NotAsWritten { path: path.to_owned(), reason };
    let (graph, found) = read(path).map_err(differs)?;
    check_graph(&graph, &found).map_err(differs)?;
    let mut by_name: BTreeMap<&str, &Found> = BTreeMap::new();
    for found in &found {
        by_name.insert(&found.tensor.name, found);
    }
    for (weight, digest) in &written.weights {
        let there = by_name.get(weight.name.as_str()).filter(|found| {
            let tensor = &found.tensor;
            tensor.dims == weight.dims
                && tensor.data_type == weight.data_type as i32
                && found.size_bytes == weight.size_bytes
        });
        let Some(found) = there else {
            return Err(differs(format!("weight {} is missing or of another shape", weight.name)));
        };
        let read = hash(path, found).map_err(|error| differs(format!("weight {}: {error}", weight.name)))?;
        if read != *digest {
            return Err(differs(format!("weight {} has other bytes", weight.name)));
        }
        compared(weight)?;
    }
    Ok(())
}

/// Every node takes what exists by then, every value has one maker, and every output is made.
fn check_graph(graph: &GraphProto, initializers: &[Found]) -> Result<(), String> {
    let mut made: BTreeSet<&str> = BTreeSet::from([""]);
    let given = graph.input.iter().map(|input| input.name.as_str());
    for name in given.chain(initializers.iter().map(|found| found.tensor.name.as_str())) {
        if !made.insert(name) {
            return Err(format!("the value {name} is there twice"));
        }
    }
    for node in &graph.node {
        if let Some(missing) = node.input.iter().find(|input| !made.contains(input.as_str())) {
            return Err(format!("node {} takes {missing} before it exists", node.name));
        }
        for output in &node.output {
            if !made.insert(output) {
                return Err(format!("the value {output} is made twice"));
            }
        }
    }
    match graph.output.iter().find(|output| !made.contains(output.name.as_str())) {
        Some(missing) => Err(format!("the output {} is made nowhere", missing.name)),
        None => Ok(()),
    }
}

fn hash(path: &Path, found: &Found) -> Result<[u8; 32], String> {
    let entry = |key: &str| found.tensor.external_data.iter().find(|entry| entry.key == key);
    let (mut file, start_bytes) = match found.tensor.data_location() {
        DataLocation::Default => (open(path)?, found.start_bytes),
        DataLocation::External => {
            let location = entry("location").ok_or("it has no place")?;
            let offset = entry("offset").and_then(|entry| entry.value.parse().ok());
            (open(&path.with_file_name(&location.value))?, offset.ok_or("it has no place")?)
        }
    };
    file.seek(SeekFrom::Start(start_bytes)).map_err(|error| error.to_string())?;
    let mut digest = Sha256::new();
    let mut block = vec![0; found.size_bytes.min(1 << 20) as usize];
    let mut left_bytes = found.size_bytes;
    while left_bytes > 0 {
        let part = &mut block[..left_bytes.min(1 << 20) as usize];
        file.read_exact(part).map_err(|error| error.to_string())?;
        digest.update(&*part);
        left_bytes -= part.len() as u64;
    }
    Ok(digest.finalize().into())
}

fn open(path: &Path) -> Result<File, String> {
    File::open(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The graph without its initializers, and those without their bytes.
fn read(path: &Path) -> Result<(GraphProto, Vec<Found>), String> {
    let mut fields = Fields::new(open(path)?).map_err(|error| error.to_string())?;
    let (mut graph, mut found) = (Vec::new(), Vec::new());
    let end = fields.end_bytes;
    while let Some(field) = fields.next(end)? {
        if field.tag != MODEL_GRAPH {
            fields.go_to(field.end_bytes)?;
            continue;
        }
        while let Some(part) = fields.next(field.end_bytes)? {
            if part.tag == GRAPH_INITIALIZER {
                found.push(read_tensor(&mut fields, part.end_bytes)?);
            } else {
                graph.extend(fields.whole(&part)?);
            }
        }
    }
    Ok((GraphProto::decode(graph.as_slice()).map_err(|error| error.to_string())?, found))
}

fn read_tensor(fields: &mut Fields, end_bytes: u64) -> Result<Found, String> {
    let (mut head, mut data) = (Vec::new(), (0, 0));
    while let Some(part) = fields.next(end_bytes)? {
        if part.tag == TENSOR_RAW_DATA {
            data = (fields.at_bytes, part.end_bytes - fields.at_bytes);
            fields.go_to(part.end_bytes)?;
        } else {
            head.extend(fields.whole(&part)?);
        }
    }
    let tensor = TensorProto::decode(head.as_slice()).map_err(|error| error.to_string())?;
    let length = tensor.external_data.iter().find(|entry| entry.key == "length");
    let size_bytes = length.and_then(|entry| entry.value.parse().ok()).unwrap_or(data.1);
    Ok(Found { tensor, start_bytes: data.0, size_bytes })
}

/// A field of a protobuf message: its key as it stands in the file, and where it ends.
struct Field {
    key: u64,
    tag: u64,
    end_bytes: u64,
}

/// Walks through the fields of a file without holding them.
struct Fields {
    file: BufReader<File>,
    at_bytes: u64,
    end_bytes: u64,
}

impl Fields {
    fn new(file: File) -> std::io::Result<Self> {
        let end_bytes = file.metadata()?.len();
        Ok(Self { file: BufReader::new(file), at_bytes: 0, end_bytes })
    }

    /// The next field of a message that ends at `end_bytes`; `None` at its end.
    fn next(&mut self, end_bytes: u64) -> Result<Option<Field>, String> {
        const VARINT: u64 = 0;
        const EIGHT_BYTES: u64 = 1;
        const LENGTH_DELIMITED: u64 = 2;
        const FOUR_BYTES: u64 = 5;
        if self.at_bytes == end_bytes {
            return Ok(None);
        }
        let key = self.varint()?;
        let end = match key & 7 {
            VARINT => {
                let at_bytes = self.at_bytes;
                self.varint()?;
                let end = self.at_bytes;
                self.go_to(at_bytes)?;
                Some(end)
            }
            EIGHT_BYTES => self.at_bytes.checked_add(8),
            FOUR_BYTES => self.at_bytes.checked_add(4),
            LENGTH_DELIMITED => {
                let length = self.varint()?;
                self.at_bytes.checked_add(length)
            }
            _ => None,
        };
        match end.filter(|end| *end <= end_bytes) {
            Some(end) => Ok(Some(Field { key, tag: key >> 3, end_bytes: end })),
            None => Err(format!("at byte {} it is no model", self.at_bytes)),
        }
    }

    /// A small field as a message of its own.
    fn whole(&mut self, field: &Field) -> Result<Vec<u8>, String> {
        let length = field.end_bytes - self.at_bytes;
        if length > SMALL_LIMIT_BYTES {
            return Err(format!("at byte {} are {length} bytes where few belong", self.at_bytes));
        }
        let mut bytes = Vec::new();
        prost::encoding::encode_varint(field.key, &mut bytes);
        if field.key & 7 == 2 {
            prost::encoding::encode_varint(length, &mut bytes);
        }
        let head = bytes.len();
        bytes.resize(head + length as usize, 0);
        self.file.read_exact(&mut bytes[head..]).map_err(|error| error.to_string())?;
        self.at_bytes = field.end_bytes;
        Ok(bytes)
    }

    fn go_to(&mut self, at_bytes: u64) -> Result<(), String> {
        let by = at_bytes as i64 - self.at_bytes as i64;
        self.file.seek_relative(by).map_err(|error| error.to_string())?;
        self.at_bytes = at_bytes;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte).map_err(|error| error.to_string())?;
            self.at_bytes += 1;
            value |= u64::from(byte[0] & 127) << shift;
            if byte[0] < 128 {
                return Ok(value);
            }
        }
        Err(format!("at byte {} is no number", self.at_bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::onnx::{Attribute, DataType, Graph, Model, Storage};

    fn graph() -> Graph {
        let mut graph = Graph::new("test");
        let x = graph.input("x", DataType::Float, &["batch".into(), 3.into()]);
        let matrix = graph.weight("W", DataType::Float, &[3, 2]);
        let one = graph.constant("one", &[], &[1f32]);
        let product = graph.node("MatMul", "product", &[&x, &matrix], []);
        let y = graph.node("Add", "y", &[&product, &one], [Attribute::new("note", -1)]);
        graph.output(&y, DataType::Float, &["batch".into(), 2.into()]);
        graph
    }

    fn write(graph: Graph, path: &Path, storage: Storage) -> Written {
        let count_up = |_: usize, weight: &Weight, sink: &mut crate::onnx::Sink| {
            (0..weight.size_bytes / 4).try_for_each(|value| sink.write(&(value as f32).to_le_bytes()))
        };
        Model::new(graph, 17).write_recorded(path, storage, count_up).unwrap()
    }

    fn told(path: &Path, written: &Written) -> String {
        match verify(path, written, |_| Ok(())) {
            Err(Error::NotAsWritten { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_written_is_found_again() {
        for storage in [Storage::Inline, Storage::External] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.onnx");
            let written = write(graph(), &path, storage);
            let mut names = Vec::new();
            verify(&path, &written, |weight| {
                names.push(weight.name.clone());
                Ok(())
            })
            .unwrap();
            assert_eq!(names, ["W"], "{storage:?}");
        }
    }

    #[test]
    fn every_changed_bit_of_a_weight_is_seen() {
        for (storage, file) in [(Storage::Inline, "model.onnx"), (Storage::External, "model.onnx.data")] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.onnx");
            let written = write(graph(), &path, storage);
            let file = folder.path().join(file);
            let mut bytes = fs::read(&file).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&file, &bytes).unwrap();
            assert!(told(&path, &written).contains("weight W has other bytes"), "{storage:?}");
            bytes.pop();
            fs::write(&file, &bytes).unwrap();
            told(&path, &written);
            fs::remove_file(&file).unwrap();
            told(&path, &written);
        }
    }

    #[test]
    fn another_model_is_not_the_one_that_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        let mut written = write(graph(), &path, Storage::Inline);
        written.weights[0].0.dims = vec![2, 3];
        assert!(told(&path, &written).contains("W is missing or of another shape"));
        fs::write(&path, "no model at all").unwrap();
        told(&path, &written);
    }

    #[test]
    fn a_graph_with_holes_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let check = |graph: Graph, expected: &str| {
            let path = folder.path().join("model.onnx");
            let written = write(graph, &path, Storage::Inline);
            let reason = told(&path, &written);
            assert!(reason.contains(expected), "{reason}");
        };
        let nothing = crate::onnx::Value::named("nothing");
        let mut holed = graph();
        holed.node("Neg", "z", &[&nothing], []);
        check(holed, "node z takes nothing before it exists");
        let mut double = graph();
        double.constant("y", &[], &[0f32]);
        check(double, "y is made twice");
        let mut open = graph();
        open.output(&nothing, DataType::Float, &[]);
        check(open, "output nothing is made nowhere");
    }
}
