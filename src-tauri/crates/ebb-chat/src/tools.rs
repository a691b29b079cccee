//! Calls that a model asks for, found in what it writes. Each family of models has its own marks; all that are known are
//! looked for, since models also fall back on forms that their template does not show.

use std::collections::BTreeSet;

use ebb_core::{Generation, ToolCall};

use crate::{Error, stops::begun};

mod form;
mod read;

pub(crate) use form::Form;
use read::{Found, read};

/// What begins calls in the middle of a text. Hermes and Qwen; Mistral; Llama 3; Phi 4.
pub(crate) const OPENING: [&str; 4] = ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>"];
/// Marks within calls that may be special tokens.
const WITHIN: [&str; 4] = ["</tool_call>", "<|/tool_call|>", "[ARGS]", "[CALL_ID]"];

/// Watches an answer for calls. Text that may belong to one is held back.
#[derive(Debug)]
pub(crate) struct Calls {
    /// The tools by name.
    tools: BTreeSet<String>,
    form: Form,
    held: String,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was written yet: JSON without marks may be a call.
    Start,
    /// Text goes out as it comes, up to a mark.
    Text,
    /// Everything is held to the end.
    Call,
}

impl Calls {
    /// Calls of the tools of a request, for a model whose template asks for `form`.
    pub(crate) fn new(generation: &Generation, form: Form) -> Self {
        let tools = generation.tools.iter().map(|tool| tool.name.clone()).collect();
        Self { tools, form, held: String::new(), state: State::Start }
    }

    /// Whether a special token is one of the marks, and so to be read like text.
    pub(crate) fn is_mark(token: &[u8]) -> bool {
        OPENING.iter().chain(&WITHIN).any(|mark| mark.as_bytes() == token)
    }

    /// Takes more text and appends to `ready` what cannot belong to a call.
    pub(crate) fn push(&mut self, text: &str, ready: &mut String) {
        self.held.push_str(text);
        if self.state == State::Start {
            match read::may_be_bare(&self.held) {
                Some(true) => self.state = State::Call,
                Some(false) => self.state = State::Text,
                None => return,
            }
        }
        if self.state == State::Call {
            if !self.held.trim_start().starts_with(['{', '[']) || read::may_be_bare(&self.held) != Some(false)
            {
                return;
            }
            self.state = State::Text;
        }
        if let Some(start) = OPENING.iter().filter_map(|mark| self.held.find(mark)).min() {
            // What stands between text and calls belongs to neither.
            ready.push_str(self.held[..start].trim_end());
            self.held.drain(..start);
            self.state = State::Call;
            return;
        }
        let begun = OPENING.iter().map(|mark| begun(&self.held, mark)).max().unwrap_or(0);
        let keep = self.held[..self.held.len() - begun].trim_end().len();
        ready.extend(self.held.drain(..keep));
    }

    /// The calls when nothing more comes; `ready` takes what turned out to be text.
    ///
    /// # Errors
    /// Where the system has no randomness to name the calls with.
    pub(crate) fn finish(&mut self, ready: &mut String) -> Result<Vec<ToolCall>, Error> {
        let held = std::mem::take(&mut self.held);
        if self.state == State::Text {
            ready.push_str(&held);
            return Ok(Vec::new());
        }
        let Found { calls, text } = read(&held, &self.tools);
        ready.push_str(&text);
        calls.into_iter().map(|(name, arguments)| Ok(ToolCall { id: self.id()?, name, arguments })).collect()
    }

    /// A name for a call. It is never drawn from the answer's seed: two turns with one seed would name their calls alike.
    fn id(&self) -> Result<String, Error> {
        const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789xy";
        let mut random = [0; 24];
        getrandom::fill(&mut random).map_err(Error::Random)?;
        let mut letters = random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)]));
        Ok(match self.form {
            // Mistral's templates refuse all ids but those of nine letters.
            Form::Mistral => letters.by_ref().take(9).collect(),
            _ => format!("call_{}", letters.collect::<String>()),
        })
    }
}

#[cfg(test)]
mod tests;
