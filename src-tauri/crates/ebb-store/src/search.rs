//! Searching: a ranking by words, a ranking by vector, and the two fused.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use rusqlite::{Connection, OptionalExtension, types::ValueRef};

use crate::{
    Error, Hit, MAX_HITS, Query, collection,
    error::Fault,
    idle,
    index::{Candidate, Index, cosine},
    schema,
    store::{Inner, Shared},
    words,
};

/// The constant of reciprocal-rank fusion: how much less a second place is worth than a first.
const FUSION: f32 = 60.0;
/// How many candidates each ranking has for one hit: the vectors of so many are scored exactly, and fusion looks so deep.
const CANDIDATES_PER_HIT: usize = 4;
/// At least so many candidates.
const MIN_CANDIDATES: usize = 50;
/// How many chunks are scored by their words, where rare words tell them apart: words that are in more of them say little, and
/// take most of the time.
const SCORED_CHUNKS: u64 = 10_000;
/// Texts of hits are given up to so many bytes; the first hit always is.
const MAX_HIT_BYTES: usize = 64 << 20;

/// The best chunks for a query that was checked.
pub(crate) fn search(shared: &Arc<Shared>, id: i64, name: &str, query: &Query) -> Result<Vec<Hit>, Error> {
    let limit = query.limit.min(MAX_HITS) as usize;
    let mut guard = shared.lock();
    let inner = &mut *guard;
    if query.vector.is_some() {
        inner.searched_at = Instant::now();
        idle::watch(shared, inner);
    }
    let Inner { database, indexes, seen, .. } = inner;
    database.read(|connection| {
        let dimensions = schema::dimensions(connection, id, name)?;
        forget_what_others_changed(connection, indexes, seen)?;
        let within = documents(connection, id, &query.documents)?;
        if limit == 0 || within.as_ref().is_some_and(HashSet::is_empty) {
            return Ok(Vec::new());
        }
        let most = (limit * CANDIDATES_PER_HIT).max(MIN_CANDIDATES);
        let by_words =
            query.text.as_deref().map(|text| by_words(connection, id, text, most, within.as_ref()));
        let by_vector = match &query.vector {
            Some(vector) => {
                let index = load(connection, indexes, id, name, dimensions)?;
                Some(rescored(connection, vector, index.nearest(vector, most, within.as_ref()))?)
            }
            None => None,
        };
        let mut best = match (by_words.transpose()?, by_vector) {
            (Some(words), Some(vectors)) => fused([words, vectors]),
            (words, vectors) => words.or(vectors).unwrap_or_default(),
        };
        best.truncate(limit);
        hits(connection, &best)
    })
}

/// Vectors in memory of a file that another connection has written to since are no longer right.
fn forget_what_others_changed(
    connection: &Connection,
    indexes: &mut HashMap<i64, Index>,
    seen: &mut i64,
) -> rusqlite::Result<()> {
    let now = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
    if *seen != now {
        indexes.clear();
        *seen = now;
    }
    Ok(())
}

/// The numbers of the documents that the query names; none where it names none.
fn documents(connection: &Connection, id: i64, names: &[String]) -> rusqlite::Result<Option<HashSet<i64>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let found = names.iter().filter_map(|name| collection::find(connection, id, name).transpose());
    found.collect::<Result<_, _>>().map(Some)
}

/// The chunks that have words of the text, the best first.
fn by_words(
    connection: &Connection,
    id: i64,
    text: &str,
    most: usize,
    within: Option<&HashSet<i64>>,
) -> Result<Vec<Candidate>, Fault> {
    let table = schema::words(id);
    let terms = words::terms(text);
    // How rare a word is in a few documents, the whole collection does not tell.
    let terms = if within.is_some() { terms } else { rarest(connection, id, &table, terms)? };
    let Some(terms) = words::any_of(&terms) else { return Ok(Vec::new()) };
    let mut found = connection.prepare(&ranking(&table, within))?;
    let ranked = found
        .query_map((terms, most as i64), |row| Ok(Candidate { chunk: row.get(0)?, score: row.get(1)? }))?;
    Ok(ranked.collect::<Result<_, _>>()?)
}

/// What ranks the chunks that some words are in.
fn ranking(table: &str, within: Option<&HashSet<i64>>) -> String {
    let filter = match within {
        // Numbers alone: nothing that a plugin gave becomes SQL. The plus keeps SQLite from asking the full-text index anew for
        // each of the chunks.
        Some(documents) => {
            let numbers: Vec<String> = documents.iter().map(i64::to_string).collect();
            format!("AND +rowid IN (SELECT id FROM chunks WHERE document IN ({}))", numbers.join(","))
        }
        None => String::new(),
    };
    format!("SELECT rowid, -rank FROM {table} WHERE {table} MATCH ? {filter} ORDER BY rank, rowid LIMIT ?")
}

/// The rarest of the terms: as many as there is room for by [`SCORED_CHUNKS`], and at least one that some chunk has. All of
/// them in a collection that is no larger.
fn rarest(
    connection: &Connection,
    id: i64,
    table: &str,
    terms: Vec<String>,
) -> rusqlite::Result<Vec<String>> {
    let all = count(connection, id)?;
    let mut room = SCORED_CHUNKS;
    while room < all {
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)");
        let mut chunks_with = connection.prepare_cached(&sql)?;
        let mut counted = Vec::with_capacity(terms.len());
        for term in &terms {
            let chunks: u64 = chunks_with.query_row((term, room + 1), |row| row.get(0))?;
            counted.push((chunks, term));
        }
        // Words that are equally rare stay in their order.
        counted.sort_by_key(|(chunks, _)| *chunks);
        let mut sum = 0;
        counted.retain(|(chunks, _)| {
            sum += chunks;
            sum <= room
        });
        if counted.iter().any(|(chunks, _)| *chunks > 0) {
            return Ok(counted.into_iter().map(|(_, term)| term.clone()).collect());
        }
        room = room.saturating_mul(4);
    }
    Ok(terms)
}

/// Committed chunks of a collection.
pub(crate) fn count(connection: &Connection, id: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(sum(chunks), 0) FROM documents WHERE collection = ?";
    connection.prepare_cached(sql)?.query_row([id], |row| row.get(0))
}

/// The vectors of a collection, read into memory where they are not there.
fn load<'a>(
    connection: &Connection,
    indexes: &'a mut HashMap<i64, Index>,
    id: i64,
    name: &str,
    dimensions: u32,
) -> Result<&'a Index, Fault> {
    use std::collections::hash_map::Entry;
    let vacant = match indexes.entry(id) {
        Entry::Occupied(held) => return Ok(held.into_mut()),
        Entry::Vacant(vacant) => vacant,
    };
    let started = Instant::now();
    let chunks = count(connection, id)?;
    // A damaged file may say anything: it has no more vectors than it has bytes for.
    let sizes = "SELECT p.page_count * s.page_size FROM pragma_page_count p, pragma_page_size s";
    let file_bytes: u64 = connection.query_row(sizes, [], |row| row.get(0))?;
    let room = chunks.min(file_bytes / (u64::from(dimensions) * size_of::<f32>() as u64));
    let mut index = Index::new(dimensions, room as usize);
    let mut documents =
        connection.prepare_cached("SELECT id FROM documents WHERE collection = ? ORDER BY id")?;
    for document in documents.query_map([id], |row| row.get(0))? {
        read_vectors(connection, document?, &mut index)?;
    }
    let took_ms = started.elapsed().as_millis() as u64;
    tracing::info!(collection = name, chunks, bytes = index.bytes(), took_ms, "vectors read into memory");
    Ok(vacant.insert(index))
}

/// Adds the vectors of a document to an index.
pub(crate) fn read_vectors(
    connection: &Connection,
    document: i64,
    index: &mut Index,
) -> rusqlite::Result<()> {
    let mut found = connection.prepare_cached(
        "SELECT c.id, v.vector FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.document = ? ORDER BY c.id",
    )?;
    let mut rows = found.query([document])?;
    let mut vector = Vec::new();
    while let Some(row) = rows.next()? {
        read_vector(row.get_ref(1)?, &mut vector);
        index.push(row.get(0)?, document, &vector);
    }
    Ok(())
}

/// The candidates scored by their true vectors, the best first.
fn rescored(connection: &Connection, query: &[f32], chunks: Vec<i64>) -> Result<Vec<Candidate>, Fault> {
    let mut found = connection.prepare_cached("SELECT vector FROM vectors WHERE chunk = ?")?;
    let mut vector = Vec::with_capacity(query.len());
    let mut ranked = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let mut rows = found.query([chunk])?;
        let Some(row) = rows.next()? else { continue };
        read_vector(row.get_ref(0)?, &mut vector);
        ranked.push(Candidate { chunk, score: cosine(query, &vector) });
    }
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    Ok(ranked)
}

/// A vector as it lies in the file.
fn read_vector(value: ValueRef<'_>, into: &mut Vec<f32>) {
    into.clear();
    let numbers = value.as_blob().unwrap_or_default().as_chunks::<4>().0.iter();
    into.extend(numbers.map(|number| f32::from_le_bytes(*number)));
}

/// One ranking of several: each gives 1 / (60 + place) to a chunk, and the sums decide.
fn fused(rankings: [Vec<Candidate>; 2]) -> Vec<Candidate> {
    let mut scores = HashMap::<i64, f32>::new();
    for ranking in rankings {
        for (place, candidate) in (1_u16..).zip(ranking) {
            *scores.entry(candidate.chunk).or_default() += 1.0 / (FUSION + f32::from(place));
        }
    }
    let mut ranked: Vec<Candidate> =
        scores.into_iter().map(|(chunk, score)| Candidate { score, chunk }).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    ranked
}

/// The chunks themselves, as far as their texts may be given.
fn hits(connection: &Connection, best: &[Candidate]) -> Result<Vec<Hit>, Fault> {
    let mut found = connection.prepare_cached(
        "SELECT d.name, c.name, c.text, c.metadata FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id = ?",
    )?;
    let mut hits = Vec::with_capacity(best.len());
    let mut bytes = 0;
    for Candidate { score, chunk } in best {
        let hit = found.query_row([chunk], |row| {
            let [document, id, text, metadata] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            Ok(Hit { document, id, text, metadata, score: *score })
        });
        let Some(hit) = hit.optional()? else { continue };
        bytes += hit.text.len() + hit.metadata.len();
        if bytes > MAX_HIT_BYTES && !hits.is_empty() {
            break;
        }
        hits.push(hit);
    }
    Ok(hits)
}

#[cfg(test)]
mod tests;
