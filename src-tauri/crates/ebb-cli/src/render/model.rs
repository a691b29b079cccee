//! Models, what loading did, what unloading did.

use std::fmt::Write as _;

use ebb_core::{
    LoadOptions, format_bytes,
    operations::{LoadReport, ModelEntry, ModelList, ModelState, UnloadReport},
};
use serde::Serialize;

use super::{
    Look, Table,
    given::{given, option_lines, plain},
    info::loaded,
    stats::duration,
};

/// A value's name as it stands in JSON.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "-".into(),
    }
}

/// The catalogue.
pub(crate) fn model_list(list: &ModelList, look: Look) -> String {
    let mut table = Table::new(look, &["model", "kind", "state", ">weights", "path"]);
    for entry in &list.models {
        table.row([
            entry.alias.clone(),
            word(&entry.kind),
            word(&entry.state),
            format_bytes(entry.weights_bytes),
            entry.path.display().to_string(),
        ]);
    }
    if table.is_empty() {
        return "no models yet: 'ebb model add PATH' adds one\n".into();
    }
    table.text(look)
}

/// One model with all that is known of it.
pub(crate) fn model_entry(entry: &ModelEntry, look: Look) -> String {
    let state = match entry.state {
        ModelState::Loaded => look.good(word(&entry.state)),
        ModelState::Failed => look.bad(word(&entry.state)),
        _ => word(&entry.state),
    };
    let mut text = format!("{}  {}, {state}\n", look.bold(&entry.alias), word(&entry.kind));
    if let Some(reason) = &entry.reason {
        let _ = writeln!(text, "{reason}");
    }
    let _ = writeln!(text, "path     {}", entry.path.display());
    let _ = writeln!(text, "weights  {}", format_bytes(entry.weights_bytes));
    match &entry.info {
        Some(info) => text += &loaded(info, &entry.options, look),
        None if entry.options != LoadOptions::default() => {
            let _ = writeln!(text, "\nlast loaded with\n{}", given(&entry.options, look));
        }
        None => {}
    }
    text
}

/// What loading with these options did: what each came to, what the model holds, and what a person should know.
pub(crate) fn load_report(report: &LoadReport, options: &LoadOptions, look: Look) -> String {
    let LoadReport { info, sample, already_loaded, warnings } = report;
    let how = if *already_loaded {
        "was loaded already, with these options".into()
    } else {
        format!("loaded in {}", duration(info.load_ms))
    };
    let mut text = format!("{}  {how}, on {}\n", look.bold(&info.alias), info.provider);
    if let Some(plain) = plain(options) {
        let _ = writeln!(text, "with {plain}");
    }
    text.push('\n');
    if !info.options.is_empty() {
        text += &option_lines(&info.options, look);
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "resident {}, private {}, arenas {} of which {} free",
        format_bytes(sample.resident_bytes),
        format_bytes(sample.private_bytes),
        format_bytes(sample.reserved_bytes()),
        format_bytes(sample.slack_bytes()),
    );
    warn(&mut text, warnings, look);
    text
}

/// What unloading did.
pub(crate) fn unload_report(report: &UnloadReport, look: Look) -> String {
    let gone = if report.worker_gone {
        "its worker process is gone".into()
    } else {
        look.warn("its worker process was not seen to end")
    };
    let mut text = format!(
        "{}  unloaded in {}: {} came back, {gone}\n",
        look.bold(&report.model),
        duration(report.took_ms),
        look.good(format_bytes(report.freed_bytes)),
    );
    warn(&mut text, &report.warnings, look);
    text
}

fn warn(text: &mut String, warnings: &[String], look: Look) {
    for warning in warnings {
        let _ = writeln!(text, "{} {warning}", look.warn("warning:"));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use ebb_core::{
        DType, EmbeddingInfo, ModelInfo, ModelKind, Pooling, Target, TensorInfo,
        options::{OptionLine, Scope},
    };

    use super::*;

    pub(crate) fn info() -> ModelInfo {
        let line = |key: &str, requested: &str, effective: Option<&str>, note: Option<&str>| OptionLine {
            scope: Scope::Arena,
            key: key.into(),
            requested: requested.into(),
            forwarded: Some(format!("{key}={requested}")),
            effective: effective.map(Into::into),
            note: note.map(Into::into),
            warning: note.is_some(),
        };
        ModelInfo {
            alias: "minilm".into(),
            kind: ModelKind::Embeddings,
            file: "model.onnx".into(),
            provider: "cpu".into(),
            arenas: vec![Target::cpu(0)],
            weights_bytes: 90 << 20,
            inputs: vec![TensorInfo {
                name: "input_ids".into(),
                dtype: Some(DType::Int64),
                shape: vec![-1, -1],
            }],
            outputs: vec![TensorInfo { name: "odd".into(), dtype: None, shape: vec![] }],
            embedding: Some(EmbeddingInfo {
                dimensions: 384,
                max_tokens: 256,
                pooling: Pooling::Mean,
                normalized: true,
                batch_tokens: 4096,
                matryoshka: Vec::new(),
            }),
            chat: None,
            audio: None,
            options: vec![
                line("max_mem", "400MB", Some("400000000"), None),
                line("max_men", "1", None, Some("no known effect; did you mean max_mem?")),
            ],
            runtime_version: "1.31.1".into(),
            runtime_library: "libonnxruntime.so".into(),
            load_ms: 180,
        }
    }

    fn entry() -> ModelEntry {
        ModelEntry {
            alias: "minilm".into(),
            path: "/models/minilm".into(),
            kind: ModelKind::Embeddings,
            weights_bytes: 90 << 20,
            state: ModelState::Loaded,
            reason: None,
            info: Some(info()),
            options: options(),
        }
    }

    fn options() -> LoadOptions {
        LoadOptions {
            profile: Some("balanced".into()),
            shrink_every: Some(16),
            restart: Some(false),
            arena_options: [("max_mem".to_owned(), "400MB".to_owned())].into(),
            ..LoadOptions::default()
        }
    }

    #[test]
    fn a_load_shows_what_each_option_came_to() {
        let report = LoadReport {
            info: info(),
            sample: crate::render::stats::tests::sample(),
            already_loaded: false,
            warnings: vec!["more than is free".into()],
        };
        insta::assert_snapshot!(load_report(&report, &options(), Look::plain()), @r"
        minilm  loaded in 180 ms, on cpu
        with profile balanced, shrink_every 16, restart false

        option         requested  forwarded  effective  note
        arena max_mem  400MB      as typed   400000000
        arena max_men  1          as typed   -          no known effect; did you mean max_mem?

        resident 706.0 MiB, private 690.0 MiB, arenas 599.0 MiB of which 512.0 MiB free
        warning: more than is free
        ");
    }

    #[test]
    fn a_model_and_the_catalogue() {
        insta::assert_snapshot!(model_entry(&entry(), Look::plain()), @r"
        minilm  embeddings, loaded
        path     /models/minilm
        weights  90.0 MiB
        file     model.onnx
        on       cpu, ONNX Runtime 1.31.1
        arenas   cpu:0
        vectors  384 dimensions, mean pooling, length 1, at most 256 tokens a text, 4096 a batch
        with     profile balanced, shrink_every 16, restart false

                name       type        shape
        input   input_ids  int64       [-1, -1]
        output  odd        not passed  []

        option         requested  forwarded  effective  note
        arena max_mem  400MB      as typed   400000000
        arena max_men  1          as typed   -          no known effect; did you mean max_mem?
        ");
        insta::assert_snapshot!(model_list(&ModelList { models: vec![entry()] }, Look::plain()), @r"
        model   kind        state    weights  path
        minilm  embeddings  loaded  90.0 MiB  /models/minilm
        ");
        assert!(model_list(&ModelList { models: vec![] }, Look::plain()).contains("ebb model add"));
        let options = LoadOptions {
            threads: Some(2),
            arena_options: [("max_mem".to_owned(), "1".to_owned())].into(),
            ..LoadOptions::default()
        };
        let unloaded = ModelEntry {
            state: ModelState::Failed,
            reason: Some("killed by signal 9".into()),
            info: None,
            options,
            ..entry()
        };
        insta::assert_snapshot!(model_entry(&unloaded, Look::plain()), @r"
        minilm  embeddings, failed
        killed by signal 9
        path     /models/minilm
        weights  90.0 MiB

        last loaded with
        option         value
        threads        2
        arena max_mem  1
        ");
    }

    #[test]
    fn an_unload_says_what_came_back() {
        let report = UnloadReport {
            model: "m".into(),
            freed_bytes: 1 << 20,
            worker_gone: true,
            took_ms: 12,
            warnings: vec!["a restart will load it again: the disk is full".into()],
        };
        insta::assert_snapshot!(unload_report(&report, Look::plain()), @r"
        m  unloaded in 12 ms: 1.0 MiB came back, its worker process is gone
        warning: a restart will load it again: the disk is full
        ");
    }
}
