use std::{collections::BTreeMap, io::Read};

use super::{
    MAGIC,
    cursor::{Cursor, Fault},
    tensor::{Tensor, TensorType},
    value::Value,
};

/// Far more than any vocabulary takes; a header beyond it is noise.
const HEADER_LIMIT_BYTES: u64 = 1 << 29;

/// Dimensions that the format allows.
const DIMENSIONS_LIMIT: u32 = 4;

/// Where data begins unless the file says otherwise: at a multiple of this.
const ALIGNMENT_BYTES: u64 = 32;

/// Bytes of the shortest key: its length, one letter, a type, one byte.
const SHORTEST_KEY_BYTES: u64 = 14;

/// Bytes of the shortest tensor: name, count of dimensions, one dimension, type, offset.
const SHORTEST_TENSOR_BYTES: u64 = 8 + 4 + 8 + 4 + 8;

/// What stands before the tensors' bytes.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) tensors: BTreeMap<String, Tensor>,
    /// Where the tensors' bytes begin; their offsets count from here.
    pub(super) data_start_bytes: u64,
}

/// Reads the header of a file of `file_bytes`.
pub(super) fn read(reader: impl Read, file_bytes: u64) -> Result<Header, Fault> {
    let mut cursor = Cursor::new(reader, file_bytes.min(HEADER_LIMIT_BYTES));
    if &cursor.array("the first word")? != MAGIC {
        return Err(Fault::Broken("it does not begin with GGUF".to_owned()));
    }
    check_version(cursor.u32("the version")?)?;
    let tensor_count = cursor.u64("the number of tensors")?;
    let key_count = cursor.u64("the number of keys")?;
    cursor.expect(key_count, SHORTEST_KEY_BYTES, "the number of keys")?;
    cursor.expect(tensor_count, SHORTEST_TENSOR_BYTES, "the number of tensors")?;

    let metadata = read_metadata(&mut cursor, key_count)?;
    let alignment_bytes = alignment(&metadata)?;
    let mut tensors = BTreeMap::new();
    for index in 0..tensor_count {
        let (name, tensor) = read_tensor(&mut cursor, index, alignment_bytes)?;
        if tensors.insert(name.clone(), tensor).is_some() {
            return Err(Fault::Broken(format!("it has two tensors {name}")));
        }
    }
    let data_start_bytes = cursor.at_bytes().next_multiple_of(alignment_bytes);
    for (name, tensor) in &tensors {
        let end = data_start_bytes
            .checked_add(tensor.offset_bytes)
            .and_then(|start| start.checked_add(tensor.size_bytes));
        if end.is_none_or(|end| end > file_bytes) {
            return Err(Fault::Broken(format!(
                "tensor {name} of {} bytes at {data_start_bytes} + {} goes beyond the file's {file_bytes} bytes",
                tensor.size_bytes, tensor.offset_bytes
            )));
        }
    }
    Ok(Header { metadata, tensors, data_start_bytes })
}

fn check_version(version: u32) -> Result<(), Fault> {
    match version {
        2 | 3 => Ok(()),
        1 => Err(Fault::Unsupported("it is of version 1 of the format".to_owned())),
        _ if matches!(version.swap_bytes(), 1..=3) => Err(Fault::Unsupported("it is big-endian".to_owned())),
        _ => Err(Fault::Unsupported(format!("it is of version {version} of the format"))),
    }
}

fn read_metadata(cursor: &mut Cursor<impl Read>, key_count: u64) -> Result<BTreeMap<String, Value>, Fault> {
    let mut metadata = BTreeMap::new();
    for index in 0..key_count {
        let key = cursor.text(&format!("the name of key {index}"))?;
        let value = Value::read(cursor, &format!("key {key:?}"))?;
        if metadata.insert(key.clone(), value).is_some() {
            return Err(Fault::Broken(format!("it has the key {key:?} twice")));
        }
    }
    Ok(metadata)
}

fn alignment(metadata: &BTreeMap<String, Value>) -> Result<u64, Fault> {
    let Some(value) = metadata.get("general.alignment") else { return Ok(ALIGNMENT_BYTES) };
    match value.as_unsigned() {
        Some(bytes) if bytes.is_power_of_two() && bytes <= 1 << 20 => Ok(bytes),
        _ => Err(Fault::Broken("its general.alignment is no power of 2 up to 1 MiB".to_owned())),
    }
}

fn read_tensor(
    cursor: &mut Cursor<impl Read>,
    index: u64,
    alignment_bytes: u64,
) -> Result<(String, Tensor), Fault> {
    let name = cursor.text(&format!("the name of tensor {index}"))?;
    let place = format!("tensor {name:?}");
    let rank = cursor.u32(&place)?;
    if rank == 0 || rank > DIMENSIONS_LIMIT {
        return Err(Fault::Broken(format!("{place} has {rank} dimensions; 1 to {DIMENSIONS_LIMIT} can be")));
    }
    let mut dims = Vec::with_capacity(rank as usize);
    for _ in 0..rank {
        dims.push(cursor.u64(&place)?);
    }
    let data_type = TensorType(cursor.u32(&place)?);
    let offset_bytes = cursor.u64(&place)?;
    if !offset_bytes.is_multiple_of(alignment_bytes) {
        return Err(Fault::Broken(format!(
            "{place} lies at {offset_bytes}, which is no multiple of {alignment_bytes}"
        )));
    }
    let tensor = Tensor::new(data_type, dims, offset_bytes)
        .map_err(|reason| Fault::Broken(format!("{place} {reason}")))?;
    Ok((name, tensor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::sample::Sample;

    fn told(bytes: &[u8]) -> String {
        match read(bytes, bytes.len() as u64) {
            Err(Fault::Broken(reason) | Fault::Unsupported(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    fn counts(tensors: u64, keys: u64) -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(tensors.to_le_bytes());
        bytes.extend(keys.to_le_bytes());
        bytes
    }

    #[test]
    fn other_versions_and_byte_orders_are_named() {
        let version = |version: u32| told(&Sample::default().version(version).bytes());
        assert!(version(1).contains("version 1"));
        assert!(version(4).contains("version 4"));
        assert!(version(3u32.swap_bytes()).contains("big-endian"));
        assert!(told(b"GGML\0\0\0\0").contains("does not begin with GGUF"));
        assert!(told(b"GG").contains("it ends at byte 0, within the first word"));
    }

    #[test]
    fn absurd_counts_are_refused_before_anything_is_allocated() {
        assert!(told(&counts(1 << 60, 0)).contains("the number of tensors claims"));
        assert!(told(&counts(0, 1 << 60)).contains("the number of keys claims"));
        assert!(told(&counts(u64::MAX, u64::MAX)).contains("claims"));
        let mut long = counts(0, 1);
        long.extend((1u64 << 63).to_le_bytes());
        long.extend([0; 32]);
        assert!(told(&long).contains("the name of key 0 claims 9223372036854775808"));
    }

    #[test]
    fn absurd_tensors_are_refused() {
        let with = |dims: &[u64], offset: u64| {
            let mut sample = Sample::default();
            sample.placed("w", TensorType::Q4_0, dims, offset);
            told(&sample.bytes())
        };
        assert!(with(&[1 << 40, 1 << 40], 0).contains("more values than can be"));
        assert!(with(&[32, 0], 0).contains("has a dimension of 0"));
        assert!(with(&[33], 0).contains("rows of 33 values"));
        assert!(with(&[32, 1 << 20], 0).contains("goes beyond the file's"));
        assert!(with(&[32], u64::MAX - 31).contains("goes beyond the file's"));
        assert!(with(&[32], 7).contains("no multiple of 32"));
        assert!(with(&[32; 5], 0).contains("has 5 dimensions"));
    }

    #[test]
    fn what_is_there_twice_is_refused() {
        let mut sample = Sample::default();
        sample.unsigned("a", 1).unsigned("a", 2);
        assert!(told(&sample.bytes()).contains("\"a\" twice"));
        let mut sample = Sample::default();
        sample.tensor("w", TensorType::F32, &[1], &[0; 4]).tensor("w", TensorType::F32, &[1], &[0; 4]);
        assert!(told(&sample.bytes()).contains("two tensors w"));
    }

    #[test]
    fn a_file_cut_anywhere_is_refused() {
        let mut sample = Sample::default();
        sample.text("general.name", "tiny").texts("tokens", &["a", "bc"]).integers("types", &[1, 2]);
        sample.tensor("w", TensorType::Q8_0, &[32, 2], &[7; 68]);
        let bytes = sample.bytes();
        assert!(read(bytes.as_slice(), bytes.len() as u64).is_ok());
        // Bytes of padding after the last tensor are nobody's.
        for length in 0..sample.data_start_bytes() + 68 {
            told(&bytes[..length]);
        }
    }
}
