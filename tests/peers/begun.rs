//! Plugins in Python and JavaScript as `ebb plugin new` begins them: tested natively, built, looked over; policies replayed, and
//! pipelines asked about real files with the real models.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use ebb_tests::home::Home;
use serde_json::{Value, json};

use crate::scene::Scene;

/// A language as it is typed, with what tests it natively.
const PYTHON: (&str, &[&str]) = ("python", &["python3", "-m", "unittest"]);
const JS: (&str, &[&str]) = ("js", &["node", "--test"]);

/// What `cargo xtask peers` got to build plugins with, found as their authors have it: on the PATH, and in Python's.
fn with_tools(command: &mut Command) -> &mut Command {
    let tools = PathBuf::from(std::env::var_os("EBB_GUEST_TOOLS").expect("run this as `cargo xtask peers`"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools.join("node/node_modules/.bin")).chain(std::env::split_paths(&path));
    let path: OsString = std::env::join_paths(folders).unwrap();
    command.env("PATH", path).env("PYTHONPATH", tools.join("python")).env("PYTHONDONTWRITEBYTECODE", "1")
}

/// Runs a command, which must succeed; what it printed.
fn ok(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} failed:\n{out}\n{err}");
    out.into_owned()
}

fn ebb(home: &Home, args: &[&str]) -> Value {
    let mut ebb = home.command("ebb");
    ebb.args(["--json", "plugin"]).args(args).current_dir(home.path());
    serde_json::from_str(&ok(with_tools(&mut ebb))).unwrap()
}

/// Begins, tests and builds a plugin, in a home. It must be found right.
fn begin(home: &Home, world: &str, (lang, tested): (&str, &[&str])) {
    ebb(home, &["new", "begun", "--world", world, "--lang", lang]);
    let folder: PathBuf = home.path().join("begun");
    ok(with_tools(Command::new(tested[0]).args(&tested[1..]).current_dir(&folder)));
    let built = ebb(home, &["build", "begun"]);
    assert_eq!(Path::new(built["path"].as_str().unwrap()), Path::new("begun/begun.wasm"));
    let checked = ebb(home, &["check", "begun"]);
    assert_eq!((&checked["problems"], &checked["manifest"]["world"]), (&json!([]), &json!(world)));
}

fn decides(lang: (&str, &[&str])) {
    let home = Home::new();
    begin(&home, "shrink-policy", lang);
    let checked = ebb(&home, &["check", "begun"]);
    assert_eq!(checked["warnings"], json!([]), "a policy needs no WASI");
    let replayed = ebb(&home, &["test", "begun", "begun/trace.jsonl"]);
    assert_eq!((&replayed["failed"], &replayed["given_up"]), (&json!(0), &Value::Null), "{replayed}");
    assert_eq!(replayed["decisions"][0]["decision"], json!({"shrink": []}));
    assert_eq!(replayed["promise"]["kept"], true, "{replayed}");
}

#[test]
fn a_policy_begun_in_python_gives_memory_back() {
    decides(PYTHON);
}

#[test]
fn a_policy_begun_in_javascript_gives_memory_back() {
    decides(JS);
}

/// What is asked, of the first of these files.
const QUESTION: &str = "How long is the trial?";
const NOTES: [(&str, &str); 3] = [
    ("trial.md", "# Trial\n\nThe trial of the café’s till is 14 days long.\n"),
    ("bread.txt", "Sourdough needs a starter of flour and water, fed for a week.\n"),
    ("harbour.md", "# Harbour\n\nThe harbour of Rotterdam is the largest in Europe.\n"),
];

fn answers(lang: (&str, &[&str])) {
    let scene = Scene::new(&["minilm", "smollm2"]);
    let home = &scene.home;
    begin(home, "rag-pipeline", lang);
    let installed = ebb(home, &["install", "begun/begun.wasm"]);
    assert_eq!(
        (&installed["origin"], &installed["broken"]),
        (&json!("installed"), &Value::Null),
        "{installed}"
    );
    let notes = home.path().join("notes");
    fs::create_dir(&notes).unwrap();
    for (name, text) in NOTES {
        fs::write(notes.join(name), text).unwrap();
    }
    let folder = notes.to_str().unwrap();
    let rag = |args: &[&str]| home.json([&["rag"][..], args, &["--plugin", "begun"]].concat());
    let counts =
        |report: &Value| ["documents", "chunks", "unchanged", "removed"].map(|name| report[name].clone());

    assert_eq!(counts(&rag(&["add", folder])), [3, 3, 0, 0], "all is new");
    let told = rag(&["ask", QUESTION]);
    assert!(!told["answer"].as_str().unwrap().trim().is_empty(), "{told}");
    let citation = &told["citations"][0];
    assert_eq!((&citation["number"], &citation["document"]), (&json!(1), &json!("notes/trial.md")), "{told}");
    let place = ["start", "end"].map(|name| citation[name].as_u64().unwrap() as usize);
    assert_eq!(NOTES[0].1.get(place[0]..place[1]), citation["text"].as_str(), "{told}");

    fs::remove_file(notes.join("bread.txt")).unwrap();
    fs::write(notes.join("trial.md"), "The trial is 30 days long.\n").unwrap();
    assert_eq!(counts(&rag(&["update"])), [1, 1, 1, 1], "only what changed is read again");
    let told = rag(&["ask", QUESTION]);
    assert_eq!(told["citations"][0]["text"], "The trial is 30 days long.", "{told}");
    let index = rag(&["status"]);
    assert_eq!((&index["collections"][0]["documents"], &index["running"]), (&json!(2), &Value::Null));
}

#[test]
fn a_pipeline_begun_in_python_answers_from_files() {
    answers(PYTHON);
}

#[test]
fn a_pipeline_begun_in_javascript_answers_from_files() {
    answers(JS);
}
