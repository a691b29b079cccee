//! The host as a component reaches it.

use std::cell::RefCell;

pub(crate) use crate::bindings::plugin_host::{now_ms, progress};
use crate::{
    Error,
    bindings::{
        documents::{self, Document},
        inference::{self, GenerateOptions, Message, Usage},
        memory_control::{self, ShrinkReport},
        memory_stats::{self, Sample},
        plugin_host::{self, Level},
        store::{self, Chunk, Hit, Query, StoredDocument},
        types::{ModelInfo, Vectors},
    },
    known::Known,
};

thread_local! {
    static SETTINGS: RefCell<Known> = const { RefCell::new(Known::new()) };
}

/// Begins a call: of a policy, at a moment of its model's life.
pub(crate) fn begin(at_ms: Option<u64>) {
    SETTINGS.with_borrow_mut(|known| known.begin(at_ms));
}

/// Has a setting read as JSON, without a copy where it is known already.
pub(crate) fn setting(name: &str, read: &mut dyn FnMut(&str)) {
    SETTINGS.with_borrow_mut(|known| {
        if let Some(json) = known.get(name, plugin_host::setting) {
            read(json);
        }
    });
}

pub(crate) fn log(level: Level, line: &str) {
    plugin_host::log(level, line);
}

pub(crate) fn latest(model: &str) -> Result<Sample, Error> {
    Ok(memory_stats::latest(model)?)
}

pub(crate) fn history(model: &str, count: u32) -> Result<Vec<Sample>, Error> {
    Ok(memory_stats::history(model, count)?)
}

#[derive(Debug)]
pub(crate) struct Runtime(memory_control::Runtime);

impl Runtime {
    pub(crate) fn open(model: &str) -> Result<Self, Error> {
        Ok(Self(memory_control::Runtime::open(model)?))
    }

    pub(crate) fn shrink_arena(&self, devices: &[String]) -> Result<ShrinkReport, Error> {
        Ok(self.0.shrink_arena(devices)?)
    }

    pub(crate) fn shrink_after_next_run(&self, devices: &[String]) -> Result<(), Error> {
        Ok(self.0.shrink_after_next_run(devices)?)
    }

    pub(crate) fn set_runtime_option(&self, key: &str, value: Option<&str>) -> Result<(), Error> {
        Ok(self.0.set_runtime_option(key, value)?)
    }

    pub(crate) fn runtime_options(&self) -> Result<Vec<(String, String)>, Error> {
        Ok(self.0.runtime_options()?)
    }
}

pub(crate) fn models() -> Result<Vec<ModelInfo>, Error> {
    Ok(inference::models()?)
}

pub(crate) fn embed(model: &str, texts: &[String]) -> Result<Vectors, Error> {
    Ok(inference::embed(model, texts)?)
}

pub(crate) fn count_tokens(model: &str, texts: &[String]) -> Result<Vec<u32>, Error> {
    Ok(inference::count_tokens(model, texts)?)
}

pub(crate) fn transcribe(model: &str, samples: &[u8], language: Option<&str>) -> Result<String, Error> {
    Ok(inference::transcribe(model, samples, language)?)
}

#[derive(Debug)]
pub(crate) struct Generation(inference::Generation);

impl Generation {
    pub(crate) fn start(model: &str, messages: &[Message], options: &GenerateOptions) -> Result<Self, Error> {
        Ok(Self(inference::Generation::start(model, messages, options)?))
    }

    pub(crate) fn next(&mut self) -> Result<Option<String>, Error> {
        Ok(self.0.next()?)
    }

    pub(crate) fn usage(&self) -> Result<Usage, Error> {
        Ok(self.0.usage()?)
    }

    pub(crate) fn cancel(&mut self) {
        self.0.cancel();
    }
}

#[derive(Debug)]
pub(crate) struct Collection(store::Collection);

impl Collection {
    pub(crate) fn open(name: &str, dimensions: u32) -> Result<Self, Error> {
        Ok(Self(store::Collection::open(name, dimensions)?))
    }

    pub(crate) fn stage(&self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error> {
        Ok(self.0.stage(document, chunks, vectors)?)
    }

    pub(crate) fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error> {
        Ok(self.0.commit(document, fingerprint)?)
    }

    pub(crate) fn remove(&self, document: &str) -> Result<u64, Error> {
        Ok(self.0.remove(document)?)
    }

    pub(crate) fn documents(&self) -> Result<Vec<StoredDocument>, Error> {
        Ok(self.0.documents()?)
    }

    pub(crate) fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        Ok(self.0.search(query)?)
    }

    pub(crate) fn count(&self) -> Result<u64, Error> {
        Ok(self.0.count()?)
    }
}

pub(crate) fn drop_collection(name: &str) -> Result<bool, Error> {
    Ok(store::drop_collection(name)?)
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(store::kv_get(key)?)
}

pub(crate) fn kv_set(key: &str, value: &[u8]) -> Result<(), Error> {
    Ok(store::kv_set(key, value)?)
}

pub(crate) fn kv_delete(key: &str) -> Result<(), Error> {
    Ok(store::kv_delete(key)?)
}

pub(crate) fn granted() -> Result<Vec<Document>, Error> {
    Ok(documents::granted()?)
}

pub(crate) fn read(id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
    Ok(documents::read(id, offset, length)?)
}
