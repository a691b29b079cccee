//! `ebb model import`

use std::{io::IsTerminal as _, path::Path};

use ebb_core::{Failure, format_bytes};
use ebb_import::{Options, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{error::Result, render::Out};

pub(super) fn run(source: &Path, dest: &Path, force: bool, out: &mut Out) -> Result {
    let shown = !out.json && std::io::stderr().is_terminal();
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
    };
    let imported = ebb_import::import(source, dest, Options { force }, &mut progress);
    bar.finish_and_clear();
    let imported = imported.map_err(Failure::from)?;
    out.show(&imported, |made, look| {
        format!(
            "{}  {}, {} layers, vectors of {}, {}\nadd it with: ebb model add {}\n",
            look.bold(made.folder.display()),
            made.architecture,
            made.layers,
            made.hidden_size,
            format_bytes(made.model_bytes),
            quoted(&made.folder.display().to_string()),
        )
    })
}

/// As a shell takes it for one word.
fn quoted(path: &str) -> String {
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
