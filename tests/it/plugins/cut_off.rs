//! A host that is killed in the middle of an ingest: nothing is lost, nothing is there by half, nothing is there twice.

use std::{fmt::Write as _, fs, path::PathBuf};

use ebb_client::Client;
use ebb_core::{
    Places,
    operations::{IngestPiece, IngestReport, PluginIndex},
};
use ebb_store::{Query, Store};
use ebb_tests::home::{Home, real_model};
use futures_util::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};

const DOCUMENTS: usize = 90;

/// Words that only one version of the documents has.
const OLD: &str = "heron";
const NEW: &str = "kingfisher";

/// Larger than any document here; the quota of the plugin's store.
const QUOTA_BYTES: u64 = 1 << 32;

/// A real host in a home of its own, with MiniLM and a folder of documents that `rag` may read.
struct Scene {
    home: Home,
    documents: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let documents = home.path().join("notes");
        fs::create_dir(&documents).unwrap();
        let (model, folder) = (real_model("minilm"), documents.to_str().unwrap());
        home.ok(["model", "add", model.to_str().unwrap(), "--alias", "minilm"]);
        home.ok(["plugin", "grant", "rag", "all", "--model", "minilm", "--path", folder]);
        // Small batches: documents end within them, and many are committed.
        home.ok(["plugin", "settings", "rag", "chunk-tokens=64", "batch-tokens=256"]);
        Self { home, documents }
    }

    /// Writes every document anew. All say the same, so that all have as many chunks.
    fn write(&self, word: &str, sentences: usize) {
        let mut text = "# Birds\n\n".to_owned();
        for day in 0..sentences {
            write!(text, "On day {day} a {word} sat on the weir below the mill, and stayed for an hour. ")
                .unwrap();
        }
        for number in 0..DOCUMENTS {
            fs::write(self.documents.join(format!("note-{number:03}.md")), &text).unwrap();
        }
    }

    fn client(&self) -> Client {
        let home = self.home.path().to_owned();
        Client::connect_in(&Places { cache: home.join("cache"), home }).unwrap()
    }

    async fn ingest(&self) -> IngestReport {
        self.client().plugin("rag").ingest().await.unwrap().report().await.unwrap()
    }

    async fn index(&self) -> PluginIndex {
        self.client().plugin("rag").index().await.unwrap()
    }

    /// Begins an ingest, and kills the host once it says that it is so far.
    async fn kill_at(&self, fraction: f32) {
        let client = self.client();
        let host = client.status().await.unwrap().pid.unwrap();
        let mut pieces = client.plugin("rag").ingest().await.unwrap();
        loop {
            match pieces.next().await.expect("it goes on").unwrap() {
                IngestPiece::Progress(progress) if progress.fraction >= fraction => break,
                IngestPiece::Progress(_) => {}
                piece => panic!("it was too fast: {piece:?}"),
            }
        }
        kill_process(Pid::from_raw(host as i32).unwrap(), Signal::KILL).unwrap();
        // What was on its way arrives; then the connection ends without a report.
        while let Some(Ok(piece)) = pieces.next().await {
            assert!(matches!(piece, IngestPiece::Progress(_)), "{piece:?}");
        }
    }

    /// The documents of each version in the store of a host that is gone. Each must be whole.
    fn versions(&self, old_chunks: u32, new_chunks: u32) -> (usize, usize) {
        let store = Store::open(&self.home.path().join("plugins/rag/store.sqlite"), QUOTA_BYTES).unwrap();
        let state = store.collections().unwrap().remove(0);
        let collection = store.collection(&state.name, state.dimensions).unwrap();
        let (mut old, mut new, mut chunks) = (0, 0, 0);
        for stored in collection.documents().unwrap() {
            // Every chunk says on which day something sat on the weir.
            let query = Query {
                text: Some("weir".to_owned()),
                limit: 100,
                documents: vec![stored.document.clone()],
                ..Query::default()
            };
            let hits = collection.search(&query).unwrap();
            let of = |word: &str| hits.iter().filter(|hit| hit.text.contains(word)).count() as u32;
            match (of(OLD), of(NEW)) {
                (chunks, 0) if chunks == old_chunks => old += 1,
                (0, chunks) if chunks == new_chunks => new += 1,
                found => panic!("{stored:?} is of both or by half: {found:?}"),
            }
            assert_eq!(stored.chunks as usize, hits.len(), "{stored:?}");
            chunks += u64::from(stored.chunks);
        }
        assert_eq!(collection.count().unwrap(), chunks);
        (old, new)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_in_the_middle_of_an_ingest_leaves_whole_documents() {
    let scene = Scene::new();
    scene.write(OLD, 6);

    // The first ingest is cut off, and the next host finishes it.
    scene.kill_at(0.3).await;
    scene.home.ok(["server", "start"]);
    let kept = scene.index().await.collections.remove(0);
    assert!((1..DOCUMENTS as u64).contains(&kept.documents), "{kept:?}");
    let report = scene.ingest().await;
    assert_eq!(u64::from(report.unchanged), kept.documents, "{report:?}");
    assert_eq!((report.documents + report.unchanged, report.removed), (DOCUMENTS as u32, 0));
    assert!(report.skipped.is_empty(), "{report:?}");
    let whole = scene.index().await.collections.remove(0);
    assert_eq!(whole.documents, DOCUMENTS as u64);
    let old_chunks = (whole.chunks / whole.documents) as u32;
    assert_eq!(u64::from(report.chunks) + kept.chunks, whole.chunks);
    assert!(old_chunks >= 2 && u64::from(old_chunks) * whole.documents == whole.chunks, "{whole:?}");

    // A later one replaces documents, each of them at once.
    scene.write(NEW, 10);
    scene.kill_at(0.5).await;
    let new_chunks = chunks_of_the_new(&scene);
    let (old, new) = scene.versions(old_chunks, new_chunks);
    assert!(old > 0 && new > 0 && old + new == DOCUMENTS, "{old} old and {new} new");

    scene.home.ok(["server", "start"]);
    let report = scene.ingest().await;
    assert_eq!((report.documents as usize, report.unchanged as usize, report.removed), (old, new, 0));
    let last = scene.index().await.collections.remove(0);
    assert_eq!((last.documents, last.chunks), (DOCUMENTS as u64, u64::from(new_chunks) * DOCUMENTS as u64));
    let report = scene.ingest().await;
    assert_eq!((report.documents, report.unchanged as usize), (0, DOCUMENTS));
    scene.home.ok(["server", "stop"]);
    assert_eq!(scene.versions(old_chunks, new_chunks), (0, DOCUMENTS));
}

/// The most that any document of the store has: the new ones are longer, and all alike.
fn chunks_of_the_new(scene: &Scene) -> u32 {
    let store = Store::open(&scene.home.path().join("plugins/rag/store.sqlite"), QUOTA_BYTES).unwrap();
    let state = store.collections().unwrap().remove(0);
    let collection = store.collection(&state.name, state.dimensions).unwrap();
    collection.documents().unwrap().iter().map(|stored| stored.chunks).max().unwrap()
}
