//! Which passages a question is answered from.

use std::collections::{BTreeMap, HashSet};

use ebb_plugin_sdk::{
    Error,
    inference::Vectors,
    store::{Hit, Query},
};

use crate::{
    chunk::Metadata,
    host::{Collection, Host},
    index,
    models::{self, Use},
    settings::Settings,
};

/// What ranks are counted from when rankings are fused, as the store does it.
const RANK_BASE: f32 = 60.0;

/// A passage: one chunk, or neighbours put together.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The document's id.
    pub id: String,
    /// The document's name.
    pub document: String,
    /// The headings that it stands under.
    pub context: String,
    /// Its text.
    pub text: String,
    /// Where it begins in the document's text, in bytes.
    pub start: u64,
    /// Its page, from 1.
    pub page: Option<u32>,
    /// Higher is better.
    pub score: f32,
}

impl Passage {
    /// Where it ends in the document's text.
    pub fn end(&self) -> u64 {
        self.start + self.text.len() as u64
    }

    /// The passage that a chunk is; `None` where its metadata is not of this plugin's making.
    fn of_hit(hit: Hit) -> Option<Self> {
        let Metadata { name, start, skip, page, .. } = serde_json::from_str(&hit.metadata).ok()?;
        let text = hit.text.get(skip..)?.to_owned();
        let context = hit.text.get(..skip)?.trim_end().to_owned();
        Some(Self { id: hit.document, document: name, context, text, start, page, score: hit.score })
    }

    /// Takes white space off both ends.
    fn trim(mut self) -> Self {
        let begin = self.text.len() - self.text.trim_start().len();
        self.start += begin as u64;
        self.text = self.text.trim().to_owned();
        self
    }
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// The best first; never empty.
    Passages(Vec<Passage>),
    /// Nothing fits the question.
    Nothing,
    /// Nothing was indexed with this model.
    NotIndexed(String),
}

/// Finds the passages that fit a question best. A question may rest on the one before it ("and in winter?"), so both together are
/// searched for as well.
///
/// # Errors
/// A capability that was not granted, a model or a store that fails.
pub fn retrieve(
    host: &impl Host,
    settings: &Settings,
    question: &str,
    before: Option<&str>,
) -> Result<Found, Error> {
    let model = models::pick(host, &settings.embedding_model, Use::Embed)?;
    let mut texts = vec![question.to_owned()];
    texts.extend(before.map(|before| format!("{before} {question}")));
    let prefixed: Vec<String> = texts.iter().map(|text| format!("{}{text}", settings.query_prefix)).collect();
    let vectors = host.embed(&model, &prefixed)?;
    let Some(collection) = index::find(host, &model, &vectors)? else { return Ok(Found::NotIndexed(model)) };
    if collection.count()? == 0 {
        return Ok(Found::NotIndexed(model));
    }
    if !is_near(&collection, &vectors, settings.similarity_floor)? {
        return Ok(Found::Nothing);
    }
    let mut rankings = Vec::new();
    // The last is that of both questions together, if there are two.
    for (text, vector) in texts.iter().zip(0..vectors.count) {
        let vector = vectors.single(vector).unwrap_or_else(|| vectors.clone());
        rankings.push(collection.search(&Query::hybrid(text.clone(), vector).limit(settings.passages * 3))?);
    }
    let mut passages = distinct(fuse(rankings));
    passages.truncate(settings.passages as usize);
    let passages = merge(passages);
    Ok(if passages.is_empty() { Found::Nothing } else { Found::Passages(passages) })
}

/// Whether any chunk is near enough to any of the vectors. A search always finds what is least far, and so says nothing of that.
fn is_near(collection: &impl Collection, vectors: &Vectors, floor: f32) -> Result<bool, Error> {
    for vector in (0..vectors.count).filter_map(|index| vectors.single(index)) {
        let nearest = collection.search(&Query::near(vector).limit(1))?;
        if nearest.first().is_some_and(|hit| hit.score >= floor) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// One ranking of several, each counting once more than the one before it; of one, itself.
fn fuse(mut rankings: Vec<Vec<Hit>>) -> Vec<Hit> {
    if rankings.len() == 1 {
        return rankings.remove(0);
    }
    let mut fused: BTreeMap<(String, String), Hit> = BTreeMap::new();
    let mut weight = 0.0;
    for ranking in rankings {
        weight += 1.0;
        for (rank, hit) in ranking.into_iter().enumerate() {
            let score = weight / (RANK_BASE + 1.0 + rank as f32);
            let key = (hit.document.clone(), hit.id.clone());
            fused.entry(key).or_insert(Hit { score: 0.0, ..hit }).score += score;
        }
    }
    let mut hits: Vec<Hit> = fused.into_values().collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

/// The passages of hits without those that say the same: copies of a document, mostly.
fn distinct(hits: Vec<Hit>) -> Vec<Passage> {
    let mut seen = HashSet::new();
    let passages = hits.into_iter().filter_map(Passage::of_hit);
    passages
        .filter(|passage| seen.insert(passage.text.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect()
}

/// Puts together what overlaps or touches, each with the best score of its parts; the best first.
fn merge(mut passages: Vec<Passage>) -> Vec<Passage> {
    passages.sort_by(|a, b| (&a.id, a.start).cmp(&(&b.id, b.start)));
    let mut merged: Vec<Passage> = Vec::new();
    for passage in passages {
        match merged.last_mut() {
            Some(last) if last.id == passage.id && passage.start <= last.end() => {
                let known = (last.end() - passage.start) as usize;
                last.text.push_str(passage.text.get(known..).unwrap_or_default());
                last.score = last.score.max(passage.score);
            }
            _ => merged.push(passage),
        }
    }
    merged.sort_by(|a, b| b.score.total_cmp(&a.score));
    merged.into_iter().map(Passage::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: &str, start: u64, text: &str, score: f32) -> Passage {
        Passage {
            id: id.into(),
            document: id.into(),
            context: id.into(),
            text: text.into(),
            start,
            page: None,
            score,
        }
    }

    #[test]
    fn neighbours_become_one_passage() {
        let merged = merge(vec![
            passage("a", 10, "world. Good", 0.5),
            passage("b", 0, "\n other ", 0.4),
            passage("a", 0, "Hello the world. ", 0.1),
            passage("a", 21, " day.", 0.2),
            passage("a", 90, "Far.", 0.3),
        ]);
        let got: Vec<_> =
            merged.iter().map(|one| (&one.id[..], one.start, &one.text[..], one.score)).collect();
        let want =
            [("a", 0, "Hello the world. Good day.", 0.5), ("b", 2, "other", 0.4), ("a", 90, "Far.", 0.3)];
        assert_eq!(got, want);
    }

    #[test]
    fn a_chunk_that_two_rankings_hold_comes_first() {
        let hit = |id: &str| Hit {
            document: "a".into(),
            id: id.into(),
            text: id.into(),
            metadata: String::new(),
            score: 9.0,
        };
        let fused = fuse(vec![vec![hit("x"), hit("y")], vec![hit("z"), hit("y")]]);
        assert_eq!(fused[0].id, "y");
        assert_eq!(fused.len(), 3);
    }
}
