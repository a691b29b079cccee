//! `ebb rag`: the pipeline plugin, driven from the command line.

use std::io::{IsTerminal as _, Write as _};

use ebb_client::{Client, Plugin};
use ebb_core::{
    Capability, Code, Failure, Json, ModelKind, Places,
    operations::{AskAnswer, AskPiece, AskRequest, Grant, IngestPiece, PluginEntry, PluginSettings},
};
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{interrupt::or_interrupt, plugin::absolute};
use crate::{
    args::{RagCommand, RagModels},
    error::Result,
    host,
    render::{self, Out, note},
};

/// Steps of a progress bar.
const STEPS: u64 = 1_000;

pub(super) async fn run(command: RagCommand, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    match command {
        RagCommand::Add { paths, models, plugin } => {
            let paths = absolute(paths)?;
            let plugin = client.plugin(plugin.plugin);
            choose(&client, &plugin, models, out).await?;
            let documents = Grant { capability: Capability::Documents, models: Vec::new(), paths };
            plugin.grant(vec![documents]).await?;
            or_interrupt(ingest(&plugin, out)).await
        }
        RagCommand::Update { plugin } => or_interrupt(ingest(&client.plugin(plugin.plugin), out)).await,
        RagCommand::Remove { paths, plugin } => {
            let paths = absolute(paths)?;
            let plugin = client.plugin(plugin.plugin);
            plugin
                .revoke(vec![Grant { capability: Capability::Documents, models: Vec::new(), paths }])
                .await?;
            or_interrupt(ingest(&plugin, out)).await
        }
        RagCommand::Ask { question, models, plugin } => {
            let plugin = client.plugin(plugin.plugin);
            choose(&client, &plugin, models, out).await?;
            or_interrupt(ask(&plugin, AskRequest { question, ..AskRequest::default() }, out)).await
        }
        RagCommand::Status { plugin } => {
            out.show(&client.plugin(plugin.plugin).index().await?, render::plugin_index)
        }
    }
}

/// Grants the plugin its store and the models that were named, else the only ones of their kind, unless it has some already.
async fn choose(client: &Client, plugin: &Plugin, models: RagModels, out: &Out) -> Result {
    let entry = plugin.info().await?;
    let catalogue = client.models().await?.models;
    let only = |kind: ModelKind| {
        let mut of_kind =
            catalogue.iter().filter(|model| model.kind == kind).map(|model| model.alias.clone());
        let first = of_kind.next();
        if of_kind.next().is_some() { None } else { first }
    };
    let mut grants = Vec::new();
    let mut settings = PluginSettings::default();
    for (named, kind, capability, setting) in [
        (models.embedding_model, ModelKind::Embeddings, Capability::InferenceEmbed, "embedding-model"),
        (models.chat_model, ModelKind::Chat, Capability::InferenceGenerate, "chat-model"),
    ] {
        let chosen = match named {
            Some(named) => Some(named),
            None if granted(&entry, capability) => continue,
            None => only(kind),
        };
        // Whether one is needed, the plugin says when it looks for it.
        let Some(model) = chosen else { continue };
        if entry.settings.contains_key(setting) {
            settings.settings.insert(setting.to_owned(), Json(model.clone().into()));
        }
        let of_model = [capability, Capability::MemoryRead, Capability::MemoryControl];
        let asked = of_model.into_iter().filter(|one| asks(&entry, *one));
        grants.extend(asked.map(|capability| Grant {
            capability,
            models: vec![model.clone()],
            paths: Vec::new(),
        }));
        if !out.json {
            note(&format!("'{}' may use '{model}'\n", plugin.id()));
        }
    }
    if !granted(&entry, Capability::Store) && asks(&entry, Capability::Store) {
        grants.push(Grant { capability: Capability::Store, models: Vec::new(), paths: Vec::new() });
    }
    if !grants.is_empty() {
        plugin.grant(grants).await?;
    }
    if !settings.settings.is_empty() {
        plugin.set_settings(&settings).await?;
    }
    Ok(())
}

fn granted(entry: &PluginEntry, capability: Capability) -> bool {
    entry.capabilities.iter().any(|state| state.capability == capability && state.granted.is_some())
}

fn asks(entry: &PluginEntry, capability: Capability) -> bool {
    entry.manifest.capabilities.iter().any(|request| request.capability == capability)
}

/// Brings the index up to date, and shows how far it is.
pub(super) async fn ingest(plugin: &Plugin, out: &mut Out) -> Result {
    let mut pieces = plugin.ingest().await?;
    let bar = bar(out);
    while let Some(piece) = pieces.next().await {
        match piece? {
            IngestPiece::Progress(progress) => {
                bar.set_position((f64::from(progress.fraction.clamp(0.0, 1.0)) * STEPS as f64) as u64);
                bar.set_message(progress.message);
            }
            IngestPiece::Report(report) => {
                bar.finish_and_clear();
                return out.show(&report, render::ingest_report);
            }
            // The client has made an error of it.
            IngestPiece::Error(_) => {}
        }
    }
    Err(Failure::new(Code::Internal, "the ingest ended without a report").into())
}

/// Asks, and writes the answer as it comes in, then the passages that it rests on.
pub(super) async fn ask(plugin: &Plugin, request: AskRequest, out: &mut Out) -> Result {
    let mut pieces = plugin.ask_stream(&request).await?;
    let bar = bar(out);
    let mut answer = AskAnswer::default();
    while let Some(piece) = pieces.next().await {
        match piece? {
            AskPiece::Progress(progress) => bar.set_message(progress.message),
            AskPiece::Citations(citations) => answer.citations = citations,
            AskPiece::Text(text) => {
                bar.finish_and_clear();
                if !out.json {
                    write!(out, "{}", out.printable(&text))?;
                    out.flush()?;
                }
                answer.answer.push_str(&text);
            }
            AskPiece::Done { took_ms } => answer.took_ms = took_ms,
            // The client has made an error of it.
            AskPiece::Error(_) => {}
        }
    }
    bar.finish_and_clear();
    if out.json {
        return out.show(&answer, |_, _| String::new());
    }
    let citations = render::citations(&answer, out.look);
    write!(out, "\n{citations}")?;
    Ok(out.flush()?)
}

fn bar(out: &Out) -> ProgressBar {
    let shown = !out.json && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(STEPS), target);
    match ProgressStyle::with_template("{bar:40} {percent}%  {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
