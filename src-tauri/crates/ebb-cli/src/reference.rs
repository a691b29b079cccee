//! The reference in `docs/cli.md`, made from what can be typed. A test fails where it is stale.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use crate::args::Cli;

const HEAD: &str = "\
# The program `ebb`

Made from the program itself; `UPDATE_DOCS=1 cargo test -p ebb-cli` writes it anew.
";

fn reference() -> String {
    let mut command = Cli::command();
    command.build();
    let mut text = HEAD.to_owned();
    describe(&command, "ebb", &mut text);
    text
}

fn describe(command: &Command, path: &str, text: &mut String) {
    let mut command = command.clone();
    let _ = write!(text, "\n## {path}\n\n");
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        let _ = writeln!(text, "{about}\n");
    }
    let usage = command.render_usage().to_string();
    let _ = writeln!(text, "    {}", usage.trim_start_matches("Usage: ").trim());
    let top = path == "ebb";
    let shown = |arg: &&Arg| {
        !arg.is_hide_set()
            && arg.get_id() != "help"
            && arg.get_id() != "version"
            && (top || !arg.is_global_set())
    };
    let args: Vec<_> = command.get_arguments().filter(shown).collect();
    if !args.is_empty() {
        text.push('\n');
    }
    for arg in args {
        let help =
            arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
        let defaults: Vec<_> =
            arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        let default = match defaults.join(", ") {
            none if none.is_empty() || !arg.get_action().takes_values() => String::new(),
            some => format!(" (default: {some})"),
        };
        let _ = writeln!(text, "- `{arg}`: {}{default}", help.replace('\n', " "));
    }
    if let Some(after) = command.get_after_long_help() {
        let _ = writeln!(text, "\n```text\n{after}\n```");
    }
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
    {
        describe(inner, &format!("{path} {}", inner.get_name()), text);
    }
}

#[test]
fn the_reference_is_not_stale() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
    let made = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == made, "docs/cli.md is stale: write it anew with UPDATE_DOCS=1 cargo test -p ebb-cli");
}
