//! `ebb plugin new|build|check|test`

use ebb_author::NewPlugin;
use ebb_core::Failure;

use crate::{
    args::AuthorCommand,
    error::{Error, Result},
    render::{self, Out},
};

pub(in crate::cmd) fn run(command: AuthorCommand, out: &mut Out) -> Result {
    match command {
        AuthorCommand::New { name, world, lang, folder } => {
            let plugin = NewPlugin { name, world: world.into(), lang: lang.into(), folder };
            out.show(&ebb_author::new(&plugin).map_err(Failure::from)?, render::new_plugin)
        }
        AuthorCommand::Build { folder, out: file } => {
            let mut tell = |step: &str| render::note(&format!("{step}\n"));
            let built = ebb_author::build(&folder, file.as_deref(), &mut tell).map_err(Failure::from)?;
            out.show(&built, render::built_plugin)
        }
        AuthorCommand::Check { path } => {
            let checked = ebb_author::check(&path).map_err(Failure::from)?;
            out.show(&checked, render::checked_plugin)?;
            if checked.problems.is_empty() { Ok(()) } else { Err(Error::Reported(1)) }
        }
        AuthorCommand::Test { path, trace } => {
            let replayed = ebb_author::test(&path, &trace).map_err(Failure::from)?;
            out.show(&replayed, render::replayed_policy)?;
            if replayed.is_good() { Ok(()) } else { Err(Error::Reported(1)) }
        }
    }
}
