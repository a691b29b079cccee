//! Rules on the crates: who may know whom, and what a manifest holds.

use cargo_metadata::{DependencyKind, MetadataCommand};
use toml::{Table, Value};

use super::{File, check, root};

/// Which of our crates each of them may know; dependencies of tests do not count. Dependencies run one way.
const ARROWS: [(&str, &[&str]); 22] = [
    ("ebb-core", &[]),
    ("ebb-audio", &["ebb-core"]),
    ("ebb-ipc", &["ebb-core"]),
    ("ebb-hub", &["ebb-core"]),
    ("ebb-import", &["ebb-core"]),
    ("ebb-chat", &["ebb-core"]),
    ("ebb-ort", &["ebb-audio", "ebb-chat", "ebb-core"]),
    ("ebb-worker", &["ebb-core", "ebb-ipc", "ebb-ort"]),
    ("ebb-host", &["ebb-core", "ebb-ipc"]),
    ("ebb-store", &["ebb-core"]),
    ("ebb-plugins", &["ebb-core", "ebb-store"]),
    ("ebb-author", &["ebb-core", "ebb-plugins", "ebb-trace"]),
    // In the plugins' workspace: authors build it too.
    ("ebb-trace", &[]),
    ("ebb-plugin-sdk", &["ebb-trace"]),
    ("rag", &["ebb-plugin-sdk"]),
    (
        "ebb-api",
        &[
            "ebb-author",
            "ebb-core",
            "ebb-host",
            "ebb-hub",
            "ebb-import",
            "ebb-plugins",
            "ebb-store",
            "ebb-trace",
        ],
    ),
    ("ebb-server", &["ebb-api", "ebb-audio", "ebb-core"]),
    ("ebb-client", &["ebb-core"]),
    (
        "ebb-cli",
        &[
            "ebb-api",
            "ebb-audio",
            "ebb-author",
            "ebb-client",
            "ebb-core",
            "ebb-hub",
            "ebb-import",
            "ebb-plugins",
            "ebb-server",
            "ebb-trace",
        ],
    ),
    ("ebb-desktop", &["ebb-api", "ebb-client", "ebb-core", "ebb-server"]),
    (
        "ebb-tests",
        &[
            "ebb-api",
            "ebb-author",
            "ebb-client",
            "ebb-core",
            "ebb-host",
            "ebb-import",
            "ebb-ipc",
            "ebb-ort",
            "ebb-plugin-sdk",
            "ebb-plugins",
            "ebb-server",
            "ebb-store",
            "ebb-trace",
            "ebb-worker",
            "rag",
        ],
    ),
    ("xtask", &[]),
];

/// What only one crate knows, with all that belongs to it (`ort` and `ort-sys`).
const ONLY: [(&str, &str); 4] =
    [("ort", "ebb-ort"), ("wasmtime", "ebb-plugins"), ("axum", "ebb-server"), ("tauri", "ebb-desktop")];

/// What is wrong with `from` depending on `to`.
fn complaint(from: &str, to: &str) -> Option<String> {
    let Some((_, known)) = ARROWS.iter().find(|(name, _)| *name == from) else {
        return Some(format!("{from} has no line among the arrows"));
    };
    if ARROWS.iter().any(|(name, _)| *name == to) {
        return (!known.contains(&to)).then(|| format!("{from} must not know {to}"));
    }
    let belongs =
        |whole: &str| to.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let (whole, only) = ONLY.iter().find(|(whole, _)| belongs(whole))?;
    (from != *only).then(|| format!("{from} depends on {to}, but only {only} knows {whole}"))
}

#[test]
fn dependencies_run_one_way() {
    for (from, to) in [
        ("ebb-host", "ebb-ort"),
        ("ebb-core", "ebb-ipc"),
        ("ebb-new", "serde"),
        ("ebb-host", "ort"),
        ("ebb-cli", "axum-core"),
        ("ebb-api", "tauri"),
        ("ebb-tests", "wasmtime-wasi"),
    ] {
        assert!(complaint(from, to).is_some(), "{from} → {to} is not caught");
    }
    assert_eq!(complaint("ebb-api", "orthogonal"), None, "a name that only begins alike is another crate");

    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec();
    let packages = metadata.expect("cargo metadata runs").packages;
    assert!(packages.len() > 10, "the workspace was not found");
    let edges = packages.iter().flat_map(|package| {
        let counted = package.dependencies.iter().filter(|one| one.kind != DependencyKind::Development);
        counted.map(|dependency| (package.name.as_str(), dependency.name.as_str()))
    });
    let complaints: Vec<String> = edges.filter_map(|(from, to)| complaint(from, to)).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// A manifest of this workspace, read; `None` for any other file, those of other workspaces too.
fn manifest(file: &File) -> Option<Table> {
    let ours = file.path == "Cargo.toml"
        || file.path == "tests/Cargo.toml"
        || file.path.starts_with("src-tauri/") && file.path.ends_with("/Cargo.toml");
    ours.then(|| file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path)))
}

fn says_workspace(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

#[test]
fn every_crate_takes_lints_and_versions_from_the_workspace() {
    let rule = |file: &File| {
        let Some(manifest) = manifest(file).filter(|manifest| manifest.contains_key("package")) else {
            return vec![];
        };
        let mut complaints = Vec::new();
        if !says_workspace(manifest.get("lints")) {
            complaints.push("it needs `[lints] workspace = true`".to_owned());
        }
        let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
        for table in targets.filter_map(Value::as_table).chain([&manifest]) {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let dependencies = table.get(kind).and_then(Value::as_table).into_iter().flatten();
                let own = dependencies.filter(|(_, value)| !says_workspace(Some(value)));
                complaints.extend(own.map(|(name, _)| format!("`{name}` must say `workspace = true`")));
            }
        }
        complaints
    };
    let package = "[package]\nname = 'a'\n";
    let path = "src-tauri/crates/a/Cargo.toml";
    check(
        rule,
        &[
            (path, package),
            (path, &format!("{package}[lints]\nworkspace = true\n[dependencies]\nserde = '1.0.229'")),
            (
                path,
                &format!(
                    "{package}[lints]\nworkspace = true\n[target.'cfg(unix)'.dependencies]\nlibc = {{ version = '0.2.1' }}"
                ),
            ),
        ],
    );
}

#[test]
fn every_version_is_pinned_to_the_last_number() {
    let rule = |file: &File| {
        let Some(manifest) = manifest(file) else { return vec![] };
        let dependencies = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
        let loose = |value: &Value| {
            let version = value.get("version").unwrap_or(value).as_str().unwrap_or_default();
            value.get("path").is_none() && version.trim_start_matches('=').split('.').count() < 3
        };
        let dependencies = dependencies.and_then(Value::as_table).into_iter().flatten();
        dependencies
            .filter(|(_, value)| loose(value))
            .map(|(name, _)| format!("the version of `{name}` must have three numbers"))
            .collect()
    };
    let head = "[workspace.dependencies]\n";
    check(
        rule,
        &[
            ("Cargo.toml", &format!("{head}serde = '1.0'")),
            ("Cargo.toml", &format!("{head}serde = {{ version = '1' }}")),
            ("Cargo.toml", &format!("{head}serde = {{ git = 'x' }}")),
        ],
    );
}
