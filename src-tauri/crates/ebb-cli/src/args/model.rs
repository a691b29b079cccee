//! `ebb model ...`

use std::{path::PathBuf, str::FromStr};

use clap::Subcommand;
use ebb_core::{KeepAlive, Target};

use super::{LoadArgs, Pair, PullArgs, load::keep_alive};

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Add a model folder, or a bare .onnx or .ort file, to the catalogue
    Add {
        /// The folder or file
        path: PathBuf,
        /// Its name from now on; the folder's or file's where not given
        #[arg(long, value_name = "ALIAS")]
        alias: Option<String>,
    },
    /// List the models of the catalogue
    List,
    /// Find models that other programs hold already: the Hub's cache, Foundry Local, Ollama, LM Studio
    Find,
    /// Download a model of the Hub, import it where it must be, and add it; what was interrupted goes on
    ///
    /// HF_TOKEN, or the token that the Hub's own program keeps, opens private and gated models. HF_ENDPOINT names another
    /// Hub.
    Pull(PullArgs),
    /// Show a model: its files, inputs, outputs, and the options that hold
    Info {
        /// Alias of the model
        model: String,
    },
    /// Make an ONNX model folder from foreign weights (safetensors of a BERT, GGUF of a Llama); needs no host
    Import {
        /// The folder with config.json, model.safetensors and tokenizer.json, or the .gguf file
        source: PathBuf,
        /// The new folder
        dest: PathBuf,
        /// Replace the new folder where it holds something already
        #[arg(long)]
        force: bool,
    },
    /// Take a model out of the catalogue, unloading it first; its files stay
    Remove {
        /// Alias of the model
        model: String,
    },
    /// Load a model, and show what each option came to
    Load {
        /// Alias of the model
        model: String,
        #[command(flatten)]
        load: Box<LoadArgs>,
        /// Unload it first where it is loaded with other options
        #[arg(long)]
        force: bool,
    },
    /// Unload a model: its worker process ends, everything it held comes back
    Unload {
        /// Alias of the model
        model: String,
    },
    /// Show what a model holds: in use, reserved, slack, peak, limit, resident, private, runs
    Stats {
        /// Alias of the model
        model: String,
        /// Keep showing, until Ctrl-C; one line for each sample where the output is not a terminal
        #[arg(long)]
        watch: bool,
    },
    /// Give the free memory of a model's arenas back to the system, or that of all models
    Shrink {
        /// Alias of the model
        #[arg(required_unless_present = "all")]
        model: Option<String>,
        /// Every model in memory
        #[arg(long, conflicts_with_all = ["model", "after_next_run"])]
        all: bool,
        /// Not now but once, when the next request has been answered
        #[arg(long)]
        after_next_run: bool,
        /// Only these arenas: cpu:0, gpu:0, several joined by ';'. May be repeated
        #[arg(long, value_name = "DEVICE")]
        device: Vec<DeviceArg>,
    },
    /// Set a run option for the requests that follow; an empty value takes it away
    SetRuntimeOption {
        /// Alias of the model
        model: String,
        /// The option, such as memory.enable_memory_arena_shrinkage='cpu:0;gpu:0'
        #[arg(value_name = "KEY=VALUE")]
        option: Pair,
    },
    /// Show the run options that hold
    RuntimeOptions {
        /// Alias of the model
        model: String,
    },
    /// Count the tokens that a model's own tokenizer makes of each text
    CountTokens {
        /// Alias of the model
        model: String,
        /// The texts
        #[arg(value_name = "TEXT", required_unless_present = "file", conflicts_with = "file")]
        texts: Vec<String>,
        /// Take the texts from a file of UTF-8, one a line; '-' is stdin
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Record what a model holds while it is really used, for policies to be tried on; no texts are in it
    Record {
        /// Alias of the model
        model: String,
        /// The recording: a line of JSON for each request, sample and shrink
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// End after so long (90, 10m, 8h); without it Ctrl-C does, or unloading the model
        #[arg(long = "for", value_name = "TIME", value_parser = keep_alive)]
        time: Option<KeepAlive>,
        /// Replace the file where there is one
        #[arg(long)]
        force: bool,
    },
    /// Estimate what a model will need, and show what is free now; an estimate never blocks a load
    Estimate {
        /// Alias of the model
        model: String,
    },
}

/// One or more shrink targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceArg(pub(crate) Vec<Target>);

impl FromStr for DeviceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match Target::parse_list(text) {
            Ok(targets) if !targets.is_empty() => Ok(Self(targets)),
            Ok(_) => Err("name a device, such as cpu:0".to_owned()),
            Err(failure) => Err(format!("{failure}: {}", failure.hint.as_deref().unwrap_or_default())),
        }
    }
}
