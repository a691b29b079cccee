//! Plugins.

use std::collections::BTreeMap;

use ebb_core::{
    Json, format_bytes,
    operations::{CapabilityState, Grant, LogLevel, PluginEntry, PluginList, PluginLogLine, PluginOrigin},
};

use super::{Look, Table, model::word, stats::duration};

/// Every plugin.
pub(crate) fn plugin_list(list: &PluginList, look: Look) -> String {
    let mut table = Table::new(look, &["plugin", "version", "world", "from", "attached to", "~what it does"]);
    for entry in &list.plugins {
        let attached: Vec<_> = entry.attachments.iter().map(|one| one.model.as_str()).collect();
        let attached = if attached.is_empty() { "-".to_owned() } else { attached.join(", ") };
        let does = match &entry.broken {
            Some(why) => format!("broken: {why}"),
            None => entry.manifest.description.clone(),
        };
        table.row([
            entry.manifest.id.clone(),
            entry.manifest.version.clone(),
            entry.manifest.world.to_string(),
            word(&entry.origin),
            attached,
            does,
        ]);
    }
    if table.is_empty() {
        return "no plugins: 'ebb plugin install FILE' installs one, 'ebb plugin new NAME' begins one\n"
            .into();
    }
    table.text(look)
}

/// A plugin that was just installed: what it asks for, in the author's words and in ours, and how to grant it.
pub(crate) fn consent(entry: &PluginEntry, look: Look) -> String {
    let manifest = &entry.manifest;
    let id = &manifest.id;
    let mut text = format!(
        "{} {} by {} ({}) is installed: {}\n",
        look.bold(&manifest.name),
        manifest.version,
        manifest.author,
        manifest.licence,
        manifest.description
    );
    if entry.origin == PluginOrigin::Development {
        text += "it is read from its folder, and again whenever it is built\n";
    }
    if manifest.capabilities.is_empty() {
        text += "it asks for nothing\n";
        return text;
    }
    text += "\nIt asks for:\n";
    for request in &manifest.capabilities {
        let capability = request.capability;
        text += &format!("  {}  {}\n", look.bold(capability), capability.meaning());
        text += &look.dim(format!("      \"{}\"\n", request.reason));
    }
    text + &match manifest.world {
        ebb_core::PluginWorld::ShrinkPolicy => {
            format!("\nattach it, with what it asks for:  ebb plugin attach {id} MODEL --grant\n")
        }
        ebb_core::PluginWorld::RagPipeline => {
            format!("\ngrant it:  ebb plugin grant {id} all --model MODEL --path FOLDER\n")
        }
    }
}

/// All that is known of a plugin.
pub(crate) fn plugin_entry(entry: &PluginEntry, look: Look) -> String {
    let manifest = &entry.manifest;
    let mut text = format!("{}  {} {}\n", look.bold(&manifest.id), manifest.name, manifest.version);
    if let Some(percent) = entry.compiling_percent {
        text += &format!("it is being compiled, {percent} % are done: what needs it waits\n");
    }
    if let Some(why) = &entry.broken {
        text += &format!("{} {why}\n", look.bad("broken:"));
    }
    let mut facts = Table::new(look, &["", "~"]);
    facts.row(["what it does", &manifest.description]);
    facts.row(["author", &format!("{}, {}", manifest.author, manifest.licence)]);
    if let Some(homepage) = &manifest.homepage {
        facts.row(["homepage", homepage]);
    }
    facts.row(["world", &format!("{} of ebb:plugin {}", manifest.world, manifest.contract)]);
    facts.row(["from", &format!("{}, {}", word(&entry.origin), entry.path.display())]);
    facts.row(["component", &format!("{}, sha256 {}", format_bytes(entry.size_bytes), entry.sha256)]);
    if let Some(promise) = &manifest.promise {
        facts.row(["promise", &promise.words]);
    }
    facts.row(["memory", &format!("{} in its instances", format_bytes(entry.memory_bytes))]);
    facts.row(["store", &format_bytes(entry.store_bytes)]);
    facts.row(["time", &format!("{} of processor time", duration(entry.cpu_us / 1_000))]);
    text += facts.text(look).trim_start_matches('\n');
    text += &format!("\n{}", plugin_capabilities(entry, look));
    text += &format!("\n{}", plugin_attachments(entry, look));
    if !entry.settings.is_empty() {
        text += &format!("\n{}", plugin_settings(&entry.settings, look));
    }
    text
}

/// What it asked for, was granted and really used, side by side.
pub(crate) fn plugin_capabilities(entry: &PluginEntry, look: Look) -> String {
    let mut table = Table::new(look, &["capability", "granted", ">used", ">refused", "~asked for"]);
    for state in &entry.capabilities {
        let CapabilityState { capability, asked, granted, calls, refused, .. } = state;
        table.row([
            capability.to_string(),
            granted.as_ref().map_or_else(|| "no".to_owned(), scope),
            (calls - refused.min(calls)).to_string(),
            refused.to_string(),
            asked.clone().unwrap_or_else(|| "not asked for".to_owned()),
        ]);
    }
    if table.is_empty() {
        return "it asks for no capability\n".into();
    }
    table.text(look)
}

fn scope(grant: &Grant) -> String {
    let paths = grant.paths.iter().map(|path| path.display().to_string());
    let parts: Vec<_> = grant.models.iter().cloned().chain(paths).collect();
    if parts.is_empty() { "yes".to_owned() } else { parts.join(", ") }
}

/// Where it is attached.
pub(crate) fn plugin_attachments(entry: &PluginEntry, look: Look) -> String {
    let id = &entry.manifest.id;
    let heads = ["model", ">place", "state", ">calls", ">decisions", ">failures", ">each"];
    let mut table = Table::new(look, &heads);
    for one in &entry.attachments {
        let state = match (&one.detached_because, one.active) {
            (Some(_), _) => "detached",
            (None, true) => "decides",
            (None, false) => "waits for the model",
        };
        table.row([
            one.model.clone(),
            one.position.to_string(),
            state.to_owned(),
            one.calls.to_string(),
            one.decisions.to_string(),
            one.failures.to_string(),
            one.call_us.map_or_else(|| "-".to_owned(), |us| format!("{us} µs")),
        ]);
    }
    if table.is_empty() {
        return format!("{}  is attached to no model\n", look.bold(id));
    }
    let mut text = table.text(look);
    for one in &entry.attachments {
        if let Some(why) = &one.detached_because {
            text += &format!("{} {}: {why}\n", look.warn("detached from"), one.model);
            text += &format!("attach it again:  ebb plugin attach {id} {}\n", one.model);
        }
    }
    text
}

/// Settings as they hold.
pub(crate) fn plugin_settings(settings: &BTreeMap<String, Json>, look: Look) -> String {
    let mut table = Table::new(look, &["setting", "value"]);
    for (name, value) in settings {
        table.row([name.clone(), value.to_string()]);
    }
    if table.is_empty() {
        return "it has no settings\n".into();
    }
    table.text(look)
}

/// A line of a plugin's log, with the time of day in UTC.
pub(crate) fn plugin_log_line(line: &PluginLogLine, look: Look) -> String {
    let since_midnight_s = line.time_ms / 1_000 % 86_400;
    let (h, m, s) = (since_midnight_s / 3_600, since_midnight_s / 60 % 60, since_midnight_s % 60);
    let level = match line.level {
        LogLevel::Error => look.bad("error"),
        LogLevel::Warn => look.warn("warn "),
        LogLevel::Info => "info ".to_owned(),
        LogLevel::Debug => look.dim("debug"),
        LogLevel::Trace => look.dim("trace"),
    };
    let whose = if line.from_host { look.dim("ebb: ") } else { String::new() };
    let model = line.model.as_ref().map(|model| look.dim(format!(" {model}"))).unwrap_or_default();
    let request = look.dim(format!("#{}", line.request));
    format!(
        "{h:02}:{m:02}:{s:02}.{:03} {level} {request}{model}  {whose}{}\n",
        line.time_ms % 1_000,
        shown(&line.message)
    )
}

/// A plugin's own text may not move the cursor, change colours or turn the rest of the line around.
fn shown(message: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    message.chars().map(|c| if c.is_control() && c != '\t' || turns(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use ebb_core::operations::Attachment;
    use ebb_core::{Capability, CapabilityRequest, PluginLimits, PluginManifest, PluginWorld};

    use super::*;

    fn entry() -> PluginEntry {
        let manifest = PluginManifest {
            id: "slack".into(),
            name: "Slack".into(),
            version: "1.0.0".into(),
            description: "Shrinks when much lies idle.".into(),
            author: "Ebb".into(),
            licence: "MIT".into(),
            homepage: None,
            world: PluginWorld::ShrinkPolicy,
            contract: "0.1.0".into(),
            capabilities: vec![CapabilityRequest {
                capability: Capability::MemoryControl,
                reason: "to shrink".into(),
            }],
            limits: PluginLimits::default(),
            settings: None,
            promise: None,
        };
        let state = CapabilityState {
            capability: Capability::MemoryControl,
            asked: Some("to shrink".into()),
            meaning: Capability::MemoryControl.meaning().into(),
            granted: Some(Grant {
                capability: Capability::MemoryControl,
                models: vec!["minilm".into()],
                paths: Vec::new(),
            }),
            calls: 5,
            refused: 2,
            last_used_at_ms: None,
        };
        let attachment = Attachment {
            plugin: "slack".into(),
            model: "minilm".into(),
            position: 0,
            active: false,
            detached_because: Some("it failed three times in a row".into()),
            calls: 9,
            decisions: 1,
            failures: 3,
            call_us: Some(2),
        };
        PluginEntry {
            manifest,
            origin: PluginOrigin::Installed,
            path: "/p/slack.wasm".into(),
            size_bytes: 22_528,
            sha256: "ab".into(),
            capabilities: vec![state],
            attachments: vec![attachment],
            settings: [("ratio".to_owned(), Json(serde_json::json!(2)))].into(),
            limits: PluginLimits::default(),
            store_bytes: 0,
            memory_bytes: 1 << 20,
            cpu_us: 18,
            compiling_percent: None,
            broken: None,
        }
    }

    #[test]
    fn a_plugin_shows_what_it_asked_was_granted_and_used() {
        insta::assert_snapshot!(plugin_entry(&entry(), Look::plain()));
    }

    #[test]
    fn an_installed_plugin_says_what_it_asks_for_and_how_to_grant_it() {
        insta::assert_snapshot!(consent(&entry(), Look::plain()));
        let list = PluginList { plugins: vec![entry()] };
        insta::assert_snapshot!(plugin_list(&list, Look::plain()));
        assert!(plugin_list(&PluginList { plugins: vec![] }, Look::plain()).contains("ebb plugin new"));
    }

    #[test]
    fn a_log_line_cannot_move_the_cursor() {
        let line = PluginLogLine {
            seq: 1,
            time_ms: 3_723_004,
            level: LogLevel::Warn,
            request: 7,
            model: Some("m".into()),
            from_host: false,
            message: "\u{1b}[2Jgone \u{202e}tuo\u{2066}".into(),
        };
        assert_eq!(plugin_log_line(&line, Look::plain()), "01:02:03.004 warn  #7 m   [2Jgone  tuo \n");
    }
}
