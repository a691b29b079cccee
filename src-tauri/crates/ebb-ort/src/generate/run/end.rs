//! The end of a generation: what it amounted to, and what becomes of its cache.

use std::time::{Duration, Instant};

use ebb_core::{FinishReason, GenerateFigures, Target};

use super::{GenerateRun, Live};
use crate::{Error, generate::Generator, session::prepared};

impl Generator {
    /// Ends a generation: its figures are told, its cache is kept for the next turn. Where arenas wait for a run of this
    /// session to be shrunk it is dropped first.
    ///
    /// # Errors
    /// Where the model keeps no caches.
    pub(super) fn end(
        &mut self,
        run: &mut GenerateRun,
        live: Live,
        reason: FinishReason,
    ) -> Result<GenerateFigures, Error> {
        let Live { binding, mut cache, .. } = live;
        // It holds the cache too.
        drop(binding);
        let figures = GenerateFigures {
            finish_reason: reason,
            kv_bytes: cache.bytes(),
            peak_arena_bytes: run.peak.look(self.loaded.held()),
            ..run.figures(Instant::now())
        };
        let waiting = self.loaded.shrinks_waiting();
        if waiting.is_empty() {
            let mut tokens = std::mem::take(&mut run.tokens);
            tokens.truncate(cache.tokens());
            cache.rest();
            self.caches()?.keep(tokens, cache);
        } else {
            drop(cache);
            // The answer is there, whatever becomes of this.
            if let Err(error) = self.sweep(run, &waiting) {
                tracing::warn!(%error, "arenas that only a run of the model reaches were not shrunk");
            }
        }
        Ok(figures)
    }

    /// Reads one token with an empty cache, so that arenas which only a run of this session reaches are shrunk. Once, at the
    /// end: no run before knows that it is the last.
    fn sweep(&mut self, run: &mut GenerateRun, waiting: &[Target]) -> Result<(), Error> {
        run.options = prepared(&run.run_options, waiting)?;
        run.tokens.truncate(1);
        (run.prompt_tokens, run.room) = (1, 1);
        let mut live = self.live(&run.tokens)?;
        self.read(&mut live, run, 1)?;
        self.loaded.shrunk(waiting);
        Ok(())
    }
}

impl GenerateRun {
    /// What it amounted to, but for what is known of its cache.
    fn figures(&self, ended: Instant) -> GenerateFigures {
        let chosen = self.chosen();
        let first = self.first_token.unwrap_or(ended);
        let after_first = ended.duration_since(first).as_secs_f64();
        let timed = chosen > 1 && after_first > 0.0;
        GenerateFigures {
            prompt_tokens: self.prompt_tokens as u32,
            cached_tokens: self.cached_tokens as u32,
            completion_tokens: chosen as u32,
            stop: self.writing.stop().map(str::to_owned),
            seed: self.writing.seed(),
            first_token_us: microseconds(first - self.started),
            took_us: microseconds(ended - self.started),
            tokens_per_second: if timed { (chosen - 1) as f64 / after_first } else { 0.0 },
            cap_retries: self.cap_retries,
            ..GenerateFigures::default()
        }
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
