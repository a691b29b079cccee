//! `ebb server ...`

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Be the host, in the foreground, until Ctrl-C
    Run(RunArgs),
    /// Start the host in the background and say where it listens
    Start(StartArgs),
    /// Have the host finish what is in flight and end; loaded models come back with the next start
    Stop,
    /// Stop the host where one runs, start it, and bring its models back
    Restart(StartArgs),
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
    /// Print the description of every route, an OpenAPI document; needs no host
    #[command(hide = true)]
    Openapi,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct StartArgs {
    /// Listen here, or fail where it is taken; without this, 4770 or the next that is free
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Serve the page of the app to browsers on this machine, and print a link that lets one in
    #[arg(long)]
    pub(crate) ui: bool,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) start: StartArgs,
    /// End after so many seconds with no model loaded
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle_exit: Option<u64>,
}
