//! `ebb plugin run`: a plugin under development, installed for as long as this command runs.

use ebb_client::{Client, Plugin};
use ebb_core::{
    PluginWorld,
    operations::{AskRequest, AttachPlugin, InstallPlugin, PluginEntry},
};

use super::{super::rag, follow, grants};
use crate::{
    args::PluginRunArgs,
    cmd::interrupt::or_interrupt,
    error::{Error, Result, storage},
    render::{Out, note},
};

/// Lines of its log to begin with.
const LINES: u32 = 10;

pub(super) async fn run(client: &Client, args: PluginRunArgs, out: &mut Out) -> Result {
    let path = std::path::absolute(&args.folder).map_err(|error| storage("find", &args.folder, &error))?;
    let entry = client.install_plugin(&InstallPlugin { path, replace: false }).await?;
    let plugin = client.plugin(&entry.manifest.id);
    let tried = or_interrupt(try_out(&plugin, &entry, args, out)).await;
    // Where both fail, the first failure is the cause.
    let left = plugin.remove().await;
    match tried {
        // Ctrl-C is how one leaves it.
        Ok(()) | Err(Error::Interrupted) => {}
        Err(error) => return Err(error),
    }
    left?;
    Ok(())
}

async fn try_out(plugin: &Plugin, entry: &PluginEntry, args: PluginRunArgs, out: &mut Out) -> Result {
    let asked = entry.manifest.capabilities.iter().map(|request| request.capability).collect();
    let paths = grants::absolute(args.path)?;
    plugin.grant(grants::grants(asked, &args.model, &paths)).await?;
    match entry.manifest.world {
        PluginWorld::ShrinkPolicy => {
            for model in &args.model {
                plugin.attach(&AttachPlugin { model: model.clone(), position: None, grant: false }).await?;
            }
            note(&format!(
                "'{}' is attached to {}; build it again and it is reloaded; Ctrl-C ends it\n",
                plugin.id(),
                if args.model.is_empty() {
                    "no model: name one with --model".into()
                } else {
                    args.model.join(", ")
                }
            ));
            follow(plugin, LINES, out).await
        }
        PluginWorld::RagPipeline => {
            rag::ingest(plugin, out).await?;
            match args.ask {
                Some(question) => {
                    rag::ask(plugin, AskRequest { question, ..AskRequest::default() }, out).await
                }
                None => follow(plugin, LINES, out).await,
            }
        }
    }
}
