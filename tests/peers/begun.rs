//! Plugins in Python and JavaScript as `ebb plugin new` begins them: tested natively, built, looked over, replayed.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use ebb_tests::home::Home;
use serde_json::{Value, json};

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

/// Begins, tests and builds a plugin, in a home of its own. It must be found right.
fn begun(world: &str, (lang, tested): (&str, &[&str])) -> Home {
    let home = Home::new();
    ebb(&home, &["new", "begun", "--world", world, "--lang", lang]);
    let folder: PathBuf = home.path().join("begun");
    ok(with_tools(Command::new(tested[0]).args(&tested[1..]).current_dir(&folder)));
    let built = ebb(&home, &["build", "begun"]);
    assert_eq!(Path::new(built["path"].as_str().unwrap()), Path::new("begun/begun.wasm"));
    let checked = ebb(&home, &["check", "begun"]);
    assert_eq!((&checked["problems"], &checked["manifest"]["world"]), (&json!([]), &json!(world)));
    home
}

fn decides(lang: (&str, &[&str])) {
    let home = begun("shrink-policy", lang);
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

#[test]
fn pipelines_begun_in_python_and_javascript_are_built() {
    for lang in [PYTHON, JS] {
        let home = begun("rag-pipeline", lang);
        let wasm = home.path().join("begun/begun.wasm");
        assert!(wasm.metadata().unwrap().len() > 1 << 20, "the interpreter is in it");
    }
}
