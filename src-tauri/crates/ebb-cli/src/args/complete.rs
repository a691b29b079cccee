//! What the shell completes: besides commands and options, the ids that the running host knows.

use std::time::Duration;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCandidates, CompletionCandidate},
    env::Shells,
};
use ebb_client::Client;
use ebb_core::{Capability, Places};

use super::Cli;
use crate::{
    error::{Result, storage},
    host,
};

/// Set by the shell's script when it asks for completions.
const ASKED: &str = "EBB_COMPLETE";

/// Nobody waits longer than this for a key of theirs.
const WITHIN: Duration = Duration::from_millis(500);

/// Answers the shell and ends the program, if it is the shell that asks.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(command).var(ASKED).bin("ebb").completer("ebb").complete();
}

/// The script that has a shell ask.
pub(crate) fn script(shell: clap_complete::Shell) -> Result<Vec<u8>> {
    let mut script = Vec::new();
    let name = shell.to_string();
    if let Some(shell) = Shells::builtins().completer(&name) {
        shell
            .write_registration(ASKED, "ebb", "ebb", "ebb", &mut script)
            .map_err(|error| storage("write the completions of", name.as_ref(), &error))?;
    }
    Ok(script)
}

fn command() -> Command {
    with_ids(Cli::command())
}

/// Arguments that take an id are given those that there are.
fn with_ids(command: Command) -> Command {
    command.mut_args(with_candidates).mut_subcommands(with_ids)
}

fn with_candidates(arg: Arg) -> Arg {
    let candidates = match arg.get_id().as_str() {
        "model" | "chat_model" | "embedding_model" | "from_model" => ArgValueCandidates::new(models),
        "plugin" => ArgValueCandidates::new(plugins),
        "capabilities" => ArgValueCandidates::new(capabilities),
        _ => return arg,
    };
    arg.add(candidates)
}

fn models() -> Vec<CompletionCandidate> {
    let described = |model: ebb_core::operations::ModelEntry| {
        CompletionCandidate::new(model.alias).help(Some(model.path.display().to_string().into()))
    };
    asked(async |client| Ok(client.models().await?.models.into_iter().map(described).collect()))
}

fn plugins() -> Vec<CompletionCandidate> {
    let described = |plugin: ebb_core::operations::PluginEntry| {
        CompletionCandidate::new(plugin.manifest.id).help(Some(plugin.manifest.description.into()))
    };
    asked(async |client| Ok(client.plugins().await?.plugins.into_iter().map(described).collect()))
}

fn capabilities() -> Vec<CompletionCandidate> {
    let named =
        Capability::ALL.map(|one| CompletionCandidate::new(one.name()).help(Some(one.meaning().into())));
    named.into_iter().chain([CompletionCandidate::new("all")]).collect()
}

/// What the running host answers; nothing where none runs, or it takes too long: a shell is no place for errors.
fn asked<F>(ask: F) -> Vec<CompletionCandidate>
where
    F: AsyncFnOnce(Client) -> std::result::Result<Vec<CompletionCandidate>, ebb_client::Error>,
{
    let answer = || -> Result<Vec<CompletionCandidate>> {
        let Some(client) = host::running(&Places::from_env()?)? else { return Ok(Vec::new()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let answered = runtime.block_on(async { tokio::time::timeout(WITHIN, ask(client)).await });
        Ok(answered.unwrap_or(Ok(Vec::new()))?)
    };
    answer().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_has_a_script_that_asks_the_program() {
        for shell in [
            clap_complete::Shell::Bash,
            clap_complete::Shell::Elvish,
            clap_complete::Shell::Fish,
            clap_complete::Shell::PowerShell,
            clap_complete::Shell::Zsh,
        ] {
            let script = String::from_utf8(script(shell).unwrap()).unwrap();
            assert!(script.contains(ASKED) && script.contains("ebb"), "{shell}: {script}");
        }
    }

    #[test]
    fn commands_options_and_capabilities_are_completed() {
        let complete = |words: &[&str]| {
            let words = words.iter().map(Into::into).collect::<Vec<_>>();
            let last = words.len() - 1;
            let found = clap_complete::engine::complete(&mut command(), words, last, None).unwrap();
            found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(complete(&["ebb", "plugin", "att"]), ["attach"]);
        assert_eq!(complete(&["ebb", "plugin", "grant", "rag", "inference.g"]), ["inference.generate"]);
        assert!(complete(&["ebb", "model", "load", "m", "--arena"]).contains(&"--arena-option".to_owned()));
    }
}
