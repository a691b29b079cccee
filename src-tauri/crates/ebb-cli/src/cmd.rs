//! Commands: what was typed becomes calls, and what they answer is shown.

mod chat;
mod complete;
mod demo;
mod doctor;
mod embed;
mod find;
mod generation;
mod import;
mod interrupt;
mod key;
mod manual;
mod model;
mod named;
mod options;
mod plugin;
mod profile;
mod pull;
mod rag;
mod record;
mod run;
mod server;
mod texts;
mod transcribe;

use std::future::Future;

pub(crate) use record::Recorded;

use ebb_core::Places;

use crate::{
    args::{Cli, Command, ModelCommand, PluginCommand, ServerCommand},
    error::Result,
    render::Out,
};

/// Does what was typed.
pub(crate) fn run(cli: Cli, out: &mut Out) -> Result {
    match cli.command {
        Command::Options { words } => options::run(&words.join(" "), out),
        Command::Completions { shell } => manual::completions(shell, out),
        Command::Man { out: folder } => manual::man(folder.as_deref(), out),
        Command::Plugin(PluginCommand::Author(command)) => plugin::author(command, out),
        Command::Model(ModelCommand::Import { source, dest, force }) => {
            wait_for(import::run(source, dest, force, out))
        }
        Command::Server(ServerCommand::Run(args)) => server::run(args, out),
        Command::Server(ServerCommand::Openapi) => server::openapi(out),
        asked => {
            let places = Places::from_env()?;
            wait_for(async {
                match asked {
                    Command::Model(ModelCommand::Find) => find::run(&places, out).await,
                    Command::Model(ModelCommand::Pull(args)) => pull::run(args, &places, out).await,
                    Command::Model(command) => model::run(command, &places, out).await,
                    Command::Embed(args) => embed::run(args, &places, out).await,
                    Command::Chat(args) => chat::run(args, &places, out).await,
                    Command::Complete(args) => complete::run(args, &places, out).await,
                    Command::Transcribe(args) => transcribe::run(args, &places, out).await,
                    Command::Plugin(command) => plugin::run(command, &places, out).await,
                    Command::Rag(command) => rag::run(command, &places, out).await,
                    Command::Key(command) => key::run(command, &places, out).await,
                    Command::Run(args) => run::run(args, &places, out).await,
                    Command::Profile(command) => profile::run(command, &places, out).await,
                    Command::Server(command) => server::control(command, &places, out).await,
                    Command::Ui => server::ui(&places, out).await,
                    Command::Doctor => doctor::run(&places, out).await,
                    Command::Demo(args) => demo::run(&args, &places, out).await,
                    Command::Options { .. } | Command::Completions { .. } | Command::Man { .. } => Ok(()),
                }
            })
        }
    }
}

/// Runs a command on this thread: starting more would take longer than most commands do.
fn wait_for(command: impl Future<Output = Result>) -> Result {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(command);
    // A read of stdin that still waits must not keep the program.
    runtime.shutdown_background();
    done
}
