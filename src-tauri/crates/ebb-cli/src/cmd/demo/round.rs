//! One round: load, work, shrink, and what was measured on the way.

use std::time::{Duration, Instant};

use ebb_client::{LoadOptions, Model};
use ebb_core::Sample;
use serde::Serialize;

use super::{
    picture::{Progress, Screen},
    shrunk::Shrunk,
    workload::Workload,
};
use crate::error::Result;

/// How the work is done.
pub(super) struct Round {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) options: LoadOptions,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) options: LoadOptions,
    pub(super) texts: u64,
    /// Time of the requests alone, as their sender sees it.
    pub(super) took_ms: u64,
    pub(super) after_load: Sample,
    /// Of the samples taken after each request.
    pub(super) highest_resident_bytes: u64,
    #[serde(flatten)]
    pub(super) end: Shrunk,
    /// Vectors, to be compared between rounds.
    #[serde(skip)]
    pub(super) vectors: Vec<f32>,
    #[serde(skip)]
    pub(super) dimensions: usize,
}

impl Round {
    pub(super) async fn run(
        self,
        model: &Model,
        workload: &Workload,
        screen: &mut Screen<'_>,
    ) -> Result<Measured> {
        let after_load = model.load_again(&self.options).await?.sample;
        let mut took = Duration::ZERO;
        let (mut resident, mut vectors) = (Vec::new(), Vec::new());
        let (mut texts, mut dimensions) = (0, 0);
        for (index, request) in workload.requests.iter().enumerate() {
            let begun = Instant::now();
            let found = model.embed(request.iter().map(String::as_str)).await?;
            took += begun.elapsed();
            texts += found.len() as u64;
            dimensions = found.dimensions();
            vectors.extend_from_slice(found.values());
            let now = model.runtime().stats().await?.now;
            resident.push(now.resident_bytes);
            screen.progress(&Progress {
                name: self.name,
                about: self.about,
                done: index + 1,
                of: workload.requests.len(),
                unit: "requests",
                speed: format!("{:.0} texts/s", texts as f64 / took.as_secs_f64().max(1e-6)),
                after_load: &after_load,
                now: &now,
                resident: &resident,
            })?;
        }
        let end = Shrunk::now(model).await?;
        let measured = Measured {
            name: self.name,
            options: self.options,
            texts,
            took_ms: took.as_millis() as u64,
            after_load,
            highest_resident_bytes: resident.iter().copied().max().unwrap_or(0),
            end,
            vectors,
            dimensions,
        };
        screen.shrunk(&measured.end, measured.highest_resident_bytes)?;
        Ok(measured)
    }
}

/// The lowest cosine between vectors of the same text; `None` where they cannot be compared.
pub(super) fn lowest_cosine(one: &Measured, other: &Measured) -> Option<f64> {
    if one.dimensions == 0 || one.vectors.len() != other.vectors.len() {
        return None;
    }
    let pairs = one.vectors.chunks_exact(one.dimensions).zip(other.vectors.chunks_exact(one.dimensions));
    pairs.map(|(a, b)| cosine(a, b)).reduce(f64::min)
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot =
        |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_tells_the_same_from_another() {
        assert!((cosine(&[1.0, 2.0], &[2.0, 4.0]) - 1.0).abs() < 1e-12);
        assert!(cosine(&[1.0, 0.0], &[0.0, 1.0]).abs() < 1e-12);
    }
}
