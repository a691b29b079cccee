//! The calls of a plugin, answered by the host of its thread.

use std::collections::VecDeque;

use super::{Host, Model, models, store};
use crate::{
    Error, Level, Sample,
    documents::Document,
    inference::{GenerateOptions, Message, ModelInfo, Usage, Vectors},
    memory::ShrinkReport,
    store::{Chunk, Hit, Query, StoredDocument},
};

/// Begins a call. The settings of a test may change at any time.
pub(crate) fn begin(_at_ms: Option<u64>) {}

pub(crate) fn log(level: Level, line: &str) {
    Host::current().0.borrow_mut().logs.push((level, line.to_owned()));
}

pub(crate) fn setting(name: &str, read: &mut dyn FnMut(&str)) {
    let json = Host::current().0.borrow().settings.get(name).cloned();
    if let Some(json) = json {
        read(&json);
    }
}

pub(crate) fn progress(fraction: f32, message: &str) {
    Host::current().0.borrow_mut().progress.push((fraction, message.to_owned()));
}

pub(crate) fn now_ms() -> u64 {
    Host::current().0.borrow().now_ms
}

fn samples(model: &str) -> Result<Vec<Sample>, Error> {
    let host = Host::current();
    let samples = host.0.borrow().samples.get(model).cloned();
    samples.ok_or_else(|| Error::NotFound(format!("the model '{model}'")))
}

pub(crate) fn latest(model: &str) -> Result<Sample, Error> {
    Host::current().check("memory.read", format!("latest {model}"))?;
    samples(model)?.pop().ok_or_else(|| Error::NotFound(format!("a sample of '{model}'")))
}

pub(crate) fn history(model: &str, count: u32) -> Result<Vec<Sample>, Error> {
    Host::current().check("memory.read", format!("history {model}"))?;
    let mut samples = samples(model)?;
    Ok(samples.split_off(samples.len().saturating_sub(count as usize)))
}

#[derive(Debug)]
pub(crate) struct Runtime(String);

impl Runtime {
    pub(crate) fn open(model: &str) -> Result<Self, Error> {
        Host::current().check("memory.control", format!("open {model}"))?;
        Ok(Self(model.to_owned()))
    }

    /// All that is not in use comes back.
    pub(crate) fn shrink_arena(&self, devices: &[String]) -> Result<ShrinkReport, Error> {
        let host = Host::current();
        host.check("memory.control", format!("shrink-arena {}", self.0))?;
        let mut report = ShrinkReport {
            freed_bytes: 0,
            reserved_before_bytes: 0,
            reserved_after_bytes: 0,
            resident_before_bytes: 0,
            resident_after_bytes: 0,
            took_us: 1,
            targets: Vec::new(),
            dropped: Vec::new(),
            more: Vec::new(),
        };
        let mut state = host.0.borrow_mut();
        let Some(sample) = state.samples.get_mut(&self.0).and_then(|samples| samples.last_mut()) else {
            return Ok(report);
        };
        report.resident_before_bytes = sample.resident_bytes;
        for arena in
            sample.arenas.iter_mut().filter(|arena| devices.is_empty() || devices.contains(&arena.device))
        {
            report.targets.push(arena.device.clone());
            report.reserved_before_bytes += arena.reserved_bytes;
            report.freed_bytes += arena.slack_bytes();
            arena.reserved_bytes = arena.in_use_bytes;
            report.reserved_after_bytes += arena.reserved_bytes;
        }
        sample.resident_bytes = sample.resident_bytes.saturating_sub(report.freed_bytes);
        report.resident_after_bytes = sample.resident_bytes;
        Ok(report)
    }

    pub(crate) fn shrink_after_next_run(&self, _devices: &[String]) -> Result<(), Error> {
        Host::current().check("memory.control", format!("shrink-after-next-run {}", self.0))
    }

    pub(crate) fn set_runtime_option(&self, key: &str, value: Option<&str>) -> Result<(), Error> {
        let host = Host::current();
        host.check("memory.control", format!("set-runtime-option {} {key}", self.0))?;
        let mut state = host.0.borrow_mut();
        let options = state.options.entry(self.0.clone()).or_default();
        match value {
            Some(value) => options.insert(key.to_owned(), value.to_owned()),
            None => options.remove(key),
        };
        Ok(())
    }

    pub(crate) fn runtime_options(&self) -> Result<Vec<(String, String)>, Error> {
        let host = Host::current();
        host.check("memory.control", format!("runtime-options {}", self.0))?;
        let options = host.0.borrow().options.get(&self.0).cloned().unwrap_or_default();
        Ok(options.into_iter().collect())
    }
}

pub(crate) fn models() -> Result<Vec<ModelInfo>, Error> {
    let host = Host::current();
    let models = host.0.borrow().models.values().map(|model| model.info().clone()).collect();
    Ok(models)
}

fn model(alias: &str, kind: &str) -> Result<Model, Error> {
    let model = Host::current().0.borrow().models.get(alias).cloned();
    let model = model.ok_or_else(|| Error::NotFound(format!("the model '{alias}'")))?;
    match model.info().kind == kind {
        true => Ok(model),
        false => Err(Error::Invalid(format!("'{alias}' is of the kind {}, not {kind}", model.info().kind))),
    }
}

pub(crate) fn embed(alias: &str, texts: &[String]) -> Result<Vectors, Error> {
    Host::current().check("inference.embed", format!("embed {alias} {}", texts.len()))?;
    let model = model(alias, "embeddings")?;
    Vectors::new(&texts.iter().map(|text| model.vector(text)).collect::<Vec<_>>())
}

pub(crate) fn count_tokens(alias: &str, texts: &[String]) -> Result<Vec<u32>, Error> {
    let host = Host::current();
    if !host.0.borrow().models.contains_key(alias) {
        return Err(Error::NotFound(format!("the model '{alias}'")));
    }
    host.0.borrow_mut().calls.push(format!("count-tokens {alias} {}", texts.len()));
    Ok(texts.iter().map(|text| models::count_tokens(text)).collect())
}

pub(crate) fn transcribe(alias: &str, _samples: &[u8], _language: Option<&str>) -> Result<String, Error> {
    Host::current().check("inference.transcribe", format!("transcribe {alias}"))?;
    Ok(model(alias, "audio")?.says(&[]))
}

#[derive(Debug)]
pub(crate) struct Generation {
    pieces: VecDeque<String>,
    usage: Usage,
}

impl Generation {
    pub(crate) fn start(alias: &str, messages: &[Message], options: &GenerateOptions) -> Result<Self, Error> {
        Host::current().check("inference.generate", format!("generate {alias}"))?;
        let model = model(alias, "chat")?;
        let prompt_tokens = messages.iter().map(|message| models::count_tokens(&message.content)).sum();
        if let Some(most) = model.info().context_tokens.filter(|most| *most < prompt_tokens) {
            return Err(Error::Invalid(format!("the prompt has {prompt_tokens} tokens, {most} fit")));
        }
        let text = model.says(messages);
        let mut pieces: VecDeque<String> = text.split_inclusive(' ').map(str::to_owned).collect();
        if let Some(most) = options.max_tokens {
            pieces.truncate(most as usize);
        }
        Ok(Self { pieces, usage: Usage { prompt_tokens, completion_tokens: 0, finish: None } })
    }

    pub(crate) fn next(&mut self) -> Result<Option<String>, Error> {
        let piece = self.pieces.pop_front();
        match piece {
            Some(_) => self.usage.completion_tokens += 1,
            None => _ = self.usage.finish.get_or_insert_with(|| "stop".into()),
        }
        Ok(piece)
    }

    pub(crate) fn usage(&self) -> Result<Usage, Error> {
        Ok(self.usage.clone())
    }

    pub(crate) fn cancel(&mut self) {
        self.pieces.clear();
        self.usage.finish = Some("cancelled".into());
    }
}

#[derive(Debug)]
pub(crate) struct Collection(String);

impl Collection {
    pub(crate) fn open(name: &str, dimensions: u32) -> Result<Self, Error> {
        let host = Host::current();
        host.check("store", format!("open {name}"))?;
        host.0.borrow_mut().store.open(name, dimensions)?;
        Ok(Self(name.to_owned()))
    }

    fn with<R>(&self, call: &str, then: impl FnOnce(&mut store::Collection) -> R) -> Result<R, Error> {
        let host = Host::current();
        host.check("store", format!("{call} {}", self.0))?;
        let mut state = host.0.borrow_mut();
        state.store.collection(&self.0).map(then)
    }

    pub(crate) fn stage(&self, document: &str, chunks: &[Chunk], vectors: &Vectors) -> Result<(), Error> {
        self.with("stage", |collection| collection.stage(document, chunks, vectors))?
    }

    pub(crate) fn commit(&self, document: &str, fingerprint: &str) -> Result<(), Error> {
        self.with("commit", |collection| collection.commit(document, fingerprint))
    }

    pub(crate) fn remove(&self, document: &str) -> Result<u64, Error> {
        self.with("remove", |collection| collection.remove(document))
    }

    pub(crate) fn documents(&self) -> Result<Vec<StoredDocument>, Error> {
        self.with("documents", |collection| collection.documents())
    }

    pub(crate) fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        self.with("search", |collection| collection.search(query))?
    }

    pub(crate) fn count(&self) -> Result<u64, Error> {
        self.with("count", |collection| collection.count())
    }
}

fn in_store<R>(call: String, then: impl FnOnce(&mut store::Store) -> R) -> Result<R, Error> {
    let host = Host::current();
    host.check("store", call)?;
    let mut state = host.0.borrow_mut();
    Ok(then(&mut state.store))
}

pub(crate) fn drop_collection(name: &str) -> Result<bool, Error> {
    in_store(format!("drop-collection {name}"), |store| store.collections.remove(name).is_some())
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    in_store(format!("kv-get {key}"), |store| store.values.get(key).cloned())
}

pub(crate) fn kv_set(key: &str, value: &[u8]) -> Result<(), Error> {
    in_store(format!("kv-set {key}"), |store| _ = store.values.insert(key.to_owned(), value.to_vec()))
}

pub(crate) fn kv_delete(key: &str) -> Result<(), Error> {
    in_store(format!("kv-delete {key}"), |store| _ = store.values.remove(key))
}

pub(crate) fn granted() -> Result<Vec<Document>, Error> {
    let host = Host::current();
    host.check("documents", "granted".into())?;
    let documents = host.0.borrow().documents.values().map(|(document, _)| document.clone()).collect();
    Ok(documents)
}

pub(crate) fn read(id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
    let host = Host::current();
    host.check("documents", format!("read {id}"))?;
    let state = host.0.borrow();
    let (_, content) =
        state.documents.get(id).ok_or_else(|| Error::NotFound(format!("the document '{id}'")))?;
    let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(content.len());
    Ok(content[within(offset)..within(offset.saturating_add(length))].to_vec())
}
