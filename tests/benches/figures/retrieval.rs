//! What a plugin's store finds, and how fast: 100,000 chunks whose words are as unevenly common as those of a language, and
//! whose vectors lie in clusters, as those of texts do.

use std::{collections::HashSet, time::Instant};

use ebb_core::format_bytes;
use ebb_store::{Chunk, Collection, Query, Store};

use crate::paired;

const CHUNKS: usize = 100_000;
const CHUNKS_PER_DOCUMENT: usize = 50;
const DIMENSIONS: usize = 384;
const CLUSTERS: usize = 1_000;
const WORDS_PER_CHUNK: usize = 120;
const WORDS_PER_QUESTION: usize = 9;
const VOCABULARY: f32 = 50_000.0;
const QUERIES: usize = 300;
const HITS: u32 = 10;

pub(crate) fn print() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("store.sqlite");
    let mut made = Made::new();
    let vectors = ingest(&open(&file), &mut made);
    let questions: Vec<(String, Vec<f32>)> = (0..QUERIES)
        .map(|number| {
            let near = &vectors[number * (CHUNKS / QUERIES)];
            (made.words(WORDS_PER_QUESTION), made.around(near, 0.7))
        })
        .collect();

    let store = open(&file);
    let collection = chunks(&store);
    let first = Instant::now();
    search(&collection, None, &questions[0].1);
    println!(
        "reading the vectors into memory: {:.0} ms, {}",
        first.elapsed().as_secs_f64() * 1e3,
        format_bytes(store.index_memory_bytes())
    );
    let mut found = 0;
    let (mut by_vector, mut hybrid) = (Vec::new(), Vec::new());
    for (text, vector) in &questions {
        let started = Instant::now();
        let hits = search(&collection, None, vector);
        by_vector.push(started.elapsed().as_secs_f64() * 1e3);
        let exact = exact(&vectors, vector);
        found += hits.iter().filter(|hit| exact.contains(*hit)).count();
        let started = Instant::now();
        search(&collection, Some(text), vector);
        hybrid.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times("by vector", &by_vector);
    times("hybrid", &hybrid);
    println!(
        "recall@{HITS} against exact search: {:.4}   (at least 0.95)",
        found as f64 / (QUERIES * HITS as usize) as f64
    );
}

fn open(file: &std::path::Path) -> Store {
    Store::open(file, 1 << 30).expect("a store")
}

fn chunks(store: &Store) -> Collection {
    store.collection("chunks", DIMENSIONS as u32).expect("a collection")
}

/// Fills the store; gives the vectors, by the number of their chunk.
fn ingest(store: &Store, made: &mut Made) -> Vec<Vec<f32>> {
    let collection = chunks(store);
    let centres: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| made.around(&[0.0; DIMENSIONS], 1.0)).collect();
    let mut vectors = Vec::with_capacity(CHUNKS);
    let mut took_s = 0.0;
    for document in 0..CHUNKS / CHUNKS_PER_DOCUMENT {
        let first = vectors.len();
        let mut texts = Vec::new();
        for number in first..first + CHUNKS_PER_DOCUMENT {
            let cluster = made.below(CLUSTERS as f32) as usize;
            vectors.push(made.around(&centres[cluster], 0.7));
            let (id, text) = (number.to_string(), made.words(WORDS_PER_CHUNK));
            texts.push(Chunk { id, text, metadata: "{\"start\":0}".to_owned() });
        }
        let block = vectors[first..].concat();
        let started = Instant::now();
        collection.stage(&document.to_string(), &texts, &block).expect("it is staged");
        collection.commit(&document.to_string(), "hash").expect("it is committed");
        took_s += started.elapsed().as_secs_f64();
    }
    println!(
        "filling it: {:.0} chunks of {WORDS_PER_CHUNK} words and {DIMENSIONS} numbers a second, {} on disk",
        CHUNKS as f64 / took_s,
        format_bytes(store.bytes_on_disk())
    );
    vectors
}

/// The numbers of the chunks that are found.
fn search(collection: &Collection, text: Option<&str>, vector: &[f32]) -> Vec<usize> {
    let query = Query {
        text: text.map(str::to_owned),
        vector: Some(vector.to_vec()),
        limit: HITS,
        ..Query::default()
    };
    let hits = collection.search(&query).expect("it is searched");
    hits.iter().map(|hit| hit.id.parse().expect("a number")).collect()
}

/// The numbers of the chunks whose vectors are nearest in truth.
fn exact(vectors: &[Vec<f32>], query: &[f32]) -> HashSet<usize> {
    let product = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut scored: Vec<(f32, usize)> = vectors
        .iter()
        .enumerate()
        .map(|(number, vector)| (product(vector, query) / product(vector, vector).sqrt(), number))
        .collect();
    scored.select_nth_unstable_by(HITS as usize, |a, b| b.0.total_cmp(&a.0));
    scored[..HITS as usize].iter().map(|(_, number)| *number).collect()
}

fn times(what: &str, ms: &[f64]) {
    println!(
        "{what}, {HITS} of {CHUNKS} chunks: {:.1} ms at the median, {:.1} ms at p95   (at most 50)",
        paired::median(ms),
        paired::quantile(ms, 0.95)
    );
}

/// Texts and vectors that are the same in every run.
struct Made(u64);

impl Made {
    fn new() -> Self {
        Self(7)
    }

    /// A number from 0 up to `end`.
    fn below(&mut self, end: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32 * end
    }

    /// A vector at most `spread` away from `centre` in each direction.
    fn around(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
        centre.iter().map(|value| value + spread * (self.below(2.0) - 1.0)).collect()
    }

    /// Words, of which the n-th is about 1/n as common as the first: every text has the first few.
    fn words(&mut self, count: usize) -> String {
        let words: Vec<String> =
            (0..count).map(|_| format!("w{}", VOCABULARY.powf(self.below(1.0)) as u32)).collect();
        words.join(" ")
    }
}
