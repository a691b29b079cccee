//! Reading a GGUF file: what it says of the model, where its tensors lie, and their rows, never the whole.
//!
//! Nothing in the file is trusted. A count or a length is compared with what is left of the header before anything is
//! allocated for it, so that reading takes no more memory than a small multiple of the file, whatever it claims.

mod blocks;
mod cursor;
mod header;
#[cfg(test)]
pub(crate) mod sample;
mod tensor;
mod value;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

pub(crate) use blocks::{BLOCK_VALUES, Block, blocks, floats};
pub(crate) use tensor::{Tensor, TensorType};
pub(crate) use value::Value;

use crate::Error;

/// What every file of the format begins with.
const MAGIC: &[u8; 4] = b"GGUF";

/// How many bytes of rows are read at once, unless one run of rows is longer.
const READ_BYTES: u64 = 1 << 20;

/// An open GGUF file whose header made sense: every tensor lies within it.
#[derive(Debug)]
pub(crate) struct Gguf {
    path: PathBuf,
    file: File,
    metadata: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Tensor>,
    data_start_bytes: u64,
}

impl Gguf {
    /// Whether a file begins as this format does. False if it cannot be read.
    pub(crate) fn is_one(path: &Path) -> bool {
        let mut magic = [0; 4];
        File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == MAGIC
    }

    /// Opens a file and checks its header.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let io_error = |source| Error::io(path, source);
        let file = File::open(path).map_err(io_error)?;
        let file_bytes = file.metadata().map_err(io_error)?.len();
        let header = header::read(BufReader::new(&file), file_bytes).map_err(|fault| fault.at(path))?;
        let header::Header { metadata, tensors, data_start_bytes } = header;
        let gguf = Self { path: path.to_owned(), file, metadata, tensors, data_start_bytes };
        match gguf.unsigned("split.count")? {
            Some(parts @ 2..) => Err(gguf.unsupported(format!("it is one of {parts} parts of a model"))),
            _ => Ok(gguf),
        }
    }

    /// The tensors by their names.
    pub(crate) fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The tensor of this name.
    pub(crate) fn tensor(&self, name: &str) -> Result<&Tensor, Error> {
        let missing = || Error::MissingTensor { path: self.path.clone(), name: name.to_owned() };
        self.tensors.get(name).ok_or_else(missing)
    }

    /// Text under this key. Fails if something else is there.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&str>, Error> {
        self.typed(key, "text", Value::as_text)
    }

    /// A list of texts under this key.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<&[String]>, Error> {
        self.typed(key, "a list of texts", Value::as_texts)
    }

    /// A whole number from 0 under this key; a list counts as one if all its numbers are the same.
    pub(crate) fn unsigned(&self, key: &str) -> Result<Option<u64>, Error> {
        self.typed(key, "one whole number from 0", Value::as_unsigned)
    }

    /// A number under this key.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, Error> {
        self.typed(key, "a number", Value::as_number)
    }

    /// A list of numbers under this key.
    pub(crate) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, Error> {
        self.typed(key, "a list of numbers", Value::as_numbers)
    }

    /// Yes or no under this key.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.typed(key, "true or false", Value::as_flag)
    }

    /// The file contradicts itself.
    pub(crate) fn broken(&self, reason: String) -> Error {
        Error::BrokenGguf { path: self.path.clone(), reason }
    }

    /// The file is right, but of a kind that is not imported.
    pub(crate) fn unsupported(&self, reason: String) -> Error {
        Error::UnsupportedGguf { path: self.path.clone(), reason }
    }

    /// Hands on the bytes of a tensor's rows in the order of the file, `run` rows at a time (the last time fewer). A
    /// vector is rows of one number.
    pub(crate) fn read_rows(
        &mut self,
        name: &str,
        run: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let tensor = self.tensor(name)?;
        let (mut left_bytes, run_bytes) = (tensor.size_bytes, run.saturating_mul(tensor.row_bytes()));
        let start = SeekFrom::Start(self.data_start_bytes + tensor.offset_bytes);
        let io_error = |source| Error::io(&self.path, source);
        self.file.seek(start).map_err(io_error)?;
        let mut rows = vec![0; run_bytes.min(left_bytes) as usize];
        while left_bytes > 0 {
            let rows = &mut rows[..run_bytes.min(left_bytes) as usize];
            self.file.read_exact(rows).map_err(io_error)?;
            left_bytes -= rows.len() as u64;
            take(rows)?;
        }
        Ok(())
    }

    /// How many rows of a tensor are worth reading at once.
    pub(crate) fn rows_at_once(&self, name: &str) -> Result<u64, Error> {
        Ok((READ_BYTES / self.tensor(name)?.row_bytes().max(1)).max(1))
    }

    fn typed<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.metadata.get(key) else { return Ok(None) };
        let wrong = || self.broken(format!("its key {key} holds {}, not {expected}", value.described()));
        read(value).map(Some).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{sample::Sample, *};

    fn opened(bytes: &[u8]) -> Result<Gguf, Error> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Gguf::open(file.path())
    }

    fn sample() -> Sample {
        let mut sample = Sample::default();
        sample.text("general.architecture", "llama").unsigned("llama.block_count", 2);
        sample.number("llama.eps", 0.5).flag("tokenizer.ggml.add_bos_token", true);
        sample.texts("tokenizer.ggml.tokens", &["a", "b"]).integers("counts", &[7, 7]);
        sample.tensor("matrix", TensorType::F32, &[2, 3], &[1; 24]);
        sample.tensor("norm", TensorType::F16, &[2], &[2; 4]);
        sample
    }

    #[test]
    fn what_was_written_is_read() {
        for version in [2, 3] {
            let mut gguf = opened(&sample().version(version).bytes()).unwrap();
            assert_eq!(gguf.text("general.architecture").unwrap(), Some("llama"));
            assert_eq!(gguf.unsigned("llama.block_count").unwrap(), Some(2));
            assert_eq!(gguf.number("llama.eps").unwrap(), Some(0.5));
            assert_eq!(gguf.flag("tokenizer.ggml.add_bos_token").unwrap(), Some(true));
            assert_eq!(gguf.texts("tokenizer.ggml.tokens").unwrap().unwrap(), ["a", "b"]);
            assert_eq!(gguf.unsigned("counts").unwrap(), Some(7), "all layers alike");
            assert_eq!(gguf.text("nothing").unwrap(), None);
            assert_eq!(gguf.tensor("matrix").unwrap().shape(), [3, 2]);
            let mut rows = Vec::new();
            gguf.read_rows("matrix", 2, |row| {
                rows.push(row.to_vec());
                Ok(())
            })
            .unwrap();
            assert_eq!(rows, [vec![1; 16], vec![1; 8]]);
            gguf.read_rows("norm", 5, |row| {
                assert_eq!(row, [2; 4]);
                Ok(())
            })
            .unwrap();
        }
    }

    #[test]
    fn what_is_of_the_wrong_kind_is_named() {
        let gguf = opened(&sample().bytes()).unwrap();
        let told = gguf.unsigned("general.architecture").unwrap_err().to_string();
        assert!(told.contains("general.architecture holds text, not one whole number"), "{told}");
        assert!(gguf.texts("counts").is_err());
        assert!(matches!(gguf.tensor("bias"), Err(Error::MissingTensor { name, .. }) if name == "bias"));
    }

    #[test]
    fn a_part_of_a_model_is_refused() {
        let mut part = sample();
        part.unsigned("split.count", 3);
        let told = opened(&part.bytes()).unwrap_err().to_string();
        assert!(told.contains("one of 3 parts"), "{told}");
        assert!(opened(&sample().unsigned("split.count", 1).bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn no_damage_makes_it_panic(
            edits in prop::collection::vec((0usize..600, any::<u8>()), 0..8),
            length in 0usize..600,
        ) {
            let mut bytes = sample().bytes();
            for (at, value) in edits {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            bytes.truncate(length);
            if let Ok(mut gguf) = opened(&bytes) {
                for name in gguf.tensors().keys().cloned().collect::<Vec<_>>() {
                    gguf.read_rows(&name, 3, |rows| {
                        assert!(rows.len() <= bytes.len());
                        Ok(())
                    })
                    .unwrap();
                }
            }
        }

        #[test]
        fn no_number_anywhere_makes_it_allocate(at in 0usize..600, value in any::<u64>(), shift in 0u32..64) {
            let mut bytes = sample().bytes();
            let value = (value >> shift).to_le_bytes();
            if let Some(place) = bytes.get_mut(at..at + 8) {
                place.copy_from_slice(&value);
            }
            let _ = opened(&bytes);
        }
    }
}
