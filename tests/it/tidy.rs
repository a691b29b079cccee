//! The rules of the repository: which crate may know which, where `unsafe` and printing are allowed, what a file may be
//! called and hold. Each rule is shown to catch what breaks it.

mod bindings;
mod manifests;
mod source;
mod wit;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of the tree, by its path in the repository, with `/`.
struct File {
    path: String,
    text: String,
}

/// Every file of the tree keeps `rule`, and each of the `breaking` ones (path, text) does not. A rule gives its complaints.
fn check(rule: impl Fn(&File) -> Vec<String>, breaking: &[(&str, &str)]) {
    for &(path, text) in breaking {
        let sample = File { path: path.to_owned(), text: text.to_owned() };
        assert!(!rule(&sample).is_empty(), "the rule finds nothing in {path}: {text}");
    }
    let tree = tree();
    assert!(tree.len() > 50, "the tree was not found");
    let complaints: Vec<String> = tree
        .iter()
        .flat_map(|file| rule(file).into_iter().map(move |complaint| format!("{}: {complaint}", file.path)))
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// The text files that git knows or would take; what others made, such as a lock file, left out.
fn tree() -> Vec<File> {
    let listed = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .expect("git runs");
    assert!(listed.status.success(), "these tests run in a git checkout: {listed:?}");
    let paths = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    paths
        .split_terminator('\0')
        .filter(|path| !path.ends_with(".lock") && !path.ends_with("package-lock.json"))
        // A file that is not UTF-8 is not text; one that git knows may have just been deleted.
        .filter_map(|path| {
            Some(File { text: std::fs::read_to_string(root().join(path)).ok()?, path: path.to_owned() })
        })
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository").to_owned()
}

#[test]
fn the_top_level_holds_only_what_it_should() {
    const ALLOWED: [&str; 11] = [
        "CHANGELOG.md",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "plugins",
        "rust-toolchain.toml",
        "src-tauri",
        "tests",
        "ui",
        "wit",
    ];
    let rule = |file: &File| {
        let top = file.path.split('/').next().unwrap_or_default();
        let fits = top.starts_with('.') || ALLOWED.contains(&top);
        if fits { vec![] } else { vec![format!("`{top}` does not belong at the top level")] }
    };
    check(rule, &[("docs/guide.md", ""), ("PLAN.md", ""), ("deny.toml", "")]);
}

#[test]
fn a_file_is_named_after_its_idea() {
    let rule = |file: &File| {
        let parts = || file.path.split(['/', '.', '_', '-']);
        let vague = [
            "utils", "util", "helpers", "helper", "manager", "managers", "service", "services", "common",
            "misc",
        ];
        let mut complaints: Vec<String> = parts()
            .filter(|part| vague.contains(part))
            .map(|part| format!("`{part}` says nothing: name the idea that the file holds"))
            .collect();
        if file.path.ends_with("/mod.rs") {
            complaints.push("a module's file lies beside its folder".to_owned());
        }
        complaints
    };
    check(
        rule,
        &[
            ("a/src/mod.rs", ""),
            ("a/src/utils.rs", ""),
            ("a/src/arena_manager.rs", ""),
            ("a/helpers/b.rs", ""),
        ],
    );
}

#[test]
fn a_rust_file_is_short() {
    const MOST_LINES: usize = 500;
    let rule = |file: &File| {
        let lines = file.text.lines().count();
        let long = file.path.ends_with(".rs") && lines > MOST_LINES;
        if long { vec![format!("{lines} lines, more than {MOST_LINES}: it holds two ideas")] } else { vec![] }
    };
    check(rule, &[("a/src/long.rs", &"\n".repeat(MOST_LINES + 1))]);
}

#[test]
fn nothing_depends_on_one_machine_or_names_a_registry() {
    // Written in parts, or this file would break its own rule.
    const HOSTS: [&str; 5] = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("python", "hosted.org"),
        concat!("npm", "js.org"),
        concat!("debian", ".org"),
    ];
    const MACHINE: [&str; 4] =
        [concat!("/", "root/"), concat!("/", "home/"), concat!("/", "Users/"), concat!("/", "work/")];
    let rule = |file: &File| {
        let mut complaints = Vec::new();
        for (number, line) in file.text.lines().enumerate() {
            let host = HOSTS.iter().find(|host| line.contains(*host));
            let place = MACHINE.iter().find(|place| starts_a_path(line, place));
            complaints.extend(host.or(place).map(|found| format!("line {} names `{found}`", number + 1)));
        }
        complaints
    };
    check(
        rule,
        &[
            ("README.md", &format!("see https://{}/crates/ort", HOSTS[0])),
            ("a.toml", &format!("cache = \"{}ana/ebb\"", MACHINE[1])),
            ("a.sh", &format!("cd {}main", MACHINE[3])),
        ],
    );
    assert!(
        !starts_a_path(concat!("tests", "/", "work/x"), MACHINE[3]),
        "a folder inside a path is no machine's"
    );
}

/// Whether `line` holds `place` where a path begins, not in the middle of one.
fn starts_a_path(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-~}/".contains(before))
    })
}

#[test]
fn the_changelog_has_a_place_for_what_comes_next() {
    let text = std::fs::read_to_string(root().join("CHANGELOG.md")).expect("there is a CHANGELOG.md");
    assert!(text.lines().any(|line| line == "## Unreleased"), "CHANGELOG.md needs a part `## Unreleased`");
}
