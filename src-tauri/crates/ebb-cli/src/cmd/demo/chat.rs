//! Twelve chats, short and long, and then one shrink: what they took comes back, and the model stays loaded.

use std::time::{Duration, Instant};

use ebb_client::{Generated, LoadOptions, Model};
use ebb_core::{
    ChatInfo, GenerateFigures, Generation, Message, ModelKind, Sample, format_bytes,
    operations::GenerateRequest,
};
use futures_util::StreamExt as _;
use serde::Serialize;

use super::{
    other_kind,
    picture::{Progress, Screen},
    shrunk::Shrunk,
    workload::texts_of,
};
use crate::{
    error::Result,
    render::{Look, Table},
};

/// Words of each chat.
const WORDS: [u32; 12] = [20, 60, 1_000, 120, 500, 40, 800, 250, 30, 650, 350, 900];
const ANSWER_TOKENS: u32 = 32;
/// Memory is looked at so often while an answer comes.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Chatted {
    chats: u32,
    prompt_tokens: u64,
    completion_tokens: u64,
    took_ms: u64,
    after_load: Sample,
    /// Of the samples taken while answers came.
    highest_resident_bytes: u64,
    #[serde(flatten)]
    end: Shrunk,
}

pub(super) async fn run(model: &Model, screen: &mut Screen<'_>) -> Result<Chatted> {
    let entry = model.info().await?;
    if entry.kind != ModelKind::Chat {
        return Err(other_kind(&entry, "a chat model"));
    }
    screen.part(&format!("{} chats of 20 to 1,000 words, then one shrink, on", WORDS.len()), &entry)?;
    // Nothing is given back before the one shrink.
    let options = LoadOptions { shrink_every: Some(0), ..LoadOptions::default() };
    let loaded = model.load_again(&options).await?;
    let seen = Seen { after_load: loaded.sample, resident: Vec::new(), tokens: 0, took: Duration::ZERO };
    let mut part = Part { model, screen, seen };
    let (mut prompt_tokens, mut completion_tokens) = (0, 0);
    for text in texts_of(&lengths(loaded.info.chat.as_ref())) {
        let figures = part.chat(text).await?;
        prompt_tokens += u64::from(figures.prompt_tokens);
        completion_tokens += u64::from(figures.completion_tokens);
    }
    let Seen { after_load, resident, took, .. } = part.seen;
    let end = Shrunk::now(model).await?;
    let highest_resident_bytes = resident.iter().copied().max().unwrap_or(0);
    let took_ms = took.as_millis() as u64;
    let chats = WORDS.len() as u32;
    let chatted =
        Chatted { chats, prompt_tokens, completion_tokens, took_ms, after_load, highest_resident_bytes, end };
    screen.shrunk(&chatted.end, highest_resident_bytes)?;
    screen.say(|look| summary(&chatted, look))?;
    Ok(chatted)
}

/// A word takes up to two tokens: a model with a small context gets shorter texts.
fn lengths(chat: Option<&ChatInfo>) -> [u32; 12] {
    let most = chat.map_or(u32::MAX, |chat| chat.context_tokens.saturating_sub(2 * ANSWER_TOKENS) / 2);
    WORDS.map(|words| words.min(most).max(1))
}

/// The chats, as they go on.
struct Part<'a, 'o> {
    model: &'a Model,
    screen: &'a mut Screen<'o>,
    seen: Seen,
}

struct Seen {
    after_load: Sample,
    /// The highest of each chat so far.
    resident: Vec<u64>,
    tokens: u64,
    took: Duration,
}

impl Part<'_, '_> {
    /// One chat, which knows nothing of those before it.
    async fn chat(&mut self, text: String) -> Result<GenerateFigures> {
        let done = self.seen.resident.len();
        self.seen.resident.push(0);
        let begun = Instant::now();
        let mut parts = self.model.generate_stream(request(text)).await?;
        let mut look = tokio::time::interval(LOOK_EVERY);
        let mut figures = GenerateFigures::default();
        loop {
            tokio::select! {
                part = parts.next() => match part.transpose()? {
                    Some(Generated::Figures(end)) => figures = end,
                    Some(_) => {}
                    None => break,
                },
                _ = look.tick() => {
                    let now = self.look().await?;
                    self.screen.moves(&self.seen.progress(done, &now))?;
                }
            }
        }
        self.seen.took += begun.elapsed();
        self.seen.tokens += u64::from(figures.prompt_tokens) + u64::from(figures.completion_tokens);
        let now = self.look().await?;
        self.screen.progress(&self.seen.progress(done + 1, &now))?;
        Ok(figures)
    }

    async fn look(&mut self) -> Result<Sample> {
        let now = self.model.runtime().stats().await?.now;
        if let Some(highest) = self.seen.resident.last_mut() {
            *highest = now.resident_bytes.max(*highest);
        }
        Ok(now)
    }
}

impl Seen {
    fn progress<'s>(&'s self, done: usize, now: &'s Sample) -> Progress<'s> {
        Progress {
            name: "twelve chats",
            about: "each with a cache of its own, which grows with its text",
            done,
            of: WORDS.len(),
            unit: "chats",
            speed: format!("{:.0} tokens/s", self.tokens as f64 / self.took.as_secs_f64().max(1e-6)),
            after_load: &self.after_load,
            now,
            resident: &self.resident,
        }
    }
}

fn request(text: String) -> GenerateRequest {
    let asked = format!("Say in one sentence what this text is about:\n\n{text}");
    GenerateRequest {
        generation: Generation {
            messages: vec![Message::new("user", asked)],
            max_tokens: Some(ANSWER_TOKENS),
            temperature: Some(0.0),
            ..Generation::default()
        },
        ..GenerateRequest::default()
    }
}

fn summary(chatted: &Chatted, look: Look) -> String {
    let heads = ["resident memory", ">after load", ">highest", ">after 12 chats", ">after one shrink"];
    let mut table = Table::new(look, &heads);
    table.row([
        "the chat model".to_owned(),
        format_bytes(chatted.after_load.resident_bytes),
        format_bytes(chatted.highest_resident_bytes),
        format_bytes(chatted.end.before_shrink.resident_bytes),
        format_bytes(chatted.end.after_shrink.resident_bytes),
    ]);
    format!(
        "{}\n{} tokens read and {} written in {:.1} s; the model was not loaded again, and answers at once\n",
        table.text(look),
        chatted.prompt_tokens,
        chatted.completion_tokens,
        chatted.took_ms as f64 / 1e3,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::demo::picture::tests::{sample, shrunk};

    #[test]
    fn a_small_context_gets_shorter_texts() {
        assert_eq!(lengths(None), WORDS);
        assert!(WORDS.contains(&20) && WORDS.iter().max() == Some(&1_000));
        let chat = ChatInfo {
            context_tokens: 264,
            kv_bytes_per_token: 1,
            kv_shared: true,
            prefill_tokens: 1,
            prefix_cache_bytes: 0,
            template: true,
            tools: false,
        };
        assert_eq!(lengths(Some(&chat)), [20, 60, 100, 100, 100, 40, 100, 100, 30, 100, 100, 100]);
    }

    #[test]
    fn the_end() {
        let chatted = Chatted {
            chats: 12,
            prompt_tokens: 8_000,
            completion_tokens: 384,
            took_ms: 25_000,
            after_load: sample(270),
            highest_resident_bytes: 739 << 20,
            end: shrunk(),
        };
        insta::assert_snapshot!(summary(&chatted, Look::plain()), @r"
        resident memory  after load    highest  after 12 chats  after one shrink
        the chat model    270.0 MiB  739.0 MiB       700.0 MiB         190.0 MiB

        8000 tokens read and 384 written in 25.0 s; the model was not loaded again, and answers at once
        ");
    }
}
