//! GGUF files made by hand, for tests.

use super::TensorType;

/// A file under construction.
#[derive(Default)]
pub(crate) struct Sample {
    version: Option<u32>,
    keys: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    data: Vec<u8>,
}

impl Sample {
    pub(crate) fn version(&mut self, version: u32) -> &mut Self {
        self.version = Some(version);
        self
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key, 8, &text(value))
    }

    pub(crate) fn unsigned(&mut self, key: &str, value: u32) -> &mut Self {
        self.key(key, 4, &value.to_le_bytes())
    }

    pub(crate) fn number(&mut self, key: &str, value: f32) -> &mut Self {
        self.key(key, 6, &value.to_le_bytes())
    }

    pub(crate) fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key, 7, &[u8::from(value)])
    }

    pub(crate) fn texts(&mut self, key: &str, values: &[impl AsRef<str>]) -> &mut Self {
        let texts = values.iter().flat_map(|value| text(value.as_ref())).collect();
        self.list(key, 8, values.len(), texts)
    }

    pub(crate) fn integers(&mut self, key: &str, values: &[i32]) -> &mut Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.list(key, 5, values.len(), bytes)
    }

    pub(crate) fn floats(&mut self, key: &str, values: &[f32]) -> &mut Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.list(key, 6, values.len(), bytes)
    }

    /// A tensor with its bytes; the values of a row come first in `dims`.
    pub(crate) fn tensor(&mut self, name: &str, of: TensorType, dims: &[u64], bytes: &[u8]) -> &mut Self {
        let offset = self.data.len().next_multiple_of(32);
        self.data.resize(offset, 0);
        self.data.extend(bytes);
        self.placed(name, of, dims, offset as u64)
    }

    /// A tensor that claims a place.
    pub(crate) fn placed(&mut self, name: &str, of: TensorType, dims: &[u64], offset: u64) -> &mut Self {
        let mut bytes = text(name);
        bytes.extend((dims.len() as u32).to_le_bytes());
        bytes.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
        bytes.extend(of.0.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        self.tensors.push(bytes);
        self
    }

    /// Where the tensors' bytes begin.
    pub(crate) fn data_start_bytes(&self) -> usize {
        self.head().len().next_multiple_of(32)
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.resize(self.data_start_bytes(), 0);
        bytes.extend(&self.data);
        bytes
    }

    fn head(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.unwrap_or(3).to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.keys.len() as u64).to_le_bytes());
        bytes.extend(self.keys.concat());
        bytes.extend(self.tensors.concat());
        bytes
    }

    fn list(&mut self, key: &str, kind: u32, count: usize, values: Vec<u8>) -> &mut Self {
        let head = [kind.to_le_bytes().to_vec(), (count as u64).to_le_bytes().to_vec()].concat();
        self.key(key, 9, &[head, values].concat())
    }

    fn key(&mut self, key: &str, kind: u32, value: &[u8]) -> &mut Self {
        self.keys.push([&text(key)[..], &kind.to_le_bytes(), value].concat());
        self
    }
}

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat()
}
