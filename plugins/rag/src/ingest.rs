//! Brings the index up to date with the documents: reads what is new or changed, embeds it in batches that mind the model's memory,
//! and replaces each document at once. What was done is kept, however the call ends.

use std::collections::{HashMap, HashSet};

use ebb_plugin_sdk::{Error, Ingested, Level, documents::Document};
use sha2::{Digest, Sha256};

use crate::{
    chunk::{Size, chunks},
    extract::{Limits, extract},
    host::{Collection, Host},
    index::{self, Index, hex},
    load::Load,
    marker::Suspects,
    models::{self, Use},
    queue::{Queue, Text},
    settings::Settings,
};

/// What a document's text and its cutting depend on, besides the document and the settings: counts up when one of them changes.
const RECIPE: u32 = 1;
/// Bytes that are read at once.
const PART_BYTES: u64 = 1 << 20;
/// Tokens that models add to each text.
const SPECIAL_TOKENS: u32 = 4;

/// Brings the index up to date.
///
/// # Errors
/// What keeps the whole of it from going on: a capability that was not granted, a model that fails, a store that is full. What
/// was committed before stays.
pub fn ingest(host: &impl Host) -> Result<Ingested, Error> {
    let settings = Settings::read(host);
    let granted = host.granted()?;
    host.progress(0.0, "loading the embedding model");
    let model = models::pick(host, &settings.embedding_model, Use::Embed)?;
    let index = index::open(host, &model)?;
    let mut run = Run::new(host, settings, model, index)?;
    run.remove_all_but(&granted)?;

    let (suspects, others): (Vec<_>, Vec<_>) =
        granted.iter().partition(|document| run.suspects.suspects(&document.id));
    let whole: u64 = granted.iter().map(|document| document.size_bytes.max(1)).sum();
    let mut done = 0;
    for documents in [others, suspects] {
        for document in documents {
            host.progress(done as f32 / whole as f32, &document.name);
            run.document(document)?;
            done += document.size_bytes.max(1);
        }
        // What the others hold is kept before a suspect can end the call.
        run.queue.work(&run.index.collection, true)?;
    }
    run.finish()
}

/// An ingest under way.
struct Run<'a, H: Host> {
    host: &'a H,
    settings: Settings,
    index: Index<H::Collection>,
    /// Document and fingerprint of what the index holds.
    stored: HashMap<String, String>,
    suspects: Suspects,
    size: Size,
    queue: Queue<'a, H>,
    report: Ingested,
    read_bytes: u64,
}

impl<'a, H: Host> Run<'a, H> {
    fn new(
        host: &'a H,
        settings: Settings,
        model: String,
        index: Index<H::Collection>,
    ) -> Result<Self, Error> {
        let stored = index.collection.documents()?;
        // Known now that the model is in memory.
        let context = models::info(host, &model)?.context_tokens.unwrap_or(u32::MAX);
        let tokens = settings.chunk_tokens.min(context.saturating_sub(SPECIAL_TOKENS)).max(16);
        let size = Size { tokens, overlap: tokens * settings.overlap_percent / 100 };
        let queue =
            Queue::new(host, model, settings.passage_prefix.clone(), Load::new(settings.batch_tokens));
        Ok(Self {
            host,
            settings,
            index,
            stored: stored.into_iter().map(|one| (one.document, one.fingerprint)).collect(),
            suspects: Suspects::read(host)?,
            size,
            queue,
            report: Ingested::default(),
            read_bytes: 0,
        })
    }

    /// Removes what is no longer granted.
    fn remove_all_but(&mut self, granted: &[Document]) -> Result<(), Error> {
        let granted: HashSet<&str> = granted.iter().map(|document| &document.id[..]).collect();
        let gone: Vec<String> = self.stored.keys().filter(|id| !granted.contains(&id[..])).cloned().collect();
        for id in gone {
            self.index.collection.remove(&id)?;
            self.stored.remove(&id);
            self.report.removed += 1;
        }
        Ok(())
    }

    /// Brings one document up to date.
    fn document(&mut self, document: &Document) -> Result<(), Error> {
        let bytes = match self.read(document)? {
            Ok(bytes) => bytes,
            Err(reason) => return self.skip(document, reason),
        };
        let content = hex(&Sha256::digest(&bytes));
        let fingerprint = self.fingerprint(&content);
        if self.stored.get(&document.id) == Some(&fingerprint) {
            self.report.unchanged += 1;
            return Ok(());
        }
        if let Some(reason) = self.suspects.against(&document.id, &content) {
            return self.skip(document, reason.to_owned());
        }
        self.suspects.begin(self.host, &document.id, &content)?;
        let extracted = extract(&document.media_type, &document.name, &bytes, &Limits::default());
        self.suspects.end(self.host, &document.id)?;
        drop(bytes);
        let extracted = match extracted {
            Ok(extracted) => extracted,
            Err(reason) => return self.skip(document, reason.to_string()),
        };
        let model = self.queue.model().to_owned();
        let count = |texts: &[String]| self.host.count_tokens(&model, texts);
        let chunks = chunks(&extracted, &document.name, self.size, count)?;
        self.report.chunks += chunks.len() as u32;
        self.queue.begin(&document.id, fingerprint, chunks.len());
        for (number, chunk) in chunks.into_iter().enumerate() {
            self.queue.push(Text::new(number, &document.name, chunk, &extracted.text));
            self.queue.work(&self.index.collection, false)?;
        }
        Ok(())
    }

    /// A document's bytes, part by part; a reason where it alone cannot be read.
    fn read(&mut self, document: &Document) -> Result<Result<Vec<u8>, String>, Error> {
        let most = self.settings.max_document_bytes;
        let too_large =
            || Ok(Err(format!("it is larger than {} MiB, the setting max-document-mb", most >> 20)));
        if document.size_bytes > most {
            return too_large();
        }
        let mut bytes = Vec::with_capacity(document.size_bytes as usize);
        loop {
            match self.host.read(&document.id, bytes.len() as u64, PART_BYTES) {
                Ok(part) if part.is_empty() => break,
                Ok(part) => bytes.extend(part),
                Err(error @ (Error::Denied(_) | Error::Cancelled | Error::Busy(_))) => return Err(error),
                Err(error) => return Ok(Err(error.to_string())),
            }
            if bytes.len() as u64 > most {
                return too_large();
            }
        }
        self.read_bytes += bytes.len() as u64;
        Ok(Ok(bytes))
    }

    /// What the chunks of a content depend on.
    fn fingerprint(&self, content: &str) -> String {
        let prefix = hex(&Sha256::digest(&self.settings.passage_prefix));
        format!("{content}/{RECIPE}/{}/{}/{}", self.size.tokens, self.size.overlap, &prefix[..8])
    }

    /// Leaves a document out, and what was known of it: it says that no longer.
    fn skip(&mut self, document: &Document, reason: String) -> Result<(), Error> {
        if self.stored.remove(&document.id).is_some() {
            self.index.collection.remove(&document.id)?;
        }
        self.host.log(Level::Warn, &format!("{} is left out: {reason}", document.name));
        self.report.skipped.push((document.name.clone(), reason));
        Ok(())
    }

    fn finish(mut self) -> Result<Ingested, Error> {
        self.report.documents = self.queue.committed();
        let dropped = index::drop_others(self.host, &self.index)?;
        let mut more = vec![
            ("read_bytes".to_owned(), self.read_bytes),
            ("embedded_tokens".to_owned(), self.queue.tokens()),
            ("batches".to_owned(), self.queue.batches()),
            ("dropped_collections".to_owned(), dropped),
        ];
        if self.settings.shrink_after_ingest && self.queue.batches() > 0 {
            match self.host.shrink(self.queue.model()) {
                Ok(freed) => more.push(("freed_bytes".to_owned(), freed)),
                Err(error) => self.host.log(Level::Info, &format!("no memory was given back: {error}")),
            }
        }
        self.report.more = more;
        self.host.progress(1.0, "done");
        Ok(self.report)
    }
}

#[cfg(test)]
mod tests;
