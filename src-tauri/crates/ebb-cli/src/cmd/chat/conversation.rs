//! A conversation, turn by turn.

use std::{io::IsTerminal as _, path::Path};

use ebb_client::Model;
use ebb_core::{
    Message,
    operations::{GenerateAnswer, GenerateRequest},
};

use super::{
    super::{generation, interrupt::or_interrupt},
    command::{HELP, Typed},
    lines::{Line, Lines},
};
use crate::{
    error::{Error, Result, storage},
    render::{self, Look, Out, note},
};

/// What was said so far, and to whom.
pub(super) struct Conversation {
    model: Model,
    /// With every message so far.
    request: GenerateRequest,
}

impl Conversation {
    /// One that begins with the messages of the request.
    pub(super) fn new(model: Model, request: GenerateRequest) -> Self {
        Self { model, request }
    }

    /// Takes line after line until one leaves.
    pub(super) async fn go_on(mut self, mut lines: Lines, out: &mut Out) -> Result {
        if lines.is_typed() {
            note(&format!("{}: /help shows what can be typed besides, /exit leaves\n", self.model.alias()));
        }
        let mut interrupted = false;
        loop {
            let line = match lines.next().await? {
                Line::Typed(line) => line,
                Line::Interrupted if !interrupted => {
                    interrupted = true;
                    note("Ctrl-C once more, Ctrl-D or /exit leaves\n");
                    continue;
                }
                Line::Interrupted | Line::End => return Ok(()),
            };
            interrupted = false;
            match self.turn(&line, out).await {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // It was the answer that was stopped, not the conversation; the next Ctrl-C leaves.
                Err(Error::Interrupted) if lines.is_typed() => {
                    interrupted = true;
                    note("\nstopped\n");
                }
                Err(error) if lines.is_typed() => tell(&error),
                Err(error) => return Err(error),
            }
        }
    }

    /// Does what a line says; whether the conversation goes on.
    async fn turn(&mut self, line: &str, out: &mut Out) -> Result<bool> {
        match Typed::read(line) {
            Typed::Nothing => {}
            Typed::Said(text) => self.ask(text, out).await?,
            Typed::Help => note(HELP),
            Typed::Exit => return Ok(false),
            Typed::Clear => self.request.generation.messages.retain(is_system),
            Typed::System(text) => self.set_system(text),
            Typed::Stats => out.show(&self.model.runtime().stats().await?, render::stats)?,
            Typed::Shrink => {
                out.show(&self.model.runtime().shrink_arena(None).await?, render::shrink_report)?;
            }
            Typed::Save(file) => self.save(file.as_ref())?,
            Typed::Wrong(text) => {
                note(&format!(
                    "'{text}' is no command; /help shows them, a blank before it says it as it is\n"
                ));
            }
        }
        Ok(true)
    }

    /// Asks and remembers what was said on both sides. Of an answer that was stopped, what came of it.
    async fn ask(&mut self, text: &str, out: &mut Out) -> Result {
        self.messages().push(Message::new("user", text));
        let mut answer = GenerateAnswer::default();
        let request = self.request.clone();
        let done = or_interrupt(generation::stream(&self.model, request, &mut answer, out)).await;
        if done.is_err() && answer.text.is_empty() {
            self.messages().pop();
        } else {
            let said =
                Message { tool_calls: answer.tool_calls.clone(), ..Message::new("assistant", &answer.text) };
            self.messages().push(said);
        }
        done?;
        if out.json { out.line(&answer, |_| String::new()) } else { generation::end(&answer, out) }
    }

    fn messages(&mut self) -> &mut Vec<Message> {
        &mut self.request.generation.messages
    }

    fn set_system(&mut self, text: &str) {
        let messages = self.messages();
        messages.retain(|message| !is_system(message));
        if !text.is_empty() {
            messages.insert(0, Message::new("system", text));
        }
    }

    /// As the messages of a request are: what was saved can be asked anew.
    fn save(&self, path: &Path) -> Result {
        let messages: Vec<_> = self
            .request
            .generation
            .messages
            .iter()
            .map(|message| serde_json::json!({ "role": message.role, "content": message.content }))
            .collect();
        let text = serde_json::to_string_pretty(&messages).map_err(std::io::Error::from)? + "\n";
        std::fs::write(path, text).map_err(|error| storage("write", path, &error))?;
        note(&format!(
            "{} written to {}\n",
            render::counted(messages.len() as u64, "message", "messages"),
            path.display()
        ));
        Ok(())
    }
}

fn is_system(message: &Message) -> bool {
    message.role == "system"
}

/// An error that the conversation survives.
fn tell(error: &Error) {
    let look = Look::of(crate::args::Color::Auto, std::io::stderr().is_terminal());
    if let Some(text) = error.written(false, look) {
        note(&text);
    }
}
