//! A store for tests, in memory.

use std::collections::{BTreeMap, HashMap};

use super::models::words;
use crate::{
    Error,
    inference::Vectors,
    store::{Chunk, Hit, Query, StoredDocument},
};

/// What reciprocal rank fusion adds to a rank.
const RRF: f32 = 60.0;

#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) collections: BTreeMap<String, Collection>,
    pub(crate) values: BTreeMap<String, Vec<u8>>,
}

type Chunks = Vec<(Chunk, Vec<f32>)>;

#[derive(Debug, Default)]
pub(crate) struct Collection {
    dimensions: u32,
    staged: BTreeMap<String, Chunks>,
    committed: BTreeMap<String, (String, Chunks)>,
}

impl Store {
    pub(crate) fn open(&mut self, name: &str, dimensions: u32) -> Result<(), Error> {
        let known = |one: char| one.is_ascii_alphanumeric() || "-_.".contains(one);
        if name.is_empty() || name.len() > 64 || !name.chars().all(known) || dimensions == 0 {
            return Err(Error::Invalid(format!("no collection can be called '{name}'")));
        }
        let collection = self
            .collections
            .entry(name.to_owned())
            .or_insert_with(|| Collection { dimensions, ..Collection::default() });
        if collection.dimensions == dimensions {
            return Ok(());
        }
        let held = collection.dimensions;
        Err(Error::Invalid(format!(
            "'{name}' holds vectors of {held}, not {dimensions}: those of another model"
        )))
    }

    pub(crate) fn collection(&mut self, name: &str) -> Result<&mut Collection, Error> {
        self.collections.get_mut(name).ok_or_else(|| Error::NotFound(format!("the collection '{name}'")))
    }
}

impl Collection {
    pub(crate) fn stage(&mut self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error> {
        if vectors.count as usize != chunks.len()
            || (vectors.count > 0 && vectors.dimensions != self.dimensions)
        {
            return Err(Error::Invalid(
                "there must be one vector a chunk, of the collection's length".into(),
            ));
        }
        let staged = self.staged.entry(document.to_owned()).or_default();
        for (chunk, vector) in chunks.iter().zip(vectors.iter()) {
            staged.retain(|(known, _)| known.id != chunk.id);
            staged.push((chunk.clone(), vector));
        }
        Ok(())
    }

    pub(crate) fn commit(&mut self, document: &str, fingerprint: &str) {
        let chunks = self.staged.remove(document).unwrap_or_default();
        self.committed.insert(document.to_owned(), (fingerprint.to_owned(), chunks));
    }

    pub(crate) fn remove(&mut self, document: &str) -> u64 {
        self.staged.remove(document);
        self.committed.remove(document).map_or(0, |(_, chunks)| chunks.len() as u64)
    }

    pub(crate) fn documents(&self) -> Vec<StoredDocument> {
        let document = |(document, (fingerprint, chunks)): (&String, &(String, Chunks))| StoredDocument {
            document: document.clone(),
            fingerprint: fingerprint.clone(),
            chunks: u32::try_from(chunks.len()).unwrap_or(u32::MAX),
        };
        self.committed.iter().map(document).collect()
    }

    pub(crate) fn count(&self) -> u64 {
        self.committed.values().map(|(_, chunks)| chunks.len() as u64).sum()
    }

    pub(crate) fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        let chunks: Vec<(&String, &Chunk, &Vec<f32>)> = self
            .committed
            .iter()
            .filter(|(document, _)| query.documents.is_empty() || query.documents.contains(document))
            .flat_map(|(document, (_, chunks))| {
                chunks.iter().map(move |(chunk, vector)| (document, chunk, vector))
            })
            .collect();
        let mut rankings = Vec::new();
        if let Some(text) = &query.text {
            let wanted: Vec<String> = words(text).collect();
            let texts = chunks.iter().map(|(_, chunk, _)| chunk.text.as_str());
            rankings.push(rank(&word_scores(&wanted, &texts.collect::<Vec<_>>()), 0.0));
        }
        if let Some(vector) = &query.vector {
            let vector = vector.get(0).filter(|_| vector.dimensions == self.dimensions);
            let vector =
                vector.ok_or_else(|| Error::Invalid("the query's vector is of another length".into()))?;
            let near = |other: &Vec<f32>| vector.iter().zip(other).map(|(a, b)| a * b).sum();
            let scores: Vec<f32> = chunks.iter().map(|(_, _, other)| near(other)).collect();
            rankings.push(rank(&scores, f32::NEG_INFINITY));
        }
        let best =
            fuse(rankings).ok_or_else(|| Error::Invalid("the query has neither text nor vector".into()))?;
        let hit = |(index, score): (usize, f32)| {
            let (document, Chunk { id, text, metadata }, _) = chunks[index];
            let (document, id, text) = (document.clone(), id.clone(), text.clone());
            Hit { document, id, text, metadata: metadata.clone(), score }
        };
        Ok(best.into_iter().take(query.limit as usize).map(hit).collect())
    }
}

/// How much each text has of the words, rare ones counting for more.
fn word_scores(wanted: &[String], texts: &[&str]) -> Vec<f32> {
    let held: Vec<Vec<String>> = texts.iter().map(|text| words(text).collect()).collect();
    let weight = |word: &String| {
        let with = held.iter().filter(|held| held.contains(word)).count();
        (1.0 + texts.len() as f32 / (1 + with) as f32).ln()
    };
    let weights: Vec<(&String, f32)> = wanted.iter().map(|word| (word, weight(word))).collect();
    let score = |held: &Vec<String>| {
        weights.iter().filter(|(word, _)| held.contains(word)).map(|(_, weight)| weight).sum()
    };
    held.iter().map(score).collect()
}

/// Indices and scores above a floor, the best first.
fn rank(scores: &[f32], floor: f32) -> Vec<(usize, f32)> {
    let mut ranking: Vec<(usize, f32)> =
        scores.iter().copied().enumerate().filter(|(_, score)| *score > floor).collect();
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranking
}

/// One ranking as it is, several by reciprocal rank; `None` where there is none.
fn fuse(mut rankings: Vec<Vec<(usize, f32)>>) -> Option<Vec<(usize, f32)>> {
    if rankings.len() < 2 {
        return rankings.pop();
    }
    let mut scores: HashMap<usize, f32> = HashMap::new();
    for ranking in rankings {
        for (rank, (index, _)) in ranking.into_iter().enumerate() {
            *scores.entry(index).or_default() += 1.0 / (RRF + 1.0 + rank as f32);
        }
    }
    let mut fused: Vec<(usize, f32)> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Some(fused)
}
