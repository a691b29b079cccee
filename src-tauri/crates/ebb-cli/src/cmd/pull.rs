//! `ebb model pull`

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use ebb_api::{alias_of, downloaded_weights, model_folder};
use ebb_core::{
    Code, Failure, Places,
    operations::{AddModel, ModelEntry},
};
use ebb_hub::{Hub, Plan, Progress, Pulled, Work};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{import, interrupt::or_interrupt};
use crate::{
    args::PullArgs,
    error::{Result, storage},
    host,
    render::{self, Out, PullReport, note},
};

pub(super) async fn run(args: PullArgs, places: &Places, out: &mut Out) -> Result {
    let PullArgs { model: reference, alias, revision, force } = args;
    let alias = alias.unwrap_or_else(|| alias_of(&reference.name));
    let hub = Hub::from_env().map_err(Failure::from)?;
    let known = host::connect(places).await?.models().await?.models;
    let plan =
        or_interrupt(async { Ok(hub.plan(&reference, revision.as_deref()).await.map_err(Failure::from)?) })
            .await?;
    let models = places.models_folder();
    let folder = model_folder(&models, &plan);
    // Told before gigabytes come, not after.
    check_alias(&alias, &folder, &known)?;

    let (pulled, imported) = if plan.format.needs_import() && !force && holds_something(&folder) {
        (None, None)
    } else {
        let pulled = or_interrupt(pull(&hub, &plan, &models, force, out)).await?;
        let imported = match downloaded_weights(&pulled) {
            Some(weights) => Some(import::made(weights, folder.clone(), force, out).await?),
            None => None,
        };
        (Some(pulled), imported)
    };
    let model = add(places, folder, alias).await?;
    out.show(&PullReport { model, pulled, imported }, render::pull_report)
}

/// Downloads, with a bar where somebody looks.
async fn pull(hub: &Hub, plan: &Plan, models: &Path, force: bool, out: &Out) -> Result<Pulled> {
    std::fs::create_dir_all(models).map_err(|error| storage("make", models, &error))?;
    let shown = !out.json && std::io::stderr().is_terminal();
    let bar = ProgressBar::with_draw_target(
        Some(plan.total_bytes()),
        if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
    );
    let template = "{msg:24} {bar:30} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let json = out.json;
    let mut progress = |at: Progress| {
        bar.set_position(at.done_bytes);
        match at.work {
            Work::Checking => {
                bar.set_message(format!("checking {}", at.file));
                // What is here already says nothing of how fast the rest comes.
                bar.reset_eta();
            }
            Work::Downloading => bar.set_message(at.file),
            Work::Waiting { wait_ms, reason } if !json => {
                bar.suspend(|| {
                    note(&format!("{reason}; trying again in {:.1} s\n", wait_ms as f64 / 1000.0))
                });
            }
            Work::Waiting { .. } => {}
        }
    };
    let pulled = hub.pull(plan, models, force, &mut progress).await;
    bar.finish_and_clear();
    Ok(pulled.map_err(Failure::from)?)
}

/// Whether the alias is free, or this model's already.
fn check_alias(alias: &str, folder: &Path, known: &[ModelEntry]) -> Result {
    match known.iter().find(|entry| entry.alias == alias) {
        Some(entry) if entry.path != folder => Err(Failure::new(
            Code::AlreadyExists,
            format!("there is another model '{alias}' already, at {}", entry.path.display()),
        )
        .hint("choose another alias with --alias, or remove that model first")
        .param("alias")
        .into()),
        _ => Ok(()),
    }
}

/// Takes the model into the catalogue, where it is not. The host is asked for anew: one that the CLI started ends when it
/// has nothing to do, and a download may take longer than that.
async fn add(places: &Places, path: PathBuf, alias: String) -> Result<ModelEntry> {
    let client = host::connect(places).await?;
    let known = client.models().await?.models;
    match known.into_iter().find(|entry| entry.path == path && entry.alias == alias) {
        Some(entry) => Ok(entry),
        None => Ok(client.add_model(&AddModel { path, alias: Some(alias) }).await?),
    }
}

fn holds_something(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}
