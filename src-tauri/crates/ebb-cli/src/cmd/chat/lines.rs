//! Lines as they are typed: with an editor and a history in a terminal, as they come elsewhere.

use std::{
    io::{self, BufRead, IsTerminal as _},
    path::{Path, PathBuf},
};

use rustyline::{Config, DefaultEditor, error::ReadlineError};

use super::super::interrupt::or_interrupt;
use crate::{
    error::{Result, storage},
    render::{Out, note},
};

/// So many lines of earlier conversations can be had again.
const REMEMBERED: usize = 1_000;

/// Where lines come from.
pub(super) enum Lines {
    Editor(Box<Editor>),
    Plain,
}

/// A line, or the end of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Typed(String),
    /// Ctrl-C.
    Interrupted,
    End,
}

pub(super) struct Editor {
    editor: DefaultEditor,
    history: PathBuf,
}

impl Lines {
    /// An editor where one looks at a terminal and types into it.
    pub(super) fn open(home: &Path, out: &Out) -> Result<Self> {
        if !out.terminal || out.json || !io::stdin().is_terminal() {
            return Ok(Self::Plain);
        }
        let config = Config::builder().auto_add_history(true).max_history_size(REMEMBERED).map_err(failed)?;
        let mut editor = DefaultEditor::with_config(config.build()).map_err(failed)?;
        let history = home.join("chat-history");
        // There is none before the first conversation; one that cannot be read is no reason not to talk.
        let _ = editor.load_history(&history);
        Ok(Self::Editor(Box::new(Editor { editor, history })))
    }

    /// Whether somebody sits before a terminal: errors are then told, and the conversation goes on.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self, Self::Editor(_))
    }

    /// The next line. Ones that end with a backslash are joined with what follows.
    pub(super) async fn next(&mut self) -> Result<Line> {
        let mut text = String::new();
        loop {
            match self.one(if text.is_empty() { "> " } else { "… " }).await? {
                Line::Typed(line) => {
                    text.push_str(&line);
                    if !goes_on(&mut text) {
                        return Ok(Line::Typed(text));
                    }
                }
                Line::End if !text.is_empty() => return Ok(Line::Typed(text)),
                other => return Ok(other),
            }
        }
    }

    async fn one(&mut self, prompt: &'static str) -> Result<Line> {
        match std::mem::replace(self, Self::Plain) {
            // The terminal is the editor's until it gives it back: it hears Ctrl-C itself.
            Self::Editor(mut editor) => {
                let read = tokio::task::spawn_blocking(move || (editor.line(prompt), editor));
                let (line, editor) = read.await.map_err(io::Error::from)?;
                *self = Self::Editor(editor);
                line
            }
            Self::Plain => {
                or_interrupt(async { tokio::task::spawn_blocking(plain).await.map_err(io::Error::from)? })
                    .await
            }
        }
    }
}

impl Editor {
    fn line(&mut self, prompt: &str) -> Result<Line> {
        match self.editor.readline(prompt) {
            Ok(line) => {
                // As above.
                let _ = self.editor.append_history(&self.history);
                Ok(Line::Typed(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                note("what is not UTF-8 is left out: type it again\n");
                Ok(Line::Typed(String::new()))
            }
            Err(error) => Err(failed(error)),
        }
    }
}

fn plain() -> Result<Line> {
    let line = line_of_text(&mut io::stdin().lock(), || {
        note("a line that is not UTF-8 is left out: write the text in UTF-8\n");
    });
    line.map_err(|error| storage("read", "stdin".as_ref(), &error))
}

/// The next line that is text; `left_out` is told of each before it that is none.
fn line_of_text(from: &mut impl BufRead, mut left_out: impl FnMut()) -> io::Result<Line> {
    loop {
        let mut line = Vec::new();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(Line::End);
        }
        match String::from_utf8(line) {
            Ok(mut line) => {
                line.truncate(line.trim_end_matches(['\n', '\r']).len());
                return Ok(Line::Typed(line));
            }
            Err(_) => left_out(),
        }
    }
}

fn failed(error: ReadlineError) -> crate::error::Error {
    match error {
        ReadlineError::Io(error) => storage("read", "the terminal".as_ref(), &error),
        other => storage("read", "the terminal".as_ref(), &io::Error::other(other)),
    }
}

/// Turns a backslash at the end into the end of a line: the text goes on.
fn goes_on(text: &mut String) -> bool {
    let goes_on = text.ends_with('\\');
    if goes_on {
        text.pop();
        text.push('\n');
    }
    goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_utf_8_is_left_out_and_the_next_one_is_taken() {
        let mut input = &b"ein Gru\xdf\n\xff\r\nStra\xc3\x9fe\r\n\xff"[..];
        let mut left_out = 0;
        let mut next = || line_of_text(&mut input, || left_out += 1).unwrap();
        assert_eq!(next(), Line::Typed("Straße".to_owned()));
        assert_eq!(next(), Line::End);
        assert_eq!(left_out, 3);
    }

    #[test]
    fn a_backslash_at_the_end_joins_lines() {
        let mut text = "one\\".to_owned();
        assert!(goes_on(&mut text));
        text.push_str("two");
        assert!(!goes_on(&mut text));
        assert_eq!(text, "one\ntwo");
    }
}
