//! `ebb model`

use std::{path::Path, time::Duration};

use ebb_client::{Client, Model};
use ebb_core::{
    DEFAULT_PROFILE, LoadOptions, Places, Target,
    operations::{AddModel, TokenCounts},
};

use super::{interrupt::or_interrupt, record, texts::Texts};
use crate::{
    args::{DeviceArg, ModelCommand},
    error::{Error, Result, storage},
    host,
    render::{self, Live, Out},
};

const WATCH_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn run(command: ModelCommand, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    let model = |alias: String| client.model(alias);
    match command {
        ModelCommand::Add { path, alias } => add(&client, &path, alias, out).await,
        ModelCommand::List => out.show(&client.models().await?, render::model_list),
        ModelCommand::Info { model: alias } => {
            let mut entry = model(alias).info().await?;
            if !out.json && entry.info.is_some() {
                entry.options = in_force(&client, entry.options).await;
            }
            out.show(&entry, render::model_entry)
        }
        ModelCommand::Remove { model: alias } => out.show(&model(alias).remove().await?, |entry, look| {
            format!("{}  removed; its files stay at {}\n", look.bold(&entry.alias), entry.path.display())
        }),
        ModelCommand::Load { model: alias, load, force } => {
            let options = LoadOptions::from(*load);
            let model = model(alias);
            let report = if force { model.load_again(&options).await? } else { model.load(&options).await? };
            // The report has the options of ONNX Runtime alone.
            let holds = if out.json { options } else { in_force(&client, model.info().await?.options).await };
            out.show(&report, |report, look| render::load_report(report, &holds, look))
        }
        ModelCommand::Unload { model: alias } => {
            out.show(&model(alias).unload().await?, render::unload_report)
        }
        ModelCommand::Stats { model: alias, watch: false } => {
            out.show(&model(alias).runtime().stats().await?, render::stats)
        }
        ModelCommand::Stats { model: alias, watch: true } => {
            // Ctrl-C is how one leaves it.
            match or_interrupt(watch(&model(alias), out)).await {
                Err(Error::Interrupted) => Ok(()),
                other => other,
            }
        }
        ModelCommand::Shrink { model: alias, all: _, after_next_run, device } => {
            let targets = targets(device);
            match alias {
                Some(alias) => shrink(&model(alias), after_next_run, targets, out).await,
                None => {
                    let report = client.shrink_all(targets).await?;
                    out.show(&report, render::shrink_all_report)?;
                    if report.failed.is_empty() { Ok(()) } else { Err(Error::Reported(1)) }
                }
            }
        }
        ModelCommand::SetRuntimeOption { model: alias, option } => {
            let options = model(alias).set_runtime_option(&option.key, &option.value).await?;
            out.show(&options, render::runtime_options)
        }
        ModelCommand::RuntimeOptions { model: alias } => {
            out.show(&model(alias).runtime().options().await?, render::runtime_options)
        }
        ModelCommand::Estimate { model: alias } => {
            out.show(&model(alias).estimate().await?, render::estimate)
        }
        ModelCommand::CountTokens { model: alias, texts, file } => {
            count_tokens(&model(alias), texts, file.as_deref(), out).await
        }
        ModelCommand::Record { model: alias, out: file, time, force } => {
            record::run(&client, &alias, &file, time, force, out).await
        }
        // Done elsewhere, before this.
        ModelCommand::Find | ModelCommand::Import { .. } | ModelCommand::Pull(_) => Ok(()),
    }
}

/// Options as given, laid over the profile that they name or that holds where they name none.
async fn in_force(client: &Client, options: LoadOptions) -> LoadOptions {
    match client.profile(options.profile.as_deref().unwrap_or(DEFAULT_PROFILE)).await {
        Ok(profile) => options.over(LoadOptions { profile: Some(profile.name), ..profile.options }),
        // It was removed since; what was given is still worth showing.
        Err(_) => options,
    }
}

async fn add(client: &Client, path: &Path, alias: Option<String>, out: &mut Out) -> Result {
    // The host stands in another folder.
    let path = std::path::absolute(path).map_err(|error| storage("find", path, &error))?;
    let entry = client.add_model(&AddModel { path, alias }).await?;
    out.show(&entry, render::model_entry)
}

/// The devices that were typed; `None`: every one.
fn targets(devices: Vec<DeviceArg>) -> Option<Vec<Target>> {
    let targets: Vec<Target> = devices.into_iter().flat_map(|DeviceArg(targets)| targets).collect();
    (!targets.is_empty()).then_some(targets)
}

async fn shrink(model: &Model, after_next_run: bool, targets: Option<Vec<Target>>, out: &mut Out) -> Result {
    if after_next_run {
        let armed = model.runtime().shrink_after_next_run(targets).await?;
        return out.show(&armed, |armed, look| {
            format!("{}  will shrink at the end of run {}\n", look.bold(&armed.model), armed.run)
        });
    }
    out.show(&model.runtime().shrink_arena(targets).await?, render::shrink_report)
}

/// Counts in portions that one request can carry.
async fn count_tokens(model: &Model, texts: Vec<String>, file: Option<&Path>, out: &mut Out) -> Result {
    let mut texts = match file {
        Some(path) => Texts::of_file(path)?,
        None => Texts::typed(texts),
    };
    let mut counts = TokenCounts { model: model.alias().to_owned(), tokens: Vec::new() };
    loop {
        let portion = texts.portion()?;
        if portion.is_empty() {
            return out.show(&counts, render::token_counts);
        }
        counts.tokens.extend(model.count_tokens(portion).await?);
    }
}

/// A table that is drawn again and again; where nobody looks at a terminal, one line for each sample.
async fn watch(model: &Model, out: &mut Out) -> Result {
    let mut live = (out.terminal && !out.json).then(Live::new);
    let mut every = tokio::time::interval(WATCH_EVERY);
    loop {
        every.tick().await;
        let stats = model.runtime().stats().await?;
        match &mut live {
            Some(live) => live.draw(&render::stats(&stats, out.look))?,
            None => out.line(&stats, render::sample_line)?,
        }
    }
}
