//! `ebb plugin`

mod author;
mod grants;
mod run;

use std::path::Path;

pub(super) use self::author::run as author;
pub(super) use grants::absolute;

use ebb_client::{Client, Plugin};
use ebb_core::{
    Json, Places,
    operations::{AttachPlugin, InstallPlugin, PluginSettings},
};
use futures_util::StreamExt as _;

use super::interrupt::or_interrupt;
use crate::{
    args::{Pair, PluginCommand},
    error::{Error, Result, storage},
    host,
    render::{self, Out},
};

pub(super) async fn run(command: PluginCommand, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    let plugin = |id: String| client.plugin(id);
    match command {
        PluginCommand::List => out.show(&client.plugins().await?, render::plugin_list),
        PluginCommand::Info { plugin: id } => out.show(&plugin(id).info().await?, render::plugin_entry),
        PluginCommand::Install { path, replace } => install(&client, &path, replace, out).await,
        PluginCommand::Grant(args) => grants::grant(&plugin(args.plugin.clone()), args, out).await,
        PluginCommand::Revoke(args) => grants::revoke(&plugin(args.plugin.clone()), args, out).await,
        PluginCommand::Attach { plugin: id, model, position, grant } => {
            let attach = AttachPlugin { model, position, grant };
            out.show(&plugin(id).attach(&attach).await?, render::plugin_attachments)
        }
        PluginCommand::Detach { plugin: id, model } => {
            out.show(&plugin(id).detach(&model).await?, render::plugin_attachments)
        }
        PluginCommand::Settings { plugin: id, settings } => change_settings(&plugin(id), settings, out).await,
        PluginCommand::Logs { plugin: id, follow: false, lines } => out
            .show(&plugin(id).log(lines).await?, |log, look| {
                log.lines.iter().map(|line| render::plugin_log_line(line, look)).collect()
            }),
        PluginCommand::Logs { plugin: id, follow: true, lines } => {
            // Ctrl-C is how one leaves it.
            match or_interrupt(follow(&plugin(id), lines, out)).await {
                Err(Error::Interrupted) => Ok(()),
                other => other,
            }
        }
        // Done elsewhere, before this.
        PluginCommand::Author(_) => Ok(()),
        PluginCommand::Run(args) => run::run(&client, args, out).await,
        PluginCommand::Remove { plugin: id } => out.show(&plugin(id).remove().await?, |entry, look| {
            format!("{}  removed, with all that it kept\n", look.bold(&entry.manifest.id))
        }),
    }
}

async fn install(client: &Client, path: &Path, replace: bool, out: &mut Out) -> Result {
    // The host stands in another folder.
    let path = std::path::absolute(path).map_err(|error| storage("find", path, &error))?;
    let entry = client.install_plugin(&InstallPlugin { path, replace }).await?;
    out.show(&entry, render::consent)
}

/// Shows the settings; changes some first where values are given.
async fn change_settings(plugin: &Plugin, settings: Vec<Pair>, out: &mut Out) -> Result {
    let entry = if settings.is_empty() {
        plugin.info().await?
    } else {
        let settings = settings.into_iter().map(|Pair { key, value }| (key, typed(&value))).collect();
        plugin.set_settings(&PluginSettings { settings }).await?
    };
    out.show(&entry.settings, render::plugin_settings)
}

/// A value as typed: JSON where it is some, else text; nothing is `null`, which goes back to the default.
fn typed(value: &str) -> Json {
    if value.is_empty() {
        return Json::default();
    }
    serde_json::from_str(value).unwrap_or_else(|_| Json(value.into()))
}

/// Shows the log's last lines and what comes after them.
async fn follow(plugin: &Plugin, lines: u32, out: &mut Out) -> Result {
    let look = out.look;
    let mut log = plugin.follow_log(lines).await?;
    while let Some(line) = log.next().await {
        out.line(&line?, |line| render::plugin_log_line(line, look))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json_where_it_is_some() {
        for (text, value) in [
            ("2.5", serde_json::json!(2.5)),
            ("true", serde_json::json!(true)),
            ("minilm", serde_json::json!("minilm")),
            ("\"7\"", serde_json::json!("7")),
            ("", serde_json::Value::Null),
        ] {
            assert_eq!(typed(text), Json(value), "{text}");
        }
    }
}
