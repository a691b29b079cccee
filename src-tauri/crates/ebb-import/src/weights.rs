//! Reading a safetensors file tensor by tensor, never as a whole.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use half::{bf16, f16};
use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};

use crate::{Error, onnx::Sink};

/// What the format allows; a length beyond it is not a header but noise.
const HEADER_LIMIT_BYTES: u64 = 100_000_000;

/// How much is read at once.
const BLOCK_BYTES: usize = 1 << 20;

/// An open safetensors file whose header made sense.
pub(crate) struct Weights {
    path: PathBuf,
    file: File,
    header: Metadata,
    data_start_bytes: u64,
}

impl Weights {
    /// Opens a file and checks that every tensor of its header lies within it.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(|source| Error::io(path, source))?;
        let file_bytes = file.metadata().map_err(|source| Error::io(path, source))?.len();
        let (header, data_start_bytes) = read_header(&mut file, file_bytes)
            .map_err(|reason| Error::BrokenWeights { path: path.to_owned(), reason })?;
        Ok(Self { path: path.to_owned(), file, header, data_start_bytes })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    /// Checks that a tensor is there with this shape and a type that can be converted.
    pub(crate) fn check(&self, name: &str, shape: &[usize]) -> Result<(), Error> {
        let info = self.info(name)?;
        if info.shape != shape {
            let (name, expected, actual) = (name.to_owned(), shape.to_vec(), info.shape.clone());
            return Err(Error::WrongShape { name, expected, actual });
        }
        match info.dtype {
            Dtype::F32 | Dtype::F16 | Dtype::BF16 => Ok(()),
            other => {
                let (name, data_type) = (name.to_owned(), format!("{other:?}"));
                Err(Error::UnsupportedDataType { name, data_type, supported: "F32, F16, BF16" })
            }
        }
    }

    /// Writes a tensor as little-endian f32, in the order of the file.
    pub(crate) fn copy(&mut self, name: &str, sink: &mut Sink) -> Result<(), Error> {
        self.read_blocks(name, |block| sink.write(block))
    }

    /// Writes a matrix as little-endian f32, columns first: `[out, in]` becomes `[in, out]`. Holds one matrix in memory.
    pub(crate) fn copy_transposed(&mut self, name: &str, sink: &mut Sink) -> Result<(), Error> {
        let &[rows, columns] = self.info(name)?.shape.as_slice() else {
            let actual = self.info(name)?.shape.clone();
            return Err(Error::WrongShape { name: name.to_owned(), expected: vec![0, 0], actual });
        };
        let mut matrix = Vec::with_capacity(rows * columns * 4);
        self.read_blocks(name, |block| {
            matrix.extend_from_slice(block);
            Ok(())
        })?;
        let mut line = Vec::with_capacity(rows * 4);
        for column in 0..columns {
            line.clear();
            for row in 0..rows {
                let at = (row * columns + column) * 4;
                line.extend_from_slice(&matrix[at..at + 4]);
            }
            sink.write(&line)?;
        }
        Ok(())
    }

    fn info(&self, name: &str) -> Result<&TensorInfo, Error> {
        let missing = || Error::MissingTensor { path: self.path.clone(), name: name.to_owned() };
        self.header.info(name).ok_or_else(missing)
    }

    /// Hands a tensor's bytes on in blocks, converted to f32.
    fn read_blocks(
        &mut self,
        name: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let info = self.info(name)?;
        let (data_type, (start, end)) = (info.dtype, info.data_offsets);
        let io_error = |source| Error::io(&self.path, source);
        self.file.seek(SeekFrom::Start(self.data_start_bytes + start as u64)).map_err(io_error)?;

        let mut left_bytes = end - start;
        let mut block = vec![0; left_bytes.min(BLOCK_BYTES)];
        let mut widened = Vec::new();
        while left_bytes > 0 {
            let length = left_bytes.min(BLOCK_BYTES);
            self.file.read_exact(&mut block[..length]).map_err(io_error)?;
            left_bytes -= length;
            match data_type {
                Dtype::F16 => {
                    take(widen(&block[..length], |bits| f16::from_bits(bits).to_f32(), &mut widened))?
                }
                Dtype::BF16 => {
                    take(widen(&block[..length], |bits| bf16::from_bits(bits).to_f32(), &mut widened))?
                }
                _ => take(&block[..length])?,
            }
        }
        Ok(())
    }
}

/// The header and where the data starts; the reason if it makes no sense. Allocates only what the file really holds.
fn read_header(file: &mut File, file_bytes: u64) -> Result<(Metadata, u64), String> {
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| "it ends before the length of its header".to_owned())?;
    let header_bytes = u64::from_le_bytes(length);
    if header_bytes > HEADER_LIMIT_BYTES {
        return Err(format!("its header claims {header_bytes} bytes, more than the format allows"));
    }
    let data_start_bytes = 8 + header_bytes;
    if data_start_bytes > file_bytes {
        return Err(format!("its header claims {header_bytes} bytes, but the file has only {file_bytes}"));
    }
    let mut header = vec![0; header_bytes as usize];
    file.read_exact(&mut header).map_err(|error| error.to_string())?;
    let header: Metadata = serde_json::from_slice(&header).map_err(|error| format!("its header: {error}"))?;

    let expected_bytes = data_start_bytes.saturating_add(header.data_len() as u64);
    if file_bytes < expected_bytes {
        return Err(format!("it has {file_bytes} bytes, its header calls for {expected_bytes}"));
    }
    Ok((header, data_start_bytes))
}

fn widen<'a>(block: &[u8], convert: fn(u16) -> f32, widened: &'a mut Vec<u8>) -> &'a [u8] {
    widened.clear();
    for pair in block.chunks_exact(2) {
        widened.extend_from_slice(&convert(u16::from_le_bytes([pair[0], pair[1]])).to_le_bytes());
    }
    widened
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use safetensors::tensor::{TensorView, serialize};

    use super::*;

    fn file_with(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    /// Tensors `a` (F32 [2, 3]), `b` (F16 [2]), `c` (BF16 [2]), `d` (I64 [1]).
    fn sample() -> Vec<u8> {
        let a: Vec<u8> = (0..6u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
        let b = [0x3c00u16, 0xc000].map(u16::to_le_bytes).concat();
        let c = [0x3f80u16, 0xc000].map(u16::to_le_bytes).concat();
        let d = 7i64.to_le_bytes();
        let views = [
            ("a", TensorView::new(Dtype::F32, vec![2, 3], &a).unwrap()),
            ("b", TensorView::new(Dtype::F16, vec![2], &b).unwrap()),
            ("c", TensorView::new(Dtype::BF16, vec![2], &c).unwrap()),
            ("d", TensorView::new(Dtype::I64, vec![1], &d).unwrap()),
        ];
        serialize(views, None).unwrap()
    }

    fn broken(bytes: &[u8]) -> String {
        match Weights::open(file_with(bytes).path()) {
            Err(Error::BrokenWeights { reason, .. }) => reason,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was opened"),
        }
    }

    fn floats(weights: &mut Weights, name: &str) -> Vec<f32> {
        let mut bytes = Vec::new();
        weights
            .read_blocks(name, |block| {
                bytes.extend_from_slice(block);
                Ok(())
            })
            .unwrap();
        bytes.chunks_exact(4).map(|value| f32::from_le_bytes(value.try_into().unwrap())).collect()
    }

    #[test]
    fn numbers_of_all_three_types_come_out_as_f32() {
        let file = file_with(&sample());
        let mut weights = Weights::open(file.path()).unwrap();
        assert_eq!(floats(&mut weights, "a"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(floats(&mut weights, "b"), [1.0, -2.0]);
        assert_eq!(floats(&mut weights, "c"), [1.0, -2.0]);
    }

    #[test]
    fn what_config_calls_for_is_checked_by_name_shape_and_type() {
        let file = file_with(&sample());
        let weights = Weights::open(file.path()).unwrap();
        weights.check("a", &[2, 3]).unwrap();
        assert!(matches!(weights.check("z", &[2]), Err(Error::MissingTensor { name, .. }) if name == "z"));
        let wrong = weights.check("a", &[3, 2]);
        assert!(matches!(wrong, Err(Error::WrongShape { actual, .. }) if actual == [2, 3]));
        let wrong = weights.check("d", &[1]);
        assert!(matches!(wrong, Err(Error::UnsupportedDataType { data_type, .. }) if data_type == "I64"));
    }

    #[test]
    fn damage_is_named() {
        let whole = sample();
        assert!(broken(b"").contains("ends before"));
        assert!(broken(&u64::MAX.to_le_bytes()).contains("more than the format allows"));
        assert!(broken(&99_999_999u64.to_le_bytes()).contains("the file has only 8"));
        assert!(broken(&whole[..40]).contains("the file has only 40"));
        assert!(broken(&whole[..whole.len() - 1]).contains("its header calls for"));
        let mut noise = whole.clone();
        noise[9] = b'!';
        assert!(broken(&noise).contains("its header: "));
    }

    proptest! {
        #[test]
        fn no_damage_makes_it_panic(
            edits in prop::collection::vec((0usize..400, any::<u8>()), 0..8),
            length in 0usize..400,
        ) {
            let mut bytes = sample();
            for (at, value) in edits {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            bytes.truncate(length);
            let file = file_with(&bytes);
            if let Ok(mut weights) = Weights::open(file.path()) {
                for (name, info) in weights.header.clone().tensors() {
                    if weights.check(&name, &info.shape).is_ok() {
                        let _ = weights.read_blocks(&name, |_| Ok(()));
                    }
                }
            }
        }
    }
}
