//! What a check of options gives to type: it loads the model with these options, on the command line and in Python.

use std::{path::Path, process::Command};

use ebb_client::Client;
use ebb_core::{LoadOptions, Places};
use ebb_tests::home::Home;

/// Values that shells, Python and careless programs trip over.
fn hostile() -> LoadOptions {
    serde_json::from_value(serde_json::json!({
        "provider": "cpu", "device": 0, "profile": "low-memory",
        "session_options": {
            "session.log_id": "it's $HOME `x` \"quoted\" \\ ü 模型 \u{202e}abc\nnew line",
            "no.such.key": "", "session.enable_mem_pattern": "0",
        },
        "arena_options": {"max_mem": "-1"},
        "provider_options": {"cuda": {"gpu_mem_limit": "2GiB", "a.b": "c;d & e > f"}},
        "runtime_options": {"memory.enable_memory_arena_shrinkage": "cpu:0;gpu:0"},
        "shrink_every": 3, "threads": 1, "batch_tokens": 128, "context_tokens": 64, "prefill_tokens": 8,
        "prefix_cache_bytes": 1, "keep_alive": "-1", "variant": "-int8", "queue": 9, "restart": false, "sample_ms": 500,
    }))
    .unwrap()
}

fn client(home: &Home) -> Client {
    Client::connect_in(&Places { home: home.path().to_owned(), cache: home.path().join("cache") }).unwrap()
}

async fn loaded_with(home: &Home) -> LoadOptions {
    let model = client(home).model("m");
    let options = model.info().await.unwrap().options;
    model.unload().await.unwrap();
    options
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn what_is_given_to_type_loads_with_the_same_options() {
    let home = Home::with_fakes(["m"]);
    let check = client(&home).model("m").check(&hostile()).await.unwrap();

    let line = check.cli.expect("all of it can be typed");
    // The shell finds the program that this home has.
    let ebb = home.command("ebb");
    let folder = Path::new(ebb.get_program()).parent().unwrap().to_owned();
    let path = std::env::join_paths(
        [folder].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut typed = Command::new("sh");
    typed.arg("-c").arg(&line).env("PATH", path.unwrap());
    typed.envs(ebb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    succeeds(&mut typed);
    assert_eq!(loaded_with(&home).await, hostile(), "{line}");

    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/ebb-client/python");
    let python = std::env::var_os("EBB_PYTHON").unwrap_or_else(|| "python3".into());
    let mut typed = Command::new(python);
    typed.arg("-c").arg(&check.python);
    typed.env("PYTHONPATH", package).env("EBB_HOME", home.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    succeeds(&mut typed);
    assert_eq!(loaded_with(&home).await, hostile(), "{}", check.python);
}
