//! Policies in Python and JavaScript, built by the tools that their authors use, on a real model in a real host.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

use crate::scene::Scene;

/// An example that `cargo xtask peers` built.
fn example(lang: &str) -> String {
    let folder = std::env::var_os("EBB_EXAMPLES").expect("run this as `cargo xtask peers`");
    PathBuf::from(folder).join(lang).with_extension("wasm").to_str().unwrap().to_owned()
}

/// A host in which the example decides for MiniLM, with these settings.
fn attached(lang: &str, id: &str, settings: &[&str]) -> Scene {
    let scene = Scene::new(&["minilm"]);
    scene.host("models/minilm/load", Some(json!({"shrink_every": 0})));
    let installed = scene.home.json(["plugin", "install", &example(lang)]);
    assert_eq!(installed["manifest"]["id"], id);
    let attached = scene.home.json(["plugin", "attach", id, "minilm", "--grant"]);
    assert_eq!(attached["attachments"][0]["active"], true, "{attached}");
    scene.home.ok([&["plugin", "settings", id], settings].concat());
    scene
}

fn embed(scene: &Scene, texts: &[String]) {
    scene.host("models/minilm/embed", Some(json!({ "texts": texts })));
}

/// Waits until the plugin has logged this, and gives back what is known of it then.
fn logged(scene: &Scene, id: &str, words: &str) -> Value {
    for _ in 0..600 {
        let log = scene.host(&format!("plugins/{id}/log"), None);
        let lines = log["lines"].as_array().unwrap();
        if lines.iter().any(|line| line["message"].as_str().unwrap().contains(words)) {
            return scene.host(&format!("plugins/{id}"), None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("'{words}' was never logged: {}", scene.host(&format!("plugins/{id}/log"), None));
}

fn shrunk(scene: &Scene, entry: &Value) {
    let attachment = &entry["attachments"][0];
    assert_eq!((&attachment["failures"], &attachment["detached_because"]), (&json!(0), &Value::Null));
    assert!(attachment["decisions"].as_u64().unwrap() >= 1, "{attachment}");
    // The decision comes after the answer, and the shrink after the decision.
    for _ in 0..600 {
        if scene.host("models/minilm/stats", None)["freed_bytes"].as_u64().unwrap() > 1 << 20 {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing came back: {}", scene.host("models/minilm/stats", None));
}

#[test]
fn a_policy_in_python_shrinks_after_a_burst() {
    let scene = attached("python", "after-burst", &["runs=3", "calm_ms=1000"]);
    let texts: Vec<String> = (1..40).map(|length| "the tide goes out ".repeat(length)).collect();
    for _ in 0..3 {
        embed(&scene, &texts);
    }
    let entry = logged(&scene, "after-burst", "a burst of 3 requests is over");
    shrunk(&scene, &entry);
}

#[test]
fn a_policy_in_javascript_shrinks_after_an_outlier() {
    let scene = attached("javascript", "outlier", &["requests=3"]);
    for _ in 0..4 {
        embed(&scene, &["short".to_owned()]);
    }
    embed(&scene, &vec!["a much longer text about the tide ".repeat(30); 32]);
    let entry = logged(&scene, "outlier", "bytes reserved: shrink");
    shrunk(&scene, &entry);
}
