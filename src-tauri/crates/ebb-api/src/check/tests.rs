use ebb_core::{Code, ModelKind, Places, operations::Profile};

use super::*;
use crate::{Settings, models::Added, probed};

const MIB: u64 = 1 << 20;

/// A host with an embedding model `m` of 90 MiB that is not loaded.
fn host(folder: &tempfile::TempDir) -> Host {
    let places = Places { home: folder.path().into(), cache: folder.path().into() };
    let settings = Settings { worker_program: Some("/no/such/worker".into()), ..Settings::default() };
    let host = Host::open(places, settings).unwrap();
    let added = Added { path: "/m".into(), kind: ModelKind::Embeddings, weights_bytes: 90 * MIB };
    host.inner.catalogue.update(|catalogue| catalogue.add("m", added)).unwrap();
    host
}

fn options(json: serde_json::Value) -> LoadOptions {
    serde_json::from_value(json).unwrap()
}

/// Severity and field of each problem but for those that say nothing of what was typed.
fn problems(check: &OptionsCheck) -> Vec<(Severity, &str)> {
    let told = check.problems.iter().filter(|problem| problem.severity != Severity::Note);
    told.map(|problem| (problem.severity, problem.field.as_deref().unwrap_or("all"))).collect()
}

#[tokio::test]
async fn every_problem_is_told_with_its_field_and_errors_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder);
    let check = host.check_options(
        "m",
        options(serde_json::json!({
            "session_options": {"session.enable_mem_patern": "1", "session.disable_prepacking": "banana"},
            "arena_options": {"max_mem": "400MB", "working_mem": "8MiB"},
            "provider_options": {"CUDA": {"gpu_mem_limit": "1GiB"}},
            "provider": "cpu", "device": 2, "batch_tokens": 0, "context_tokens": 0,
        })),
    );
    let check = check.await.unwrap();
    let expected = [
        (Severity::Error, "session_options.session.disable_prepacking"),
        (Severity::Error, "arena_options.working_mem"),
        (Severity::Error, "batch_tokens"),
        (Severity::Warning, "session_options.session.enable_mem_patern"),
        (Severity::Warning, "provider_options.CUDA.gpu_mem_limit"),
        (Severity::Warning, "device"),
    ];
    assert_eq!(problems(&check), expected, "{:#?}", check.problems);
    let misspelt = &check.problems[3];
    assert_eq!(misspelt.nearest.as_deref(), Some("session.enable_mem_pattern"));
    assert_eq!(misspelt.hint.as_deref(), Some("did you mean session.enable_mem_pattern?"));
    assert!(check.problems[0].message.contains("0, 1, true or false"), "{:?}", check.problems[0]);
    assert!(
        check.problems.iter().any(|problem| problem.severity == Severity::Note
            && problem.field.as_deref() == Some("context_tokens")),
        "no option of an embedding model"
    );
    assert!(check.lines.iter().any(|line| line.key == "max_mem"));
    assert_eq!((check.needs_reload, check.changed), (false, Vec::new()), "it is not loaded");
    assert!(check.cli.unwrap().contains("--arena-option max_mem=400MB"));
}

#[tokio::test]
async fn a_cap_below_the_weights_is_told_and_one_on_top_of_them_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder);
    let of = async |given: serde_json::Value| host.check_options("m", options(given)).await.unwrap();
    let below = of(serde_json::json!({"session_options": {"cpu.max_mem": "50MiB"}})).await;
    assert_eq!(problems(&below), [(Severity::Warning, "session_options.cpu.max_mem")]);
    assert!(below.problems[0].message.contains("50.0 MiB"), "{:?}", below.problems[0]);
    for fits in [
        serde_json::json!({"arena_options": {"max_mem": "90MiB"}}),
        serde_json::json!({"arena_options": {"working_mem": "1MiB"}}),
        serde_json::json!({"arena_options": {"max_mem": "50MiB", "enable_cpu_mem_arena": "1"}, "provider": "cuda"}),
    ] {
        let check = of(fits.clone()).await;
        assert!(!check.problems.iter().any(|problem| problem.message.contains("below")), "{fits}: {check:?}");
    }
}

#[tokio::test]
async fn the_profile_counts_and_one_that_is_not_there_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder);
    let profile = Profile {
        name: "mine".into(),
        description: String::new(),
        built_in: false,
        options: options(serde_json::json!({"session_options": {"no.such": "1"}, "threads": 3})),
        reasons: Default::default(),
    };
    host.save_profile(profile).await.unwrap();
    let check = host.check_options("m", options(serde_json::json!({"profile": "mine"}))).await.unwrap();
    assert_eq!(problems(&check), [(Severity::Warning, "session_options.no.such")]);
    assert_eq!(check.cli.as_deref(), Some("ebb model load m --profile mine"));
    let check = host.check_options("m", options(serde_json::json!({"profile": "../x"}))).await.unwrap();
    assert_eq!(problems(&check), [(Severity::Error, "profile")]);
    assert_eq!(host.check_options("n", LoadOptions::default()).await.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn providers_and_devices_are_held_against_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder);
    let gpu = |provider: &str| ebb_core::ProbedDevice {
        provider: provider.into(),
        kind: "gpu".into(),
        vendor: "NVIDIA".into(),
    };
    host.inner.probed.note(probed::Found::of(ebb_core::Probe {
        library: "/l".into(),
        version: "1.31.1".into(),
        providers: vec!["cpu".into(), "cuda".into()],
        devices: vec![gpu("cuda"), gpu("cuda")],
        refused: [("webgpu".to_owned(), "no adapter".to_owned())].into(),
    }));
    for (given, want) in [
        (serde_json::json!({"provider": "CUDAExecutionProvider", "device": 1}), None),
        (serde_json::json!({"provider": "auto"}), None),
        (serde_json::json!({"provider": "cuda", "device": 2}), Some("device")),
        (serde_json::json!({"provider": "webgpu"}), Some("provider")),
        (serde_json::json!({"provider": "dml"}), Some("provider")),
        (serde_json::json!({"provider": "\u{202e}x"}), Some("provider")),
    ] {
        let check = host.check_options("m", options(given.clone())).await.unwrap();
        let refused = check.problems.iter().find(|problem| problem.severity == Severity::Error);
        assert_eq!(refused.and_then(|problem| problem.field.as_deref()), want, "{given}");
    }
}

#[tokio::test]
async fn what_a_profile_sets_for_other_kinds_is_no_news() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder);
    let chat = Added { path: "/c".into(), kind: ModelKind::Chat, weights_bytes: 90 * MIB };
    host.inner.catalogue.update(|catalogue| catalogue.add("c", chat)).unwrap();
    let said = async |options| {
        let check = host.check_options("c", options).await.unwrap();
        check.problems.iter().any(|problem| problem.field.as_deref() == Some("batch_tokens"))
    };
    assert!(!said(options(serde_json::json!({"profile": "balanced"}))).await);
    assert!(said(options(serde_json::json!({"batch_tokens": 512}))).await);
}
