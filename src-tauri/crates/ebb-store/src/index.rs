//! The vectors of a collection in memory: one byte a number and one factor a vector, scanned as a whole. A scan ranks well
//! enough to say which few vectors are worth scoring exactly.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashSet},
};

/// What the largest number of a vector becomes.
const LARGEST_CODE: f64 = 127.0;

/// The vectors of a collection, in no order.
#[derive(Debug)]
pub(crate) struct Index {
    dimensions: usize,
    codes: Vec<i8>,
    /// What the scalar product of a vector's codes with others is multiplied with.
    factors: Vec<f32>,
    chunks: Vec<i64>,
    documents: Vec<i64>,
}

impl Index {
    /// An empty one, with room for as many vectors.
    pub(crate) fn new(dimensions: u32, room: usize) -> Self {
        let dimensions = dimensions as usize;
        Self {
            dimensions,
            codes: Vec::with_capacity(room.saturating_mul(dimensions)),
            factors: Vec::with_capacity(room),
            chunks: Vec::with_capacity(room),
            documents: Vec::with_capacity(room),
        }
    }

    /// Bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = self.factors.capacity() * size_of::<f32>()
            + (self.chunks.capacity() + self.documents.capacity()) * size_of::<i64>();
        (self.codes.capacity() + rows) as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Adds the vector of a chunk. One of another length is left out: it cannot be found, but nor can it hurt.
    pub(crate) fn push(&mut self, chunk: i64, document: i64, vector: &[f32]) {
        if vector.len() != self.dimensions {
            return;
        }
        self.factors.push(quantise(vector, &mut self.codes));
        self.chunks.push(chunk);
        self.documents.push(document);
    }

    /// Removes the vectors of a document.
    pub(crate) fn remove(&mut self, document: i64) {
        let mut row = 0;
        while let Some(found) = self.documents[row..].iter().position(|one| *one == document) {
            row += found;
            // The last vector takes its place.
            self.documents.swap_remove(row);
            self.chunks.swap_remove(row);
            self.factors.swap_remove(row);
            let last = self.documents.len() * self.dimensions;
            self.codes.copy_within(last.., row * self.dimensions);
            self.codes.truncate(last);
        }
    }

    /// The chunks whose vectors are nearest to the query by cosine, as far as codes tell; the nearest first. At most `most`,
    /// and of these documents alone, where some are given.
    pub(crate) fn nearest(&self, query: &[f32], most: usize, within: Option<&HashSet<i64>>) -> Vec<i64> {
        if query.len() != self.dimensions || most == 0 {
            return Vec::new();
        }
        let mut codes = Vec::with_capacity(self.dimensions);
        // The factor of the query is the same for all: it changes no order.
        quantise(query, &mut codes);
        let mut best = BinaryHeap::with_capacity(most.min(self.len()) + 1);
        for (row, vector) in self.codes.chunks_exact(self.dimensions).enumerate() {
            if within.is_some_and(|documents| !documents.contains(&self.documents[row])) {
                continue;
            }
            let score = product(&codes, vector) as f32 * self.factors[row];
            let candidate = Reverse(Candidate { score, chunk: self.chunks[row] });
            if best.len() < most {
                best.push(candidate);
            } else if best.peek().is_some_and(|worst| candidate < *worst) {
                best.pop();
                best.push(candidate);
            }
        }
        best.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate.chunk).collect()
    }
}

/// Puts a vector's codes behind those that are there; gives its factor. In f64: a square of f32 can be infinite.
fn quantise(vector: &[f32], codes: &mut Vec<i8>) -> f32 {
    let largest = f64::from(vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs())));
    // A vector of zeroes, which no caller lets through, is like none.
    let scale = if largest > 0.0 { LARGEST_CODE / largest } else { 0.0 };
    codes.extend(vector.iter().map(|value| (f64::from(*value) * scale).round() as i8));
    let scaled_squares: f64 = vector.iter().map(|value| (f64::from(*value) * scale).powi(2)).sum();
    if scaled_squares > 0.0 { (1.0 / scaled_squares.sqrt()) as f32 } else { 0.0 }
}

/// The scalar product of codes: plain, so that the compiler makes vector instructions of it. The longest vectors do not reach
/// the end of an `i32`.
fn product(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// The cosine of two vectors, exactly.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let sum =
        |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
    let lengths = (sum(a, a) * sum(b, b)).sqrt();
    if lengths > 0.0 { (sum(a, b) / lengths) as f32 } else { 0.0 }
}

/// A chunk that may be among the best. The greater is the better; of equals, the chunk that was there first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    pub(crate) chunk: i64,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.chunk.cmp(&self.chunk))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(vectors: &[(i64, [f32; 3])]) -> Index {
        let mut index = Index::new(3, 0);
        for (chunk, (document, vector)) in (1..).zip(vectors) {
            index.push(chunk, *document, vector);
        }
        index
    }

    #[test]
    fn the_nearest_come_first_whatever_their_length() {
        let index = index(&[
            (1, [0.0, 1.0, 0.0]),
            (1, [1e-40, 0.0, 0.0]),
            (2, [1e38, 1e38, 0.0]),
            (2, [-5.0, 0.0, 0.0]),
        ]);
        assert_eq!(index.nearest(&[1e38, 1e37, 0.0], 9, None), [2, 3, 1, 4]);
        assert_eq!(index.nearest(&[1.0, 0.1, 0.0], 2, None), [2, 3]);
        assert_eq!(index.nearest(&[1.0, 0.1, 0.0], 2, Some(&[1].into())), [2, 1]);
        assert_eq!(index.nearest(&[1.0, 0.1, 0.0], 2, Some(&[7].into())), [0; 0]);
        assert_eq!(index.nearest(&[1.0, 0.1], 2, None), [0; 0]);
        assert_eq!(index.nearest(&[1.0, 0.1, 0.0], 0, None), [0; 0]);
    }

    #[test]
    fn equals_come_in_the_order_of_their_chunks() {
        let mut index =
            index(&[(9, [0.0, 0.0, 1.0]), (1, [1.0, 1.0, 1.0]), (2, [2.0, 2.0, 2.0]), (3, [0.5; 3])]);
        assert_eq!(index.nearest(&[1.0; 3], 2, None), [2, 3]);
        index.remove(9);
        assert_eq!(index.documents, [3, 1, 2], "the last took the place of the first");
        assert_eq!(index.nearest(&[1.0; 3], 2, None), [2, 3]);
    }

    #[test]
    fn what_remains_keeps_its_vectors() {
        let vectors =
            [(1, [1.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0]), (1, [0.0, 0.0, 1.0]), (1, [1.0, 1.0, 0.0])];
        let mut index = index(&vectors);
        index.remove(1);
        assert_eq!((index.len(), index.codes.as_slice()), (1, [0_i8, 127, 0].as_slice()));
        assert_eq!(index.nearest(&[0.0, 0.0, 1.0], 3, None), [2]);
        index.remove(2);
        assert_eq!((index.len(), index.codes.len()), (0, 0));
        index.remove(2);
    }

    #[test]
    fn the_longest_vectors_do_not_overflow() {
        let longest = vec![-128_i8; crate::MAX_DIMENSIONS as usize];
        assert_eq!(product(&longest, &longest), 128 * 128 * 16_384);
        let extreme = [f32::MAX, f32::MAX, f32::MIN];
        assert_eq!(cosine(&extreme, &extreme), 1.0);
        assert_eq!(cosine(&[f32::from_bits(1); 2], &[-1.0; 2]), -1.0);
    }
}
