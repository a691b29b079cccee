//! `ebb completions` and `ebb man`

use std::path::Path;

use clap::CommandFactory as _;

use crate::{
    args::{Cli, script},
    error::{Result, storage},
    render::Out,
};

pub(super) fn completions(shell: clap_complete::Shell, out: &mut Out) -> Result {
    Ok(std::io::Write::write_all(out, &script(shell)?)?)
}

pub(super) fn man(folder: Option<&Path>, out: &mut Out) -> Result {
    match folder {
        None => Ok(clap_mangen::Man::new(Cli::command()).render(out)?),
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
            .map_err(|error| storage("write man pages to", folder, &error)),
    }
}
