//! Ebb's own client for Python, with the real host.

use std::{fs, path::Path};

use serde_json::json;

use crate::scene::{Scene, python, two_cities};

#[test]
fn its_memory_controls_work() {
    let said = Scene::new(&["minilm"]).python("ebb_client.py", &["memory"]);
    assert_eq!((&said["provider"], &said["dimensions"]), (&json!("cpu"), &json!([384, 384, "float32"])));
    assert!(said["same"].as_f64().unwrap() < 1e-5, "{said}");
    assert!(said["freed"].as_u64().unwrap() > 1 << 20, "{said}");
    assert_eq!(said["freed"], said["slack"], "all the slack came back");
    assert_eq!(said["targets"], json!(["cpu:0"]));
    assert_eq!((&said["armed"], &said["cause"]), (&json!(4), &json!("after_run")));
    assert!(said["after_run_freed"].as_u64().unwrap() > 1 << 20, "{said}");
    assert_eq!(said["held"], json!([["memory.enable_memory_arena_shrinkage", "cpu:0;gpu:0"]]));
    assert_eq!(said["gone"], true);
}

#[test]
fn it_chats() {
    let said = Scene::new(&["smollm2"]).python("ebb_client.py", &["chat"]);
    assert!(said["text"].as_str().unwrap().len() > 20, "{said}");
    assert_eq!((&said["streamed"], &said["answer"]), (&said["text"], &said["text"]));
    assert!(said["figures"].as_array().unwrap().iter().all(|figure| figure.as_u64().unwrap() > 0), "{said}");
    assert_eq!(said["outcomes"], json!(["ok", "ok", "cancelled"]), "leaving a stream cancels");
    assert_eq!(said["order"], json!(["run", "shrink"]), "it shrinks once the whole generation has ended");
    let tokens = said["logprobs"].as_array().unwrap();
    assert_eq!(tokens.len(), 6);
    assert!(tokens.iter().all(|token| token[1].as_f64().unwrap() <= 0.0 && token[2] == 2), "{said}");
    let date: Vec<_> = said["regex"].as_str().unwrap().split('-').map(str::len).collect();
    assert_eq!(date, [4, 2, 2], "{said}");
}

#[test]
fn it_transcribes() {
    let said = Scene::new(&["moonshine"]).python("ebb_client.py", &["speech", &two_cities()]);
    assert!(said["text"].as_str().unwrap().to_lowercase().contains("best of times"), "{said}");
    assert!(said["audio_ms"].as_u64().unwrap() > 40_000, "{said}");
    let segments = said["segments"].as_array().unwrap();
    assert!(segments.len() > 1, "{said}");
    for (index, segment) in segments.iter().enumerate() {
        assert_eq!(segment[0], index, "{said}");
        assert!(segment[1].as_u64().unwrap() < segment[2].as_u64().unwrap(), "{said}");
    }
    assert!(said["arenas"].as_u64().unwrap() >= 1, "{said}");
}

#[test]
fn its_other_doors_open() {
    let said = Scene::new(&["minilm"]).python("ebb_client.py", &["doors"]);
    assert_eq!(said["vectors"], 1, "a key with the scope infer uses models");
    assert_eq!(
        said["refused"],
        json!([
            ["AccessError", "unauthorized"],
            ["AccessError", "forbidden"],
            ["NotFoundError", "not_found"],
            ["RequestError", "invalid_request"],
            ["RequestError", "invalid_request"],
        ])
    );
    assert_eq!((&said["keys"], &said["keys_left"]), (&json!(["peer", "peers"]), &json!(["peers"])));
    assert_eq!((&said["models"], &said["running"]), (&json!(["minilm"]), &json!(true)));
    assert!(said["checks"].as_array().unwrap().contains(&json!("library")), "{said}");
    assert!(said["options"].as_array().unwrap().contains(&json!("arena_extend_strategy")), "{said}");
    assert_eq!(said["profiles"], json!(["balanced", "low-memory", "fast"]));
    assert!(said["fits"].is_boolean(), "{said}");
}

#[test]
fn the_tour_of_its_readme_runs() {
    let scene = Scene::new(&["minilm", "smollm2", "moonshine"]);
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/ebb-client/python");
    let mut tour = python(&["python"]);
    tour.arg(crate::scene::here("tour.py")).arg(package.join("README.md"));
    // The tour transcribes a file of the folder that it is in, and asks about the notes in it.
    let folder = tempfile::tempdir().unwrap();
    fs::copy(two_cities(), folder.path().join("two_cities.wav")).unwrap();
    fs::create_dir(folder.path().join("notes")).unwrap();
    fs::write(folder.path().join("notes/trial.md"), "# Trial\n\nThe trial is 14 days long.\n").unwrap();
    tour.current_dir(folder.path()).env("EBB_HOME", scene.home.path());
    let ran = tour.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    assert!(out.to_lowercase().contains("best of times"), "{out}");
    assert!(out.contains("not_found"), "{out}");
    assert!(out.contains("1 chunks") && out.contains("trial.md"), "{out}");
}

#[test]
fn its_types_hold() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/ebb-client/python");
    let checked = python(&["python"])
        .current_dir(package)
        .args(["-m", "mypy", "--cache-dir", if cfg!(windows) { "nul" } else { "/dev/null" }])
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
