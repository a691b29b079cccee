//! Chunks on their way into the index: embedded in batches across documents, staged as they come, and committed document by
//! document.

use std::collections::VecDeque;

use ebb_plugin_sdk::{Error, Level, store};

use crate::{
    chunk::{Chunk, Metadata},
    host::{Collection, Host},
    load::Load,
};

/// A chunk with all that is stored of it.
#[derive(Debug)]
pub(crate) struct Text {
    stored: store::Chunk,
    tokens: u32,
}

impl Text {
    /// The `number`th chunk of a document, cut from its text.
    pub(crate) fn new(number: usize, name: &str, chunk: Chunk, text: &str) -> Self {
        let Chunk { range, context, tokens, page } = chunk;
        let (start, end) = (range.start as u64, range.end as u64);
        let context = if context.is_empty() { context } else { context + "\n" };
        let metadata = Metadata { name: name.to_owned(), start, end, skip: context.len(), page };
        let metadata = serde_json::to_string(&metadata).unwrap_or_default();
        let text = context + &text[range];
        Self { stored: store::Chunk { id: format!("{number:06}"), text, metadata }, tokens }
    }
}

/// A document of which chunks wait.
#[derive(Debug)]
struct Open {
    id: String,
    fingerprint: String,
    left: usize,
}

/// Chunks that wait.
pub(crate) struct Queue<'a, H: Host> {
    host: &'a H,
    model: String,
    prefix: String,
    load: Load,
    waiting: VecDeque<Text>,
    waiting_tokens: u64,
    /// The documents that they belong to, in the same order.
    open: VecDeque<Open>,
    committed: u32,
    tokens: u64,
    batches: u64,
    /// Memory is not to be minded where it may not be read: said once.
    is_blind: bool,
}

impl<'a, H: Host> Queue<'a, H> {
    pub(crate) fn new(host: &'a H, model: String, prefix: String, load: Load) -> Self {
        Self {
            host,
            model,
            prefix,
            load,
            waiting: VecDeque::new(),
            waiting_tokens: 0,
            open: VecDeque::new(),
            committed: 0,
            tokens: 0,
            batches: 0,
            is_blind: false,
        }
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Documents that were committed.
    pub(crate) fn committed(&self) -> u32 {
        self.committed
    }

    /// Tokens that were embedded.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Calls that it took.
    pub(crate) fn batches(&self) -> u64 {
        self.batches
    }

    /// A document of so many chunks follows.
    pub(crate) fn begin(&mut self, id: &str, fingerprint: String, chunks: usize) {
        self.open.push_back(Open { id: id.to_owned(), fingerprint, left: chunks });
    }

    /// The next chunk of the document that was begun last.
    pub(crate) fn push(&mut self, text: Text) {
        self.waiting_tokens += u64::from(text.tokens);
        self.waiting.push_back(text);
    }

    /// Embeds and stages what waits: full batches, and the rest if it is `all` that comes.
    pub(crate) fn work(&mut self, collection: &H::Collection, all: bool) -> Result<(), Error> {
        while self.waiting_tokens >= u64::from(self.load.tokens()) || all && !self.waiting.is_empty() {
            self.batch(collection)?;
        }
        Ok(())
    }

    fn batch(&mut self, collection: &H::Collection) -> Result<(), Error> {
        let count = self.load.next(self.waiting.iter().map(|text| text.tokens));
        let batch: Vec<Text> = self.waiting.drain(..count).collect();
        let tokens: u64 = batch.iter().map(|text| u64::from(text.tokens)).sum();
        self.waiting_tokens -= tokens;
        let texts: Vec<String> =
            batch.iter().map(|text| format!("{}{}", self.prefix, text.stored.text)).collect();
        let vectors = match self.host.embed(&self.model, &texts) {
            Ok(vectors) => vectors,
            Err(Error::Busy(_) | Error::Failed(_)) if count > 1 => {
                // Perhaps it was too much at once.
                self.host
                    .log(Level::Info, &format!("{count} texts at once were too many for {}", self.model));
                self.waiting_tokens += tokens;
                batch.into_iter().rev().for_each(|text| self.waiting.push_front(text));
                self.load.fewer_than(count);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if vectors.count as usize != count {
            return Err(Error::Failed(format!(
                "{} gave {} vectors for {count} texts",
                self.model, vectors.count
            )));
        }
        self.tokens += tokens;
        self.batches += 1;
        self.mind_memory();
        let mut at = 0;
        let mut chunks = batch.into_iter().map(|text| text.stored);
        while at < count {
            let Some(document) = self.open.front_mut() else { break };
            let end = count.min(at + document.left);
            let part: Vec<store::Chunk> = chunks.by_ref().take(end - at).collect();
            let vectors = vectors.slice(at as u32, end as u32).unwrap_or_else(|| vectors.clone());
            collection.stage(&document.id, &part, &vectors)?;
            document.left -= end - at;
            at = end;
            if document.left == 0 {
                collection.commit(&document.id, &document.fingerprint)?;
                self.committed += 1;
                self.open.pop_front();
            }
        }
        Ok(())
    }

    fn mind_memory(&mut self) {
        if self.is_blind {
            return;
        }
        match self.host.arenas(&self.model) {
            Ok(arenas) => self.load.mind(&arenas),
            Err(error) => {
                self.is_blind = true;
                self.host.log(Level::Info, &format!("the model's memory is not minded: {error}"));
            }
        }
    }
}
