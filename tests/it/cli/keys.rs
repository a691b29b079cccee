//! `ebb key`, and what the host says of itself to programs.

use ebb_tests::home::Home;
use serde_json::json;

#[test]
fn a_key_is_made_shown_once_and_removed() {
    let home = Home::new();
    let made = home.json(["key", "add", "editor"]);
    assert_eq!((&made["name"], &made["scopes"]), (&json!("editor"), &json!(["infer"])));
    let key = made["key"].as_str().unwrap();
    assert!(key.len() > 20, "{made}");
    let both = home.ok(["key", "add", "shell", "--scope", "infer", "--scope", "control"]);
    assert!(both.contains("shell  may infer, control") && both.contains("not shown again"), "{both}");

    let list = home.json(["key", "list"]);
    assert_eq!(list["keys"].as_array().unwrap().len(), 2);
    assert!(!list.to_string().contains(key), "{list}");
    assert!(home.ok(["key", "list"]).contains("editor"));
    let (code, error) = home.fails(["key", "add", "editor"]);
    assert!(code == 1 && error.contains("editor"), "{error}");
    assert_eq!(home.fails(["key", "add", "x", "--scope", "all"]).0, 2);

    assert!(home.ok(["key", "remove", "editor"]).contains("removed"));
    assert_eq!(home.fails(["key", "remove", "editor"]).0, 1);
    assert_eq!(home.json(["key", "list"])["keys"][0]["name"], "shell");
}

#[test]
fn the_status_names_what_is_loaded_and_what_comes_back() {
    let home = Home::with_fakes(["chat", "speech"]);
    home.ok(["model", "load", "chat"]);
    home.ok(["model", "load", "speech"]);
    let status = home.json(["server", "status"]);
    assert_eq!((&status["running"], &status["models"]), (&json!(true), &json!(["chat", "speech"])));
    assert!(status["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{status}");
    assert!(status["pid"].is_u64(), "{status}");

    let after = home.json(["server", "restart"]);
    let names = |key: &str| after[key].as_array().unwrap().clone();
    let mut all = [names("models"), names("coming_back")].concat();
    all.sort_by_key(ToString::to_string);
    assert_eq!(all, [json!("chat"), json!("speech")], "{after}");
    assert!(!home.ok(["server", "restart"]).contains("none loaded"));
}
