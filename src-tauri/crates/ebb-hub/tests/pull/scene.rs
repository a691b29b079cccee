//! A Hub, a folder for models, and what is known of a download.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use ebb_hub::{Error, Hub, Patience, Plan, Progress, Pulled, Settings, Token, Work};
use tempfile::TempDir;

use crate::server::Server;

pub(crate) const MODEL: &str = "onnx/model.onnx";

/// A Hub with an embedding model, and where it will lie.
pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) models: TempDir,
}

impl Scene {
    /// A model file of so many bytes, and companions.
    pub(crate) async fn new(model_bytes: usize) -> Self {
        let server = Server::start().await;
        let files = [
            ("README.md", b"# a model".to_vec()),
            ("config.json", b"{}".to_vec()),
            ("tokenizer.json", br#"{"model": {}}"#.to_vec()),
            ("tokenizer_config.json", b"{\"a\": 1}".to_vec()),
            (MODEL, content(model_bytes)),
        ];
        server.state().files = files.map(|(name, content)| (name.to_owned(), content)).into();
        Self { server, models: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn hub(&self, token: Option<&str>) -> Hub {
        let patience = Patience {
            failures: 3,
            first_wait: Duration::from_millis(5),
            longest_wait: Duration::from_millis(20),
            silence: Duration::from_secs(10),
        };
        let settings = Settings::at(&self.server.url).unwrap();
        Hub::new(Settings { token: token.and_then(Token::new), patience, ..settings })
    }

    pub(crate) async fn plan(&self, reference: &str) -> Result<Plan, Error> {
        self.hub(None).plan(&reference.parse().unwrap(), None).await
    }

    /// Pulls `org/Name`, and tells what it waited for.
    pub(crate) async fn pull(&self, force: bool) -> (Result<Pulled, Error>, Vec<(u64, String)>) {
        let mut waits = Vec::new();
        let mut progress = |at: Progress| {
            assert!(at.done_bytes <= at.total_bytes, "{at:?}");
            if let Work::Waiting { wait_ms, reason } = at.work {
                waits.push((wait_ms, reason));
            }
        };
        let plan = self.plan("hf:org/Name").await.unwrap();
        let pulled = self.hub(None).pull(&plan, self.models.path(), force, &mut progress).await;
        (pulled, waits)
    }

    /// Where the model will be.
    pub(crate) fn folder(&self) -> PathBuf {
        self.models.path().join("org--Name")
    }

    /// Files that are not whole yet.
    pub(crate) fn parts(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, parts: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, parts);
                } else if path.extension().is_some_and(|end| end == "part") {
                    parts.push(path);
                }
            }
        }
        let mut parts = Vec::new();
        walk(self.models.path(), &mut parts);
        parts
    }

    pub(crate) fn model(&self) -> Vec<u8> {
        fs::read(self.folder().join(MODEL)).unwrap()
    }
}

/// Bytes that are different everywhere.
pub(crate) fn content(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..bytes).map(next).collect()
}
