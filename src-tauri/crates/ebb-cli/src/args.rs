//! What can be typed. The comments here are the help, the man page and the reference in `docs/cli.md`.

mod author;
mod complete;
mod generate;
mod key;
mod load;
mod model;
mod pair;
mod plugin;
mod pull;
mod rag;
mod request;
mod server;
mod transcribe;
mod vectors;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use author::AuthorCommand;
pub(crate) use complete::{answer_shell, script};
pub(crate) use generate::{ChatArgs, CompleteArgs, SamplingArgs};
pub(crate) use key::KeyCommand;
pub(crate) use load::LoadArgs;
pub(crate) use model::{DeviceArg, ModelCommand};
pub(crate) use pair::{InputArg, Pair};
pub(crate) use plugin::{GrantArgs, PluginCommand, RunArgs as PluginRunArgs, Wanted};
pub(crate) use pull::PullArgs;
pub(crate) use rag::{RagCommand, RagModels};
pub(crate) use request::RequestArgs;
pub(crate) use server::{RunArgs as ServerRunArgs, ServerCommand, StartArgs};
pub(crate) use transcribe::{TranscribeArgs, TranscriptFormat};
pub(crate) use vectors::{EmbedArgs, TensorArgs};

/// Printed at the end of the help, and as a part of the man page.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    it failed; why stands on stderr
  2    the command line is wrong
  3    no host is running, or it could not be started
  130  interrupted with Ctrl-C
       (ending 'server run', 'stats --watch', 'logs --follow' or a conversation so is 0)

Errors are written to stderr as 'error: ...' and 'hint: ...', with --json as one line of JSON:
{\"error\": {\"code\", \"message\", \"hint\", \"type\", \"param\"}}. Usage errors (2) are always text.

Environment:
  EBB_HOME         where Ebb keeps models.json, profiles, its log and who its host is
  EBB_WORKER       the program ebb-worker, where it is not beside ebb
  EBB_UI           the folder of the built page, where this program has none or another is wanted
  EBB_LOG          what the host logs: error, warn, info (default), debug, trace
  ORT_DYLIB_PATH   the ONNX Runtime library to use
  NO_COLOR         no colours where this is set";

/// Local ONNX Runtime models that give memory back.
///
/// Each loaded model runs in a worker process of its own. A host process of this user looks after the workers; a command
/// that needs the host starts it by itself, and such a host ends after 15 minutes with nothing loaded.
#[derive(Debug, Parser)]
#[command(name = "ebb", version, after_long_help = EXIT_CODES, propagate_version = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Global {
    /// Answer in JSON, with the fields of the HTTP interface
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// Colours: where the output is a terminal, always, or never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, display_order = 901)]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Models: add, load, look at and shrink their memory
    #[command(subcommand)]
    Model(ModelCommand),
    /// Make vectors of texts
    Embed(EmbedArgs),
    /// Talk to a chat model, or ask it once
    Chat(ChatArgs),
    /// Have a chat model go on from a text, without its chat template
    Complete(CompleteArgs),
    /// Write down what is said in a recording
    Transcribe(TranscribeArgs),
    /// Run a bare ONNX model on tensors
    Run(TensorArgs),
    /// Look up what ONNX Runtime's options do; needs no host
    Options {
        /// Show the options whose key, scope, description or note contain every word
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Named sets of load options
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Plugins: policies that decide when memory goes back, pipelines that answer from documents
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Ask your own documents, through the plugin rag
    #[command(subcommand)]
    Rag(RagCommand),
    /// Keys by which apps use the host
    #[command(subcommand)]
    Key(KeyCommand),
    /// The host process that looks after loaded models
    #[command(subcommand, alias = "service")]
    Server(ServerCommand),
    /// Print a link that opens the page of the app in a browser on this machine
    ///
    /// It works once, for five minutes. Where no host runs, one is started with its page.
    Ui,
    /// Look at what is there and what is missing, and say how to get it
    Doctor,
    /// Watch memory rise under real work and go down again, live
    Demo(DemoArgs),
    /// Print the script that has a shell complete commands, options, and the ids of models and plugins
    ///
    /// Such as: source <(ebb completions bash). It asks the program itself: read it anew when a shell starts.
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one for each command
    Man {
        /// Write the pages of every command into this folder
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List profiles
    List,
    /// Show what a profile sets, and why
    Show {
        /// The profile
        name: String,
    },
    /// Save load options under a name; one of that name is replaced
    Save {
        /// The profile
        name: String,
        /// What it is for
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        /// Take the options that this model is, or was last, loaded with; further options lie over them
        #[arg(long, value_name = "MODEL")]
        from_model: Option<String>,
        #[command(flatten)]
        load: Box<LoadArgs>,
    },
    /// Remove a profile
    Remove {
        /// The profile
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Alias or folder of an embedding model
    #[arg(default_value = "minilm")]
    pub(crate) model: String,
    /// Alias or folder of a chat model; without it 'smollm2', if there is one
    #[arg(long, value_name = "MODEL")]
    pub(crate) chat: Option<String>,
    /// Alias or folder of a speech model; without it 'moonshine', if there is one
    #[arg(long, value_name = "MODEL")]
    pub(crate) speech: Option<String>,
    /// What the speech model is to write down; without it a .wav file in its folder
    #[arg(long, value_name = "FILE")]
    pub(crate) audio: Option<PathBuf>,
    /// Requests of each round of embedding
    #[arg(long, value_name = "N", default_value_t = 150, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) requests: u32,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _, error::ErrorKind};

    use super::*;

    fn parsed(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_option_without_its_value_is_a_usage_error_that_shows_the_form() {
        for (line, form) in [
            ("ebb model load m --session-option enable_cpu_mem_arena", "KEY=VALUE"),
            ("ebb model load m --arena-option =1", "KEY=VALUE"),
            ("ebb model load m --provider-option gpu_mem_limit=1", "PROVIDER.KEY=VALUE"),
            ("ebb model load m --provider-option cuda.=1", "PROVIDER.KEY=VALUE"),
            ("ebb model set-runtime-option m memory.enable_memory_arena_shrinkage", "KEY=VALUE"),
            ("ebb run m --input x.npy", "NAME=FILE"),
            ("ebb model shrink m --device disk:0", "cpu:0"),
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ValueValidation, "{line}");
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains(form), "{line}: {error}");
        }
    }

    #[test]
    fn service_is_another_name_of_server() {
        assert!(matches!(
            parsed("ebb service status").unwrap().command,
            Command::Server(ServerCommand::Status)
        ));
    }

    #[test]
    fn json_may_stand_anywhere() {
        for line in ["ebb --json model list", "ebb model --json list", "ebb model list --json"] {
            assert!(parsed(line).unwrap().global.json, "{line}");
        }
    }

    #[test]
    fn help_and_its_exit_codes() {
        insta::assert_snapshot!(Cli::command().render_long_help());
    }
}
