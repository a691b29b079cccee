use super::GgufType;

/// A GGUF file of version 3 under construction.
#[derive(Default)]
pub(super) struct GgufFile {
    keys: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    data: Vec<u8>,
}

const ALIGNMENT_BYTES: usize = 32;

impl GgufFile {
    pub(super) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key, 8, &text(value))
    }

    pub(super) fn unsigned(&mut self, key: &str, value: u32) -> &mut Self {
        self.key(key, 4, &value.to_le_bytes())
    }

    pub(super) fn float(&mut self, key: &str, value: f32) -> &mut Self {
        self.key(key, 6, &value.to_le_bytes())
    }

    pub(super) fn texts(&mut self, key: &str, values: &[String]) -> &mut Self {
        let bytes = values.iter().flat_map(|value| text(value)).collect();
        self.list(key, 8, values.len(), bytes)
    }

    pub(super) fn integers(&mut self, key: &str, values: &[i32]) -> &mut Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.list(key, 5, values.len(), bytes)
    }

    /// A tensor; the values of a row come last in `shape`, and first in the file.
    pub(super) fn tensor(&mut self, name: &str, of: GgufType, shape: &[usize], bytes: &[u8]) {
        let offset = self.data.len().next_multiple_of(ALIGNMENT_BYTES);
        self.data.resize(offset, 0);
        self.data.extend(bytes);
        let mut head = text(name);
        head.extend((shape.len() as u32).to_le_bytes());
        head.extend(shape.iter().rev().flat_map(|&size| (size as u64).to_le_bytes()));
        head.extend(of.code().to_le_bytes());
        head.extend((offset as u64).to_le_bytes());
        self.tensors.push(head);
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.keys.len() as u64).to_le_bytes());
        bytes.extend(self.keys.concat());
        bytes.extend(self.tensors.concat());
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT_BYTES), 0);
        bytes.extend(&self.data);
        bytes
    }

    fn list(&mut self, key: &str, of: u32, count: usize, values: Vec<u8>) -> &mut Self {
        let head = [&of.to_le_bytes()[..], &(count as u64).to_le_bytes()].concat();
        self.key(key, 9, &[head, values].concat())
    }

    fn key(&mut self, key: &str, of: u32, value: &[u8]) -> &mut Self {
        self.keys.push([&text(key)[..], &of.to_le_bytes(), value].concat());
        self
    }
}

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat()
}
