//! What commands answer: text, JSON, errors, exit codes.

use std::process::Stdio;

use ebb_tests::home::Home;
use serde_json::Value;

use super::with_embedder;

fn option<'a>(options: &'a Value, key: &str) -> &'a Value {
    let lines = options.as_array().unwrap();
    lines.iter().find(|line| line["key"] == key).unwrap_or_else(|| panic!("no {key} in {options}"))
}

/// C05, C06, C10: what an option came to is shown where it was given.
#[test]
fn a_load_shows_what_took_effect() {
    let home = with_embedder();
    let load = "model load m --arena-option arena_extend_strategy=0 --session-option enable_mem_patern=1 --shrink-every 3";
    let report = home.json(load.split(' '));
    let options = &report["info"]["options"];
    assert_eq!(option(options, "arena_extend_strategy")["effective"], "kNextPowerOfTwo");
    let unknown = option(options, "enable_mem_patern")["note"].as_str().unwrap();
    assert!(unknown.contains("enable_mem_pattern"), "{unknown}");

    let text = home.ok(["model", "info", "m"]);
    assert!(text.contains("kNextPowerOfTwo") && text.contains("embeddings, loaded"), "{text}");
    let again = home.json(load.split(' '));
    assert_eq!(again["already_loaded"], true);

    let (code, error) = home.fails(["model", "load", "m", "--threads", "1"]);
    assert_eq!(code, 1);
    assert!(error.contains("--force") || error.contains("force"), "{error}");
    let report = home.json(["model", "load", "m", "--force", "--arena-option", "enable_cpu_mem_arena=0"]);
    assert_eq!(report["sample"]["arenas"], serde_json::json!([]));
    let (code, error) =
        home.fails(["model", "load", "m", "--force", "--session-option", "enable_cpu_mem_arena=banana"]);
    assert_eq!(code, 1);
    assert!(error.contains("banana"), "{error}");
}

#[test]
fn only_what_does_not_do_what_it_says_is_a_warning() {
    let home = with_embedder();
    let load = |options: &str| {
        let line = format!("model load m --force {options}");
        home.ok(line.split(' '))
    };
    let text = load("--arena-option working_mem=64MiB --session-option session.use_env_allocators=1");
    assert!(text.contains("on top of what the arena holds") && !text.contains("warning"), "{text}");
    let text = load("--device 1 --session-option enable_mem_patern=1 --provider-option cuda.gpu_mem_limit=1");
    let warnings: Vec<_> = text.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 3, "{text}");
    for said in ["device 1: without effect", "enable_mem_patern=1", "gpu_mem_limit=1"] {
        assert!(warnings.iter().any(|warning| warning.contains(said)), "{said}: {warnings:?}");
    }
}

#[test]
fn a_model_that_is_gone_does_not_fit() {
    let home = Home::new();
    let path = ebb_tests::models::embedder(&home.path().join("m"));
    home.ok(["model".as_ref(), "add".as_ref(), path.as_os_str()]);
    std::fs::remove_dir_all(path).unwrap();
    let text = home.ok(["model", "estimate", "m"]);
    assert!(text.starts_with("m  cannot be loaded\n") && text.contains("holds no model any more"), "{text}");
    assert!(!text.contains("fits"), "{text}");
}

/// C03, C04: what has no arena is left out and said.
#[test]
fn memory_is_shown_and_given_back() {
    let home = with_embedder();
    home.ok(["model", "load", "m"]);
    home.ok(["embed", "m", "a text", "another"]);
    let stats = home.json(["model", "stats", "m"]);
    assert_eq!(stats["now"]["runs"], 1);
    assert_eq!(stats["now"]["arenas"][0]["device"], "cpu:0");

    let report = home.json(["model", "shrink", "m", "--device", " CPU:0 ;gpu:0"]);
    assert_eq!(report["targets"], serde_json::json!(["cpu:0"]));
    assert_eq!(report["dropped"][0]["target"], "gpu:0");
    assert!(home.ok(["model", "shrink", "m"]).contains("cpu:0 gave back"));

    let armed = home.json(["model", "shrink", "m", "--after-next-run"]);
    assert_eq!(armed["run"], 2);
    home.ok(["embed", "m", "one more"]);

    let set = ["model", "set-runtime-option", "m", "memory.enable_memory_arena_shrinkage=cpu:0;gpu:0"];
    let options = home.json(set);
    let effective = &option(&options["options"], "memory.enable_memory_arena_shrinkage")["effective"];
    assert!(effective.as_str().unwrap().ends_with("cpu:0"), "{options}");
    assert!(home.ok(["model", "runtime-options", "m"]).contains("cpu:0;gpu:0"));
    let options = home.json(["model", "set-runtime-option", "m", "memory.enable_memory_arena_shrinkage="]);
    assert_eq!(options["options"], serde_json::json!([]));

    assert!(home.json(["model", "estimate", "m"])["weights_bytes"].as_u64().unwrap() > 0);
    let unloaded = home.json(["model", "unload", "m"]);
    assert_eq!(unloaded["worker_gone"], true);
}

#[test]
fn an_error_says_what_to_do_and_its_exit_code_is_documented() {
    let home = with_embedder();
    for (args, code) in [
        (vec!["model", "info", "nope"], 1),
        (vec!["model", "load", "m", "--session-option", "no-equals-sign"], 2),
        (vec!["model", "load", "m", "--arena-option", "max_mem=many apples"], 1),
        (vec!["model", "shrink", "m", "--device", "disk:0"], 2),
        (vec!["model", "add", "/nowhere/at/all"], 1),
        (vec!["embed", "m"], 1),
        (vec!["nonsense"], 2),
    ] {
        let (got, error) = home.fails(&args);
        assert_eq!(got, code, "{args:?}: {error}");
        assert!(error.starts_with("error: "), "{args:?}: {error}");
        assert!(!error.contains('\u{1b}'), "{args:?}: {error:?}");
    }
    let (_, error) = home.fails(["--json", "model", "info", "nope"]);
    let body: Value = serde_json::from_str(&error).unwrap();
    assert_eq!(body["error"]["code"], "not_found");
    assert!(body["error"]["hint"].is_string(), "{body}");
}

#[test]
fn what_needs_no_host_starts_none() {
    let home = Home::new();
    let found = home.json(["options", "shrinkage"]);
    let keys: Vec<_> = found["options"].as_array().unwrap().iter().map(|entry| &entry["key"]).collect();
    assert!(keys.contains(&&Value::from("memory.enable_memory_arena_shrinkage")), "{keys:?}");
    assert!(home.ok(["options", "no-such-word-anywhere"]).contains("no option matches"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(home.ok(["completions", shell]).contains("ebb"), "{shell}");
    }
    assert!(home.ok(["man"]).contains("Exit codes"));
    let folder = home.path().join("man pages");
    home.ok(["man".as_ref(), "--out".as_ref(), folder.as_os_str()]);
    assert!(folder.join("ebb-model-load.1").is_file());
    assert!(!home.path().join("run").exists());
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let home = Home::new();
    let mut child =
        home.command("ebb").arg("options").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn colours_are_on_only_where_asked_for() {
    let home = Home::new();
    let plain = home.ok(["options", "memory.enable_memory_arena_shrinkage"]);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    assert!(
        home.ok(["--color=always", "options", "memory.enable_memory_arena_shrinkage"]).contains("\u{1b}[")
    );
    assert!(home.ok(["--color", "always", "--help"]).contains("\u{1b}["));
}

#[test]
fn profiles_are_saved_used_and_removed() {
    let home = with_embedder();
    let built_in = home.json(["profile", "list"]);
    let names: Vec<_> = built_in["profiles"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    for name in ["balanced", "low-memory", "fast"] {
        assert!(names.contains(&&Value::from(name)), "{names:?}");
        assert!(home.ok(["profile", "show", name]).contains(name));
    }
    home.ok([
        "profile",
        "save",
        "mine",
        "--description",
        "my own",
        "--threads",
        "1",
        "--arena-option",
        "max_mem=64MiB",
    ]);
    let report = home.json(["model", "load", "m", "--profile", "mine"]);
    assert_eq!(report["sample"]["arenas"][0]["limit_bytes"], 64 << 20);
    home.ok(["profile", "save", "from-m", "--from-model", "m", "--threads", "2"]);
    let saved = home.json(["profile", "show", "from-m"]);
    assert_eq!(saved["options"]["threads"], 2);
    assert_eq!(
        saved["options"]["arena_options"]["max_mem"], "64MiB",
        "what the model's profile set is in it"
    );
    assert!(home.ok(["profile", "remove", "mine"]).contains("removed"));
    assert_eq!(home.fails(["profile", "show", "mine"]).0, 1);
    assert_eq!(home.fails(["profile", "remove", "balanced"]).0, 1);
}

#[test]
fn the_doctor_looks_at_everything_and_the_demo_leaves_nothing() {
    let home = with_embedder();
    let doctor = home.json(["doctor"]);
    let names: Vec<_> = doctor["checks"].as_array().unwrap().iter().map(|check| &check["name"]).collect();
    for name in ["library", "worker", "memory", "home"] {
        assert!(names.contains(&&Value::from(name)), "{names:?}");
    }

    let report = home.json(["demo", "m", "--requests", "3"]);
    let rounds = report["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 2);
    assert_eq!(rounds[0]["before_shrink"]["runs"], 3);
    assert!(report["lowest_cosine"].as_f64().unwrap() > 0.9999, "{report}");
    let models = home.json(["model", "list"]);
    assert_eq!(models["models"].as_array().unwrap().len(), 1);
    assert_eq!(models["models"][0]["state"], "unloaded");
    let text = home.ok(["demo", "m", "--requests", "1"]);
    assert!(text.contains("after shrink") && text.contains("lowest cosine"), "{text}");
    let (code, error) = home.fails(["demo", "nope"]);
    assert!(code == 1 && error.contains("ebb model import"), "{error}");
}
