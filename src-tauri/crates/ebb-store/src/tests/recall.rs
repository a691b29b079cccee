//! How many of the true neighbours the search in memory finds.

use super::{chunk, store};
use crate::{Query, index::cosine};

const DIMENSIONS: usize = 96;
const CLUSTERS: usize = 40;
const EACH: usize = 60;

/// Numbers from -1 to 1 that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// A vector at most `spread` away from `centre` in each direction.
    fn around(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
        centre.iter().map(|value| value + spread * self.next()).collect()
    }
}

#[test]
fn at_least_95_of_100_true_neighbours_are_found_among_clusters() {
    let (_folder, store) = store(1 << 28);
    let collection = store.collection("clusters", DIMENSIONS as u32).unwrap();
    let mut numbers = Numbers(7);
    let mut vectors = Vec::new();
    for cluster in 0..CLUSTERS {
        let centre = numbers.around(&[0.0; DIMENSIONS], 1.0);
        let members: Vec<Vec<f32>> = (0..EACH).map(|_| numbers.around(&centre, 0.3)).collect();
        let chunks: Vec<_> = (0..EACH).map(|member| chunk(&member.to_string(), "")).collect();
        collection.stage(&cluster.to_string(), &chunks, &members.concat()).unwrap();
        collection.commit(&cluster.to_string(), "f").unwrap();
        vectors.extend(members);
    }

    let mut found = 0;
    for near in vectors.iter().step_by(24) {
        let query = numbers.around(near, 0.3);
        let mut exact: Vec<usize> = (0..vectors.len()).collect();
        exact.sort_by(|a, b| cosine(&query, &vectors[*b]).total_cmp(&cosine(&query, &vectors[*a])));
        let hits = collection.search(&Query { vector: Some(query), limit: 10, ..Query::default() }).unwrap();
        let number = |document: &str, id: &str| -> usize {
            document.parse::<usize>().unwrap() * EACH + id.parse::<usize>().unwrap()
        };
        found += hits.iter().filter(|hit| exact[..10].contains(&number(&hit.document, &hit.id))).count();
    }
    let wanted = vectors.len().div_ceil(24) * 10;
    assert!(found as f32 >= 0.95 * wanted as f32, "{found} of {wanted}");
    let held = store.index_memory_bytes();
    assert_eq!(held, (vectors.len() * (DIMENSIONS + 4 + 8 + 8)) as u64, "a byte a number, and a row's own");
    assert_eq!((store.release_memory(), store.index_memory_bytes()), (held, 0));
}
