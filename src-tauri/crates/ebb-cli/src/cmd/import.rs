//! `ebb model import`

use std::{
    io::IsTerminal as _,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use ebb_core::{Failure, ModelKind, format_bytes};
use ebb_import::{Imported, Options, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    error::{Error, Result},
    render::Out,
};

pub(super) async fn run(source: PathBuf, dest: PathBuf, force: bool, out: &mut Out) -> Result {
    let imported = made(source, dest, force, out).await?;
    out.show(&imported, |made, look| {
        let of_what = match made.kind {
            ModelKind::Embeddings => format!("vectors of {}", made.hidden_size),
            _ => format!("{} million parameters", made.parameters / 1_000_000),
        };
        let notes: String = made.notes.iter().map(|note| format!("note: {note}\n")).collect();
        format!(
            "{}  {}, {} layers, {of_what}, {}\n{notes}add it with: ebb model add {}\n",
            look.bold(made.folder.display()),
            made.architecture,
            made.layers,
            format_bytes(made.model_bytes),
            quoted(&made.folder.display().to_string()),
        )
    })
}

/// Imports, with a bar where somebody looks, until it is done or Ctrl-C.
pub(super) async fn made(source: PathBuf, dest: PathBuf, force: bool, out: &Out) -> Result<Imported> {
    let shown = !out.json && std::io::stderr().is_terminal();
    let given_up = std::sync::Arc::new(AtomicBool::new(false));
    let heard = given_up.clone();
    let mut work = tokio::task::spawn_blocking(move || import(&source, &dest, force, shown, &heard));
    let imported = tokio::select! {
        done = &mut work => done,
        signal = tokio::signal::ctrl_c() => {
            signal?;
            // It removes what it began.
            given_up.store(true, Ordering::Relaxed);
            work.await
        }
    };
    match imported.map_err(std::io::Error::from)? {
        Err(ebb_import::Error::Cancelled) => Err(Error::Interrupted),
        imported => Ok(imported.map_err(Failure::from)?),
    }
}

fn import(
    source: &Path,
    dest: &Path,
    force: bool,
    shown: bool,
    given_up: &AtomicBool,
) -> std::result::Result<Imported, ebb_import::Error> {
    let bar = ProgressBar::with_draw_target(
        Some(0),
        if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
    );
    if let Ok(style) = ProgressStyle::with_template("{msg:20} {bar:30} {binary_bytes}/{binary_total_bytes}") {
        bar.set_style(style);
    }
    let mut progress = |at: Progress| {
        bar.set_message(at.stage.to_string());
        bar.set_length(at.total_bytes);
        bar.set_position(at.done_bytes);
        if given_up.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let imported = ebb_import::import(source, dest, Options { force }, &mut progress);
    bar.finish_and_clear();
    imported
}

/// As a shell takes it for one word.
pub(super) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/:._-+@".contains(c) || (cfg!(windows) && c == '\\');
    if path.chars().all(plain) {
        path.to_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_copied_into_a_shell() {
        assert_eq!(quoted("/models/minilm-v2"), "/models/minilm-v2");
        assert_eq!(quoted("/my models/it's"), r"'/my models/it'\''s'");
    }
}
