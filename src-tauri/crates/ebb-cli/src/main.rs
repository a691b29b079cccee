//! The program `ebb`: what is typed becomes calls of the host, and what the host says becomes text or JSON.
//!
//! Commands are thin. What they do is done by the host, which they find through [`ebb_client`] or start; only
//! `ebb server run` is the host itself.

mod args;
mod cmd;
mod error;
mod host;
mod npy;
#[cfg(test)]
mod reference;
mod render;
mod tensors;

use std::{
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _};

use args::{Cli, Color};
use render::{Look, Out};

fn main() -> ExitCode {
    args::answer_shell();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too. Where even stderr is closed there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let global = cli.global;
    let mut out = Out::stdout(global);
    let done = cmd::run(cli, &mut out).and_then(|()| Ok(out.flush()?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let look = Look::of(global.color, std::io::stderr().is_terminal());
            if let Some(text) = error.written(global.json, look) {
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// Whether errors of the command line themselves are coloured is typed there too.
fn parse() -> Result<Cli, clap::Error> {
    let typed: Vec<_> = std::env::args_os().collect();
    let asked = |value: &str| {
        typed.iter().any(|arg| arg.to_str() == Some(&format!("--color={value}")))
            || typed.windows(2).any(|pair| pair[0] == "--color" && pair[1] == value)
    };
    let color = match (asked("never"), asked("always")) {
        (true, _) => ColorChoice::Never,
        (false, true) => ColorChoice::Always,
        (false, false) => ColorChoice::Auto,
    };
    Cli::from_arg_matches(&Cli::command().color(color).try_get_matches_from(typed)?)
}

impl From<Color> for Option<bool> {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => None,
            Color::Always => Some(true),
            Color::Never => Some(false),
        }
    }
}
