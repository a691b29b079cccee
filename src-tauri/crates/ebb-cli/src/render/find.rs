//! Models from elsewhere: found in other programs' caches, or downloaded.

use std::fmt::Write as _;

use ebb_core::{format_bytes, operations::ModelEntry};
use ebb_hub::{Checked, FoundModel, Pulled, Skipped};
use ebb_import::Imported;
use serde::Serialize;

use super::{Look, Table, counted, model_entry};

/// A model that is here already, and what makes it usable.
#[derive(Debug, Serialize)]
pub(crate) struct Offer {
    #[serde(flatten)]
    pub(crate) model: FoundModel,
    /// The command; nothing where it is in the catalogue, or cannot be used.
    pub(crate) how: Option<String>,
    /// Its alias, where it is in the catalogue.
    pub(crate) already_added: Option<String>,
}

/// Everything that was found.
#[derive(Debug, Serialize)]
pub(crate) struct Offers {
    pub(crate) models: Vec<Offer>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A model that was pulled.
#[derive(Debug, Serialize)]
pub(crate) struct PullReport {
    pub(crate) model: ModelEntry,
    /// Nothing where the model was made before.
    pub(crate) pulled: Option<Pulled>,
    pub(crate) imported: Option<Imported>,
}

/// What is here, and the commands to go on with.
pub(crate) fn offers(offers: &Offers, look: Look) -> String {
    let mut table = Table::new(look, &["model", "kind", ">size", "found in", "~state"]);
    for Offer { model, how, already_added } in &offers.models {
        let state = match (already_added, &model.unusable) {
            (Some(alias), _) => format!("added as {alias}"),
            (None, Some(reason)) => reason.clone(),
            (None, None) if how.is_some() && model.kind.needs_import() => "to import".to_owned(),
            (None, None) => "to add".to_owned(),
        };
        let (kind, source) = (model.kind.to_string(), model.source.to_string());
        table.row([model.name.clone(), kind, format_bytes(model.bytes), source, state]);
    }
    let mut text = if table.is_empty() {
        "no models were found; 'ebb model pull hf:ORG/NAME' downloads one\n".to_owned()
    } else {
        table.text(look)
    };
    let commands: Vec<&String> = offers.models.iter().filter_map(|offer| offer.how.as_ref()).collect();
    if !commands.is_empty() {
        text += "\nto use one of them:\n";
        for command in commands {
            let _ = writeln!(text, "  {command}");
        }
    }
    if !offers.skipped.is_empty() {
        let count = offers.skipped.len() as u64;
        let _ = writeln!(text, "\n{}:", counted(count, "place was skipped", "places were skipped"));
        for Skipped { path, reason } in &offers.skipped {
            let _ = writeln!(text, "  {}: {reason}", path.display());
        }
    }
    text
}

/// What came, how it was checked, and the model that it is.
pub(crate) fn pull_report(report: &PullReport, look: Look) -> String {
    let mut text = match &report.pulled {
        None => "it was here already; --force downloads it anew\n".to_owned(),
        Some(pulled) if pulled.already_there => {
            format!("{}  was here already, at this version\n", look.bold(&pulled.repo))
        }
        Some(pulled) => downloaded(pulled, look),
    };
    for note in report.imported.iter().flat_map(|imported| &imported.notes) {
        let _ = writeln!(text, "note: {note}");
    }
    if let (Some(pulled), Some(_)) = (&report.pulled, &report.imported) {
        let bytes = pulled.files.iter().map(|file| file.bytes).sum();
        let folder = pulled.folder.display();
        let _ = writeln!(text, "what it was made of can be deleted: {folder} ({})", format_bytes(bytes));
    }
    text + &model_entry(&report.model, look)
}

fn downloaded(pulled: &Pulled, look: Look) -> String {
    let unchecked: Vec<&str> = pulled
        .files
        .iter()
        .filter(|file| file.checked == Checked::Size)
        .map(|file| file.path.as_str())
        .collect();
    let checked = match unchecked.as_slice() {
        [] => "every hash is right".to_owned(),
        files => format!("the Hub gave no hash of {}; the rest is right", files.join(", ")),
    };
    let files = counted(pulled.files.len() as u64, "file", "files");
    let commit: String = pulled.commit.chars().take(12).collect();
    format!(
        "{}  at {commit}: {files}, {} downloaded, {checked}\n",
        look.bold(&pulled.repo),
        format_bytes(pulled.downloaded_bytes)
    )
}

#[cfg(test)]
mod tests {
    use ebb_core::{LoadOptions, ModelKind, operations::ModelState};
    use ebb_hub::{Format, PulledFile, Source};

    use super::*;

    #[test]
    fn what_was_found_comes_with_commands() {
        let model = |name: &str, kind, unusable: Option<&str>| FoundModel {
            source: Source::HuggingFace,
            name: name.into(),
            path: "/hub/x".into(),
            kind,
            bytes: 90 << 20,
            unusable: unusable.map(Into::into),
        };
        let all = Offers {
            models: vec![
                Offer {
                    model: model("org/MiniLM", Format::Onnx, None),
                    how: None,
                    already_added: Some("minilm".into()),
                },
                Offer {
                    model: model("org/Chat:chat-q4_0", Format::Gguf, None),
                    how: Some("ebb model import /hub/x /models/chat".into()),
                    already_added: None,
                },
                Offer {
                    model: model("org/Odd", Format::Safetensors, Some("not imported")),
                    how: None,
                    already_added: None,
                },
            ],
            skipped: vec![Skipped { path: "/hub/y".into(), reason: "permission denied".into() }],
        };
        insta::assert_snapshot!(offers(&all, Look::plain()), @r"
        model               kind             size  found in      state
        org/MiniLM          onnx         90.0 MiB  Hugging Face  added as minilm
        org/Chat:chat-q4_0  gguf         90.0 MiB  Hugging Face  to import
        org/Odd             safetensors  90.0 MiB  Hugging Face  not imported

        to use one of them:
          ebb model import /hub/x /models/chat

        1 place was skipped:
          /hub/y: permission denied
        ");
        let json = serde_json::to_value(&all).unwrap();
        assert_eq!(json["models"][0]["source"], "hugging_face");
        assert_eq!(json["models"][1]["kind"], "gguf");
        let none = Offers { models: vec![], skipped: vec![] };
        assert!(offers(&none, Look::plain()).contains("ebb model pull"));
    }

    #[test]
    fn a_pull_says_what_was_checked() {
        let file = |path: &str, checked| PulledFile { path: path.into(), bytes: 1 << 20, checked };
        let report = PullReport {
            model: ModelEntry {
                alias: "m".into(),
                path: "/models/org--M".into(),
                kind: ModelKind::Embeddings,
                weights_bytes: 1 << 20,
                state: ModelState::Unloaded,
                reason: None,
                info: None,
                options: LoadOptions::default(),
            },
            pulled: Some(Pulled {
                repo: "org/M".into(),
                commit: "0123456789abcdef".into(),
                format: Format::Onnx,
                folder: "/models/org--M".into(),
                files: vec![file("model.onnx", Checked::Sha256), file("config.json", Checked::Size)],
                already_there: false,
                downloaded_bytes: 2 << 20,
            }),
            imported: None,
        };
        insta::assert_snapshot!(pull_report(&report, Look::plain()), @r"
        org/M  at 0123456789ab: 2 files, 2.0 MiB downloaded, the Hub gave no hash of config.json; the rest is right
        m  embeddings, unloaded
        path     /models/org--M
        weights  1.0 MiB
        ");
    }
}
