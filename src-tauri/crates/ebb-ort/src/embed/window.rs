//! A window of a long request: the texts that are tokenised, sorted into batches and answered together. It bounds what a
//! request holds in memory, however many texts it has.

use bytes::Bytes;
use ebb_core::{Chunk, ChunkBody};

use crate::batch::{self, Batch};

/// Texts in a window. More sort better by length, fewer answer sooner; past some hundreds, sorting gains nothing more.
const MAX_TEXTS: usize = 1024;

/// Tokens in a window: for models of long texts, whose windows would be large.
const MAX_TOKENS: usize = 256 << 10;

/// The texts from `first` on.
#[derive(Debug, Default)]
pub(super) struct Window {
    first: usize,
    ids: Vec<u32>,
    ends: Vec<usize>,
    /// Batches to run, the next one last.
    batches: Vec<Batch>,
    /// The vectors, in the order of the texts, as little-endian bytes.
    vectors: Vec<u8>,
}

impl Window {
    /// Takes the next text's tokens, which `encode` appends.
    pub(super) fn push<T, E>(&mut self, encode: impl FnOnce(&mut Vec<u32>) -> Result<T, E>) -> Result<T, E> {
        let encoded = encode(&mut self.ids)?;
        self.ends.push(self.ids.len());
        Ok(encoded)
    }

    /// Whether no further text goes in.
    pub(super) fn is_full(&self) -> bool {
        self.ends.len() >= MAX_TEXTS || self.ids.len() >= MAX_TOKENS
    }

    /// Sorts the texts into batches.
    pub(super) fn plan(&mut self, batch_tokens: usize, dimensions: usize) {
        self.vectors = vec![0; self.ends.len() * dimensions * size_of::<f32>()];
        let texts: Vec<usize> = (0..self.ends.len()).collect();
        self.split(&texts, batch_tokens);
    }

    /// Sorts `batch` and those that have not run into smaller ones.
    pub(super) fn split_again(&mut self, batch: Batch, batch_tokens: usize) {
        let waiting = std::mem::take(&mut self.batches);
        let texts: Vec<usize> = waiting.into_iter().chain([batch]).flat_map(|batch| batch.texts).collect();
        self.split(&texts, batch_tokens);
    }

    fn split(&mut self, texts: &[usize], batch_tokens: usize) {
        let lengths: Vec<usize> = texts.iter().map(|&text| self.tokens(text).len()).collect();
        self.batches = batch::split(&lengths, batch_tokens);
        self.batches.reverse();
        for batch in &mut self.batches {
            batch.texts.iter_mut().for_each(|text| *text = texts[*text]);
        }
    }

    /// The batch to run next.
    pub(super) fn next_batch(&mut self) -> Option<Batch> {
        self.batches.pop()
    }

    /// Whether every batch has run, or none is planned yet.
    pub(super) fn is_idle(&self) -> bool {
        self.batches.is_empty()
    }

    /// A text's tokens; `text` counts from the window's first.
    pub(super) fn tokens(&self, text: usize) -> &[u32] {
        let start = if text == 0 { 0 } else { self.ends[text - 1] };
        &self.ids[start..self.ends[text]]
    }

    /// Keeps a text's vector.
    pub(super) fn set_vector(&mut self, text: usize, vector: &[f32]) {
        let place = self.vectors.chunks_exact_mut(size_of_val(vector)).nth(text).unwrap_or_default();
        for (bytes, number) in place.chunks_exact_mut(size_of::<f32>()).zip(vector) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
    }

    /// Gives the vectors away and starts the next window.
    pub(super) fn take_chunk(&mut self, dimensions: usize) -> Chunk {
        let (first, count) = (self.first as u32, self.ends.len() as u32);
        let data = Bytes::from(std::mem::take(&mut self.vectors));
        self.first += self.ends.len();
        self.ids.clear();
        self.ends.clear();
        Chunk { body: ChunkBody::Vectors { first, count, dimensions: dimensions as u32 }, data }
    }
}
