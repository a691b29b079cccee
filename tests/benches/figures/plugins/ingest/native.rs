//! The host of the pipeline where there is no sandbox: its calls go straight to the model, the store and the files.

use std::{
    fmt::Display,
    fs,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use ebb_plugin_sdk::{
    Error, Level,
    documents::Document,
    inference::{GenerateOptions, Message, ModelInfo, Vectors},
    memory::Arena,
    store::{Chunk, Hit, Query, StoredDocument},
};
use ebb_plugins::{Models, PluginFuture};
use ebb_store::Store;
use tokio::runtime::Handle;

use super::local::Local;

/// As large as nothing here becomes.
const QUOTA_BYTES: u64 = 4 << 30;

pub(super) struct Native<'a> {
    models: &'a Local,
    runtime: &'a Handle,
    store: Store,
    documents: &'a Path,
}

impl<'a> Native<'a> {
    pub(super) fn open(store: &Path, documents: &'a Path, models: &'a Local, runtime: &'a Handle) -> Self {
        Self { models, runtime, store: Store::open(store, QUOTA_BYTES).expect("a store"), documents }
    }

    fn answered<T>(&self, call: PluginFuture<'_, T>) -> Result<T, Error> {
        self.runtime.block_on(call).map_err(failed)
    }
}

fn failed(error: impl Display) -> Error {
    Error::Failed(error.to_string())
}

/// No answer is written here.
pub(super) enum Nothing {}

impl rag::host::Generation for Nothing {
    fn next(&mut self) -> Result<Option<String>, Error> {
        match *self {}
    }

    fn cancel(&mut self) {
        match *self {}
    }
}

impl rag::Host for Native<'_> {
    type Generation = Nothing;
    type Collection = Stored;

    fn log(&self, _: Level, _: &str) {}

    fn setting(&self, _: &str) -> Option<String> {
        // At its default.
        None
    }

    fn progress(&self, _: f32, _: &str) {}

    fn granted(&self) -> Result<Vec<Document>, Error> {
        let mut found = Vec::new();
        walk(self.documents, "docs", &mut found).map_err(failed)?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    fn read(&self, id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
        part(Path::new(id), offset, length).map_err(failed)
    }

    fn models(&self) -> Result<Vec<ModelInfo>, Error> {
        let info = |model: ebb_plugins::ModelSummary| ModelInfo {
            alias: model.alias,
            kind: "embeddings".to_owned(),
            loaded: model.loaded,
            provider: model.provider,
            context_tokens: model.context_tokens,
            dimensions: model.dimensions,
            more: Vec::new(),
        };
        Ok(self.models.list().into_iter().map(info).collect())
    }

    fn embed(&self, model: &str, texts: &[String]) -> Result<Vectors, Error> {
        let vectors = self.answered(self.models.embed(model, texts.to_vec()))?;
        Ok(Vectors { dimensions: vectors.dimensions, count: vectors.count, data: vectors.data.into() })
    }

    fn count_tokens(&self, model: &str, texts: &[String]) -> Result<Vec<u32>, Error> {
        self.answered(self.models.count_tokens(model, texts.to_vec()))
    }

    fn generate(&self, _: &str, _: &[Message], _: &GenerateOptions) -> Result<Nothing, Error> {
        Err(Error::Denied("inference.generate".to_owned()))
    }

    fn arenas(&self, model: &str) -> Result<Vec<Arena>, Error> {
        let sample = self.models.latest(model).map_err(failed)?;
        let arena = |arena: ebb_core::ArenaSample| Arena {
            device: arena.device.to_string(),
            in_use_bytes: arena.in_use_bytes,
            reserved_bytes: arena.reserved_bytes,
            peak_in_use_bytes: arena.peak_in_use_bytes,
            limit_bytes: arena.limit_bytes,
            regions: arena.regions,
            shrinkages: arena.shrinkages,
        };
        Ok(sample.arenas.into_iter().map(arena).collect())
    }

    fn shrink(&self, model: &str) -> Result<u64, Error> {
        Ok(self.answered(self.models.shrink(model, None))?.freed_bytes)
    }

    fn open(&self, collection: &str, dimensions: u32) -> Result<Stored, Error> {
        self.store.collection(collection, dimensions).map(Stored).map_err(failed)
    }

    fn drop_collection(&self, name: &str) -> Result<bool, Error> {
        self.store.drop_collection(name).map_err(failed)
    }

    fn kv_get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        self.store.kv_get(key).map_err(failed)
    }

    fn kv_set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        self.store.kv_set(key, value).map_err(failed)
    }

    fn kv_delete(&self, key: &str) -> Result<(), Error> {
        self.store.kv_delete(key).map_err(failed)
    }
}

/// An open collection.
pub(super) struct Stored(ebb_store::Collection);

impl rag::host::Collection for Stored {
    fn stage(&self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error> {
        let stored = |chunk: &Chunk| ebb_store::Chunk {
            id: chunk.id.clone(),
            text: chunk.text.clone(),
            metadata: chunk.metadata.clone(),
        };
        let chunks: Vec<ebb_store::Chunk> = chunks.iter().map(stored).collect();
        self.0.stage(document, &chunks, &numbers(vectors)).map_err(failed)
    }

    fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error> {
        self.0.commit(document, fingerprint).map_err(failed)
    }

    fn remove(&self, document: &str) -> Result<u64, Error> {
        self.0.remove(document).map_err(failed)
    }

    fn documents(&self) -> Result<Vec<StoredDocument>, Error> {
        let told = |one: ebb_store::StoredDocument| StoredDocument {
            document: one.document,
            fingerprint: one.fingerprint,
            chunks: one.chunks,
        };
        Ok(self.0.documents().map_err(failed)?.into_iter().map(told).collect())
    }

    fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        let query = ebb_store::Query {
            text: query.text.clone(),
            vector: query.vector.as_ref().map(numbers),
            limit: query.limit,
            documents: query.documents.clone(),
        };
        let told = |hit: ebb_store::Hit| Hit {
            document: hit.document,
            id: hit.id,
            text: hit.text,
            metadata: hit.metadata,
            score: hit.score,
        };
        Ok(self.0.search(&query).map_err(failed)?.into_iter().map(told).collect())
    }

    fn count(&self) -> Result<u64, Error> {
        self.0.count().map_err(failed)
    }
}

fn numbers(vectors: &Vectors) -> Vec<f32> {
    vectors.data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn walk(folder: &Path, name: &str, found: &mut Vec<Document>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, about) = (entry.path(), entry.metadata()?);
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if about.is_dir() {
            walk(&path, &name, found)?;
        } else {
            let id = path.to_string_lossy().into_owned();
            let media_type = media_type(&path).to_owned();
            // No pipeline of ours asks when it was changed.
            found.push(Document { id, name, media_type, size_bytes: about.len(), modified_ms: 0 });
        }
    }
    Ok(())
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => "text/markdown",
        Some("txt") => "text/plain",
        Some("html") => "text/html",
        Some("pdf") => "application/pdf",
        _ => "application/octet-stream",
    }
}

fn part(path: &Path, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
