//! `ebb server ...`

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Be the host, in the foreground, until Ctrl-C
    Run(RunArgs),
    /// Start the host in the background and say where it listens
    Start {
        #[command(flatten)]
        port: PortArg,
    },
    /// Have the host finish what is in flight and end; loaded models come back with the next start
    Stop,
    /// Stop the host where one runs, start it, and bring its models back
    Restart {
        #[command(flatten)]
        port: PortArg,
    },
    /// Show whether a host runs, and how it fares; exit code 3 where none does
    Status,
    /// Show the log of the host
    Logs {
        /// Keep showing what is added, until Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// How many of the last lines
        #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PortArg {
    /// Listen here, or fail where it is taken; without this, 4770 or the next that is free
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) port: PortArg,
    /// End after so many seconds with no model loaded
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle_exit: Option<u64>,
}
