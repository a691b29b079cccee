//! The programs of others that a build runs.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::Error;

/// How much of what a program says is told again when it fails.
const SAID_LINES: usize = 40;

/// A program, as the words that start it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool(Vec<String>);

impl Tool {
    pub(super) fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }

    /// A program at a place.
    pub(super) fn at(path: &Path) -> Self {
        Self(vec![path.to_string_lossy().into_owned()])
    }

    /// The first of `tools` that can say its version.
    pub(super) fn first(tools: impl IntoIterator<Item = Self>) -> Option<Self> {
        tools.into_iter().find(|tool| {
            let mut version = tool.command();
            version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            version.status().is_ok_and(|status| status.success())
        })
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        command
    }
}

/// Runs `command` to its end; what it says is told only where it fails.
pub(super) fn run(name: &str, command: &mut Command) -> Result<(), Error> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Error::Start { tool: name.to_owned(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
    Err(Error::Tool { tool: name.to_owned(), said: last_lines(&said.concat()) })
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(SAID_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_heard_and_one_that_is_missing_is_named() {
        let cargo = std::env::var("CARGO").unwrap();
        let tools = [Tool::new(["ebb-no-such-program"]), Tool::new([&cargo])];
        let found = Tool::first(tools).unwrap();
        assert_eq!(found, Tool::new([&cargo]));
        run("cargo", found.command().arg("--version")).unwrap();
        let error = run("cargo", found.command().arg("no-such-command")).unwrap_err();
        assert!(error.to_string().contains("no-such-command"), "{error}");
        let error = run("nothing", &mut Command::new("ebb-no-such-program")).unwrap_err();
        assert!(matches!(error, Error::Start { .. }), "{error}");
    }

    #[test]
    fn only_the_end_of_a_long_complaint_is_told() {
        let said: String = (0..100).map(|line| format!("{line}\n\n")).collect();
        let told = last_lines(&said);
        assert_eq!((told.lines().next(), told.lines().last()), (Some("60"), Some("99")));
    }
}
