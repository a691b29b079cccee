//! What the pipeline asks of whoever runs it: the imports of the world `rag-pipeline`, as a trait. [`Ebb`] is the host that runs the
//! component, and the SDK's host in tests; a native program brings its own.

use ebb_plugin_sdk::{
    Error, Level, Setting,
    documents::{self, Document},
    inference::{self, GenerateOptions, Message, ModelInfo, Vectors},
    memory::{self, Arena},
    store::{self, Chunk, Hit, Query, StoredDocument},
};

/// A running generation. Dropping it ends it.
pub trait Generation {
    /// The next piece of text, or none at the end.
    ///
    /// # Errors
    /// Where the model fails.
    fn next(&mut self) -> Result<Option<String>, Error>;

    /// Ends it now.
    fn cancel(&mut self);
}

/// A collection of the store. What each call means, and fails with, is said in the SDK.
#[expect(missing_docs, reason = "each is the SDK's call of the same name")]
#[expect(clippy::missing_errors_doc, reason = "each is the SDK's call of the same name")]
pub trait Collection {
    fn stage(&self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error>;
    fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error>;
    fn remove(&self, document: &str) -> Result<u64, Error>;
    fn documents(&self) -> Result<Vec<StoredDocument>, Error>;
    fn search(&self, query: &Query) -> Result<Vec<Hit>, Error>;
    fn count(&self) -> Result<u64, Error>;
}

/// The host. What each call means, and fails with, is said in the SDK.
#[expect(missing_docs, reason = "each is the SDK's call of the same name")]
#[expect(clippy::missing_errors_doc, reason = "each is the SDK's call of the same name")]
pub trait Host {
    /// A running generation.
    type Generation: Generation;
    /// An open collection.
    type Collection: Collection;

    fn log(&self, level: Level, line: &str);
    /// A setting, as JSON.
    fn setting(&self, name: &str) -> Option<String>;
    fn progress(&self, fraction: f32, message: &str);

    fn granted(&self) -> Result<Vec<Document>, Error>;
    fn read(&self, id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error>;

    fn models(&self) -> Result<Vec<ModelInfo>, Error>;
    fn embed(&self, model: &str, texts: &[String]) -> Result<Vectors, Error>;
    fn count_tokens(&self, model: &str, texts: &[String]) -> Result<Vec<u32>, Error>;
    fn generate(
        &self,
        model: &str,
        messages: &[Message],
        options: &GenerateOptions,
    ) -> Result<Self::Generation, Error>;

    /// What a loaded model's arenas hold.
    fn arenas(&self, model: &str) -> Result<Vec<Arena>, Error>;
    /// Gives a loaded model's free memory back; says how many bytes went.
    fn shrink(&self, model: &str) -> Result<u64, Error>;

    fn open(&self, collection: &str, dimensions: u32) -> Result<Self::Collection, Error>;
    fn drop_collection(&self, name: &str) -> Result<bool, Error>;
    fn kv_get(&self, key: &str) -> Result<Option<Vec<u8>>, Error>;
    fn kv_set(&self, key: &str, value: &[u8]) -> Result<(), Error>;
    fn kv_delete(&self, key: &str) -> Result<(), Error>;
}

/// The host that runs this plugin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ebb;

impl Host for Ebb {
    type Generation = inference::Generation;
    type Collection = store::Collection;

    fn log(&self, level: Level, line: &str) {
        ebb_plugin_sdk::log(level, format_args!("{line}"));
    }

    fn setting(&self, name: &str) -> Option<String> {
        ebb_plugin_sdk::setting::<Json>(name).map(|json| json.0)
    }

    fn progress(&self, fraction: f32, message: &str) {
        ebb_plugin_sdk::progress(fraction, message);
    }

    fn granted(&self) -> Result<Vec<Document>, Error> {
        documents::granted()
    }

    fn read(&self, id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
        documents::read(id, offset, length)
    }

    fn models(&self) -> Result<Vec<ModelInfo>, Error> {
        inference::models()
    }

    fn embed(&self, model: &str, texts: &[String]) -> Result<Vectors, Error> {
        inference::embed(model, texts)
    }

    fn count_tokens(&self, model: &str, texts: &[String]) -> Result<Vec<u32>, Error> {
        inference::count_tokens(model, texts)
    }

    fn generate(
        &self,
        model: &str,
        messages: &[Message],
        options: &GenerateOptions,
    ) -> Result<Self::Generation, Error> {
        inference::generate(model, messages, options)
    }

    fn arenas(&self, model: &str) -> Result<Vec<Arena>, Error> {
        Ok(memory::latest(model)?.arenas)
    }

    fn shrink(&self, model: &str) -> Result<u64, Error> {
        Ok(memory::Runtime::open(model)?.shrink_arena(&[])?.freed_bytes)
    }

    fn open(&self, collection: &str, dimensions: u32) -> Result<Self::Collection, Error> {
        store::Collection::open(collection, dimensions)
    }

    fn drop_collection(&self, name: &str) -> Result<bool, Error> {
        store::drop_collection(name)
    }

    fn kv_get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        store::get(key)
    }

    fn kv_set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        store::set(key, value)
    }

    fn kv_delete(&self, key: &str) -> Result<(), Error> {
        store::delete(key)
    }
}

impl Generation for inference::Generation {
    fn next(&mut self) -> Result<Option<String>, Error> {
        Iterator::next(self).transpose()
    }

    fn cancel(&mut self) {
        inference::Generation::cancel(self);
    }
}

impl Collection for store::Collection {
    fn stage(&self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error> {
        store::Collection::stage(self, document, chunks, vectors)
    }

    fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error> {
        store::Collection::commit(self, document, fingerprint)
    }

    fn remove(&self, document: &str) -> Result<u64, Error> {
        store::Collection::remove(self, document)
    }

    fn documents(&self) -> Result<Vec<StoredDocument>, Error> {
        store::Collection::documents(self)
    }

    fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        store::Collection::search(self, query)
    }

    fn count(&self) -> Result<u64, Error> {
        store::Collection::count(self)
    }
}

/// The JSON of a setting, as it is.
struct Json(String);

impl Setting for Json {
    fn of_json(json: &str) -> Option<Self> {
        Some(Self(json.to_owned()))
    }
}
