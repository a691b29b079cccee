//! One generation: its steps, and what it holds until it ends.

mod end;

use std::{collections::BTreeMap, fmt, time::Instant};

use bytes::Bytes;
use ebb_chat::Writing;
use ebb_core::{Chunk, ChunkBody, Code, Failure, Figures, FinishReason, Generation, Progress, Step};
use ort::{memory::MemoryInfo, session::RunOptions};

use super::{Generator, cache::Cache, feeds, idle::Caches, peak::Peak};
use crate::{Error, session::prepared, sys::Binding};

/// How often, in tokens, the arenas are looked at.
const LOOK_EVERY_TOKENS: usize = 64;

/// Slack of the arena that a generation may leave at such a look, where its cache is smaller.
const MOST_SLACK_BYTES: u64 = 16 << 20;

/// Bytes of scores that one step may give: a model that gives them for every token reads fewer tokens at once.
const STEP_SCORES_BYTES: usize = 16 << 20;

/// A generation in flight.
pub(crate) struct GenerateRun {
    /// `None` once it has ended, well or not.
    live: Option<Live>,
    writing: Writing,
    /// The prompt, then what was chosen.
    tokens: Vec<u32>,
    prompt_tokens: usize,
    cached_tokens: usize,
    /// Most tokens to choose.
    room: usize,
    options: RunOptions,
    run_options: BTreeMap<String, String>,
    peak: Peak,
    cap_retries: u32,
    started: Instant,
    first_token: Option<Instant>,
}

/// Tokens up to which a prompt is read in full steps where attention takes memory for each pair of tokens; beyond them the
/// steps become smaller as the prompt becomes longer, so that they take no more.
const FULL_STEPS_TOKENS: usize = 1024;

/// What a generation holds of the model. The cache has the tokens that were read.
#[derive(Debug)]
struct Live {
    binding: Binding,
    cache: Cache,
    /// Whether a cache that is taken in place is bound.
    cache_bound: bool,
    /// Whether the scores are bound to the place that waits for them.
    scores_bound: bool,
}

impl fmt::Debug for GenerateRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenerateRun").field("tokens", &self.tokens.len()).finish_non_exhaustive()
    }
}

impl GenerateRun {
    fn chosen(&self) -> usize {
        self.tokens.len() - self.prompt_tokens
    }

    /// Most tokens that are read: the last one chosen never is.
    fn most_read(&self) -> usize {
        self.prompt_tokens + self.room - 1
    }

    fn progress(&self, read: usize) -> Progress {
        Progress { done: read.min(self.prompt_tokens) as u64, total: self.prompt_tokens as u64 }
    }
}

impl Generator {
    /// Prepares a generation, on the cache of an earlier turn where there is one.
    ///
    /// # Errors
    /// Where the request is malformed, or its prompt longer than the context.
    pub(crate) fn begin(
        &mut self,
        generation: &Generation,
        run_options: &BTreeMap<String, String>,
    ) -> Result<GenerateRun, Error> {
        let started = Instant::now();
        let tokens = self.language.prompt(generation).map_err(Failure::from)?;
        let writing = self.language.write(generation, &tokens).map_err(Failure::from)?;
        let room = self.room(tokens.len(), generation.max_tokens)?;
        let options = prepared(run_options, &[])?;
        let peak = Peak::new(self.loaded.held());
        let live = self.live(&tokens)?;
        Ok(GenerateRun {
            prompt_tokens: tokens.len(),
            cached_tokens: live.cache.tokens(),
            live: Some(live),
            writing,
            tokens,
            room,
            options,
            run_options: run_options.clone(),
            peak,
            cap_retries: 0,
            started,
            first_token: None,
        })
    }

    /// Reads the next part of the prompt, or the last token; after the last one of a prompt the next is chosen.
    ///
    /// # Errors
    /// Where the model fails, or no token can be chosen. All that the generation held is given back then.
    pub(crate) fn step(&mut self, run: &mut GenerateRun, chunks: &mut Vec<Chunk>) -> Result<Step, Error> {
        let over = || Failure::new(Code::Internal, "this generation has ended");
        let mut live = run.live.take().ok_or_else(over)?;
        let past = live.cache.tokens();
        let end = past + self.part(past, run.tokens.len() - past);
        run.cap_retries += self.read(&mut live, run, end)?;
        if end < run.tokens.len() {
            self.look(run, &live)?;
            run.live = Some(live);
            return Ok(Step::More(run.progress(end)));
        }
        let next = run.writing.next(self.scores.written()?).map_err(Failure::from)?;
        run.tokens.push(next.token);
        run.first_token.get_or_insert_with(Instant::now);
        chunks.extend(next.chunks.into_iter().map(chunk));
        let mut finish = next.finish;
        if finish.is_none() && run.chosen() >= run.room {
            chunks.extend(run.writing.cut().map_err(Failure::from)?.into_iter().map(chunk));
            finish = Some(FinishReason::Length);
        }
        if let Some(reason) = finish {
            return Ok(Step::Done(Figures::Generate(self.end(run, live, reason)?)));
        }
        if run.chosen() % LOOK_EVERY_TOKENS == 1 {
            self.look(run, &live)?;
        }
        run.live = Some(live);
        Ok(Step::More(run.progress(end)))
    }

    /// Looks at the arenas: for the figures, and so that no slack builds up. With each token a model asks for a little more
    /// than before, and an arena whose regions are as large as what was asked for can use none of them again.
    fn look(&self, run: &mut GenerateRun, live: &Live) -> Result<(), Error> {
        let held = self.loaded.held();
        run.peak.look(held);
        held.bound_slack(live.cache.bytes().max(MOST_SLACK_BYTES))
    }

    /// Tokens that there is room for after a prompt.
    fn room(&self, prompt_tokens: usize, max_tokens: Option<u32>) -> Result<usize, Error> {
        let context_tokens = self.info.context_tokens as usize;
        match context_tokens.checked_sub(prompt_tokens) {
            None | Some(0) => {
                let over = prompt_tokens + 1 - context_tokens;
                let why = format!(
                    "the prompt has {prompt_tokens} tokens, {over} more than the context of {context_tokens} takes with an \
                     answer of at least one"
                );
                let error = Error::request(why, "messages");
                Err(error.hint(
                    "leave out older messages, or load the model with more context_tokens if it takes them",
                ))
            }
            Some(room) => Ok(max_tokens.map_or(room, |most| room.min((most as usize).max(1)))),
        }
    }

    /// A cache for a prompt, and what binds it to the model.
    fn live(&self, tokens: &[u32]) -> Result<Live, Error> {
        let (graph, memory, caches) = (&self.graph, &self.memory, self.caches()?);
        let fork = |cache: &Cache, common| cache.fork(common, graph, memory, caches.charge()).ok();
        let kept = caches.take(tokens, fork);
        // One that cannot be cut for want of memory is of no use.
        let kept =
            kept.and_then(|(mut cache, common)| cache.truncate(common, graph, memory).ok().map(|()| cache));
        let mut cache = match kept {
            Some(cache) => cache,
            None => Cache::empty(graph, memory, caches.charge()).map_err(Error::runtime("make a cache"))?,
        };
        cache.wake(graph, memory).map_err(Error::runtime("make a cache"))?;
        Ok(Live { binding: self.loaded.binding()?, cache, cache_bound: false, scores_bound: false })
    }

    /// Tokens to read in one step, of `waiting` after `past`.
    fn part(&self, past: usize, waiting: usize) -> usize {
        let mut most = self.info.prefill_tokens as usize;
        let logits = &self.graph.logits;
        if !logits.last_only {
            most = most.min(STEP_SCORES_BYTES / (logits.vocab_size * logits.dtype.size_bytes()));
        }
        if !self.graph.in_place {
            // Attention of standard operators holds a number for each pair of a token read and a token there is.
            most = most.min(most * FULL_STEPS_TOKENS / (past + most).max(1));
        }
        let most = most.max(1);
        // A lone last token would be multiplied in another way than within a part, and get other scores.
        if waiting == most + 1 && most > 2 { most - 1 } else { waiting.min(most) }
    }

    /// Reads the tokens up to `end`; the scores after the last are there then, if it is the last of all. Says how often the
    /// cap was hit.
    fn read(&mut self, live: &mut Live, run: &GenerateRun, end: usize) -> Result<u32, Error> {
        let past = live.cache.tokens();
        let ids = &run.tokens[past..end];
        let mut cap_retries = 0;
        let Live { binding, cache, cache_bound, .. } = live;
        if let Some(tokens) = cache.growth(run.tokens.len(), run.most_read()) {
            let held = self.loaded.held();
            cap_retries += cache.grow(tokens, (&self.graph, &self.memory, held), binding)?;
            *cache_bound = true;
            if past > 0 {
                // What it had are regions of sizes that nothing asks for again.
                held.shrink_cpu()?;
            }
        }
        if !*cache_bound || !self.graph.in_place {
            cache.bind(binding, &self.graph, end).map_err(Error::runtime("bind the cache"))?;
            *cache_bound = true;
        }
        feeds::bind(binding.whole(), &self.graph, ids, past)?;
        self.bind_scores(live, ids.len())?;
        cap_retries += self.loaded.run_bound(&live.binding, &run.options)?;
        live.cache.written(end);
        if !live.scores_bound {
            let output = live.binding.last_output().map_err(Error::runtime("read the scores"))?;
            self.scores.write_last_of(&self.graph.logits.name, output.as_ref())?;
        }
        Ok(cap_retries)
    }

    /// Binds the scores, after all other outputs: to the place that waits for those of one token, if the model gives so many.
    fn bind_scores(&mut self, live: &mut Live, tokens: usize) -> Result<(), Error> {
        let logits = &self.graph.logits;
        let one = logits.last_only || tokens == 1;
        if one && live.scores_bound {
            return Ok(());
        }
        let bound = if one {
            live.binding.whole().bind_output(logits.name.as_str(), self.scores.tensor_mut())
        } else {
            let memory = MemoryInfo::default();
            live.binding.whole().bind_output_to_device(logits.name.as_str(), &memory)
        };
        live.scores_bound = one;
        bound.map_err(Error::runtime("bind the scores"))
    }

    fn caches(&self) -> Result<&Caches, Error> {
        let none = || Error::Failure(Failure::new(Code::Internal, "the model keeps no caches"));
        self.loaded.held().caches.get().ok_or_else(none)
    }
}

fn chunk(body: ChunkBody) -> Chunk {
    Chunk { body, data: Bytes::new() }
}
