//! Any order of calls, against a plain model of what a collection is.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{chunk, vector, words};
use crate::{Collection, Query, Store};

#[derive(Debug, Clone)]
enum Call {
    /// Chunks by id, each with a number that stands for its text and vector.
    Stage {
        handle: usize,
        document: usize,
        chunks: Vec<(u8, usize)>,
    },
    Commit {
        handle: usize,
        document: usize,
    },
    Remove {
        handle: usize,
        document: usize,
    },
    Release,
    /// Drops both handles and opens them again, or the whole store.
    Reopen {
        store: bool,
    },
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let (handle, document) = (0..2_usize, 0..3_usize);
    let chunks = prop::collection::vec((0..4_u8, 0..60_usize), 0..5);
    prop::collection::vec(
        prop_oneof![
            4 => (handle.clone(), document.clone(), chunks)
                .prop_map(|(handle, document, chunks)| Call::Stage { handle, document, chunks }),
            4 => (handle.clone(), document.clone()).prop_map(|(handle, document)| Call::Commit { handle, document }),
            2 => (handle, document).prop_map(|(handle, document)| Call::Remove { handle, document }),
            1 => Just(Call::Release),
            1 => any::<bool>().prop_map(|store| Call::Reopen { store }),
        ],
        1..30,
    )
}

/// Chunks by id: the number of each.
type Chunks = BTreeMap<u8, usize>;

#[derive(Debug, Default)]
struct Model {
    committed: BTreeMap<usize, Chunks>,
    staged: [BTreeMap<usize, Chunks>; 2],
}

impl Model {
    /// Whether the commit is one.
    fn commit(&mut self, handle: usize, document: usize) -> bool {
        let own = self.staged[handle].get(&document).is_some_and(|chunks| !chunks.is_empty());
        let theirs = self.staged[1 - handle].get(&document).is_some_and(|chunks| !chunks.is_empty());
        if !own && theirs {
            return false;
        }
        self.committed.insert(document, self.staged[handle].remove(&document).unwrap_or_default());
        true
    }

    fn remove(&mut self, handle: usize, document: usize) -> usize {
        let staged = self.staged[handle].remove(&document).map_or(0, |chunks| chunks.len());
        staged + self.committed.remove(&document).map_or(0, |chunks| chunks.len())
    }
}

/// Whether the collection holds what the model does, each chunk is found by its words and by its vector, and nothing else is.
fn agrees(collection: &Collection, model: &Model) -> Result<(), TestCaseError> {
    let documents: Vec<_> =
        collection.documents().unwrap().into_iter().map(|one| (one.document, one.chunks)).collect();
    let expected: Vec<_> =
        model.committed.iter().map(|(name, chunks)| (name.to_string(), chunks.len() as u32)).collect();
    prop_assert_eq!(documents, expected);
    let mut all: Vec<_> = model
        .committed
        .iter()
        .flat_map(|(name, chunks)| {
            chunks.iter().map(|(id, number)| (name.to_string(), id.to_string(), format!("note word{number}")))
        })
        .collect();
    all.sort();
    prop_assert_eq!(collection.count().unwrap(), all.len() as u64);
    for query in [words("note"), Query { vector: Some(vector(0)), ..Query::default() }] {
        let hits = collection.search(&Query { limit: 100, ..query }).unwrap();
        let mut found: Vec<_> = hits.into_iter().map(|hit| (hit.document, hit.id, hit.text)).collect();
        found.sort();
        prop_assert_eq!(&found, &all);
    }
    for number in model.committed.values().flat_map(|chunks| chunks.values()) {
        let word = format!("word{number}");
        let near = Query { vector: Some(vector(*number)), limit: 1, ..Query::default() };
        for query in [words(&word), near] {
            let first = &collection.search(&query).unwrap()[0];
            prop_assert!(first.text.ends_with(&word), "{} is not {}", first.text, word);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_calls_leaves_what_the_model_holds(calls in calls()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let open = || Store::open(&path, 1 << 24).unwrap();
        let mut store = open();
        let handles = |store: &Store| [0, 1].map(|_| store.collection("notes", 3).unwrap());
        let mut collections = handles(&store);
        let mut model = Model::default();
        for call in calls {
            match call {
                Call::Stage { handle, document, chunks } => {
                    let given: Vec<_> = chunks.iter().map(|(id, number)| chunk(&id.to_string(), &format!("note word{number}"))).collect();
                    let vectors: Vec<f32> = chunks.iter().flat_map(|(_, number)| vector(*number)).collect();
                    collections[handle].stage(&document.to_string(), &given, &vectors).unwrap();
                    model.staged[handle].entry(document).or_default().extend(chunks);
                }
                Call::Commit { handle, document } => {
                    let committed = collections[handle].commit(&document.to_string(), "f").is_ok();
                    prop_assert_eq!(committed, model.commit(handle, document));
                }
                Call::Remove { handle, document } => {
                    let removed = collections[handle].remove(&document.to_string()).unwrap();
                    prop_assert_eq!(removed, model.remove(handle, document) as u64);
                }
                Call::Release => drop(store.release_memory()),
                Call::Reopen { store: whole } => {
                    if whole {
                        drop((collections, store));
                        store = open();
                        collections = handles(&store);
                    } else {
                        // The old ones are dropped only then.
                        collections = handles(&store);
                    }
                    model.staged = Default::default();
                }
            }
            agrees(&collections[0], &model)?;
        }
        agrees(&collections[1], &model)?;
    }
}
