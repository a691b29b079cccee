//! Python: componentize-py makes the component, with the interpreter in it.

use std::path::Path;

use ebb_core::PluginWorld;

use super::{
    Scratch,
    tool::{Tool, run},
};
use crate::Error;

/// The version that this was proven with.
const VERSION: &str = "0.25.1";

/// Starts componentize-py where its package is installed but its program is not on the PATH.
const AS_MODULE: &str = "import sys; from componentize_py import script; sys.exit(script())";

pub(super) fn component(
    folder: &Path,
    world: PluginWorld,
    scratch: &Scratch,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<u8>, Error> {
    let tool = find(folder)?;
    tell("componentize-py makes the component, with Python in it");
    let mut command = tool.command();
    command.current_dir(folder).arg("--wit-path").arg(scratch.wit(folder)?);
    command.args(["--world", world.name(), "componentize", "app", "--output"]).arg(scratch.component());
    if world == PluginWorld::ShrinkPolicy {
        // No clock, randomness or files that a policy could wait for.
        command.arg("--stub-wasi");
    }
    run("componentize-py", command.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    crate::folder::read(&scratch.component())
}

fn find(folder: &Path) -> Result<Tool, Error> {
    let own = if cfg!(windows) { ".venv/Scripts/componentize-py.exe" } else { ".venv/bin/componentize-py" };
    // Absolute: it is started in the folder.
    let own = std::path::absolute(folder.join(own)).map(|path| Tool::at(&path)).ok();
    let pythons = [&["python3"][..], &["python"], &["py", "-3"]];
    let as_module = pythons.map(|python| Tool::new([python, &["-c", AS_MODULE]].concat()));
    let tools = own.into_iter().chain([Tool::new(["componentize-py"])]).chain(as_module);
    Tool::first(tools).ok_or_else(|| Error::NoTool {
        needs: "a plugin in Python is built by componentize-py".to_owned(),
        hint: format!("pip install componentize-py=={VERSION}"),
    })
}
