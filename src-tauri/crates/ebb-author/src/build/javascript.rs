//! JavaScript: jco makes the component, with QuickJS in it.

use std::path::Path;

use ebb_core::PluginWorld;

use super::{
    Scratch,
    tool::{Tool, run},
};
use crate::Error;

pub(super) fn component(
    folder: &Path,
    world: PluginWorld,
    scratch: &Scratch,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<u8>, Error> {
    let tool = find(folder)?;
    tell("jco makes the component, with QuickJS in it");
    let mut command = tool.command();
    command.current_dir(folder).args(["componentize", "app.js", "--wit"]).arg(scratch.wit(folder)?);
    command.args(["--world-name", world.name(), "--backend", "qjs", "--backend-qjs-disable-async"]);
    if world == PluginWorld::ShrinkPolicy {
        // No clock, randomness or files that a policy could wait for.
        command.arg("--backend-qjs-stub-wasi");
    }
    run("jco", command.arg("--out").arg(scratch.component()))?;
    crate::folder::read(&scratch.component())
}

fn find(folder: &Path) -> Result<Tool, Error> {
    let (name, npx) = if cfg!(windows) { ("jco.cmd", "npx.cmd") } else { ("jco", "npx") };
    // Absolute: it is started in the folder. Packages may lie further up, as Node has it.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let own = folder.ancestors().map(|folder| folder.join("node_modules/.bin").join(name));
    let own = own.filter(|path| path.is_file()).map(|path| Tool::at(&path));
    let others = [Tool::new([name]), Tool::new([npx, "--no-install", "jco"])];
    Tool::first(own.chain(others)).ok_or_else(|| Error::NoTool {
        needs: "a plugin in JavaScript is built by jco".to_owned(),
        hint: format!("run 'npm install' in {}; it needs Node 20 or later", folder.display()),
    })
}
