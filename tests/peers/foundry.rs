//! Foundry Local's client, with Ebb where its service would be.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::json;

use crate::scene::{Scene, here, python, said};

#[test]
fn the_client_of_foundry_local_finds_its_service_in_ebb() {
    let scene = Scene::with_scopes(&["minilm", "smollm2"], &["infer", "control"]);
    // Its client asks the program `foundry` where the service is.
    let programs = scene.home.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let foundry = programs.join("foundry");
    fs::write(&foundry, format!("#!/bin/sh\necho 'the service runs on {}/openai/status'\n", scene.url))
        .unwrap();
    fs::set_permissions(&foundry, fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = programs.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());

    let mut client = python(&["foundry-0.5", "python"]);
    client.arg(here("foundry_dialect.py")).env("PATH", path).env("EBB_KEY", &scene.key);
    let told = said(&mut client);
    assert_eq!(told["without_key"], "401");
    assert_eq!(told["catalog"], json!(["minilm", "smollm2"]));
    assert_eq!(told["task"]["smollm2"], "chat-completion");
    assert_eq!(told["cached"], told["catalog"]);
    assert!(!told["cache"].as_str().unwrap().is_empty());
    assert_eq!((&told["before"], &told["loaded"]), (&json!([]), &json!("smollm2")));
    assert_eq!((&told["during"], &told["again"]), (&json!(["smollm2"]), &json!(["smollm2"])));
    assert_eq!(told["after"], json!([]));
    assert_eq!(told["newer"]["/models/loaded"], json!([]));
}
