//! How the app begins and ends, and what becomes of the host meanwhile.

use serde_json::json;

use crate::desk::{User, alive, until};

#[tokio::test]
async fn a_host_without_a_window_makes_room_and_its_models_come_back() {
    let user = User::with_models(["minilm", "chat"]).await;
    user.home.ok(["model", "load", "minilm"]);
    user.home.ok(["model", "load", "chat"]);
    let before = user.host().await;
    assert!(alive(before["pid"].as_u64().unwrap()));

    let desk = user.opens().await;
    let info = desk.invoke("desktop_info", json!({})).await;
    let note = info["took_over"].as_str().unwrap_or_else(|| panic!("{info}"));
    assert!(note.contains(&format!("process {}", before["pid"])), "{note}");
    assert!(note.contains("chat and minilm"), "{note}");
    assert!(!alive(before["pid"].as_u64().unwrap()), "the old host is gone");
    let now = user.host().await;
    assert_eq!(now["url"], before["url"], "clients find it at the same port");
    until("the models are back", || {
        (user.home.json(["server", "status"])["models"] == json!(["chat", "minilm"])).then_some(())
    })
    .await;
}

#[tokio::test]
async fn quitting_ends_the_host_and_a_new_start_brings_the_models_back() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    let (status, _) = desk.send("POST", "/ebb/v1/models/minilm/load", "{}").await;
    assert_eq!(status, 200);
    desk.quits().await;
    assert!(!user.home.path().join("run/host.json").exists(), "nobody is sent to a host that is gone");
    drop(desk);

    let desk = user.opens().await;
    let info = desk.invoke("desktop_info", json!({})).await;
    assert_eq!(info["took_over"], json!(null));
    until("the model is back", || {
        (user.home.json(["server", "status"])["models"] == json!(["minilm"])).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_was_loaded_is_shown_with_its_options_after_a_new_start() {
    let user = User::with_real_models(["minilm"]).await;
    let desk = user.opens().await;
    desk.view().press("Load: minilm").await;
    let every = "Shrink after every N requests";
    desk.at("Load minilm").write(every, "7").await;
    desk.at("Load minilm").press("Load").await;
    desk.at_notices().says("minilm is in memory").await;
    let (_, before) = desk.send("GET", "/ebb/v1/models/minilm", "").await;
    desk.quits().await;
    drop(desk);

    let desk = user.opens().await;
    desk.at("minilm").says("In memory").await;
    desk.view().press("Options: minilm").await;
    assert_eq!(desk.at("Options of minilm").held(every).await, "7");
    let (_, after) = desk.send("GET", "/ebb/v1/models/minilm", "").await;
    assert_eq!((&after["state"], &after["options"]), (&json!("loaded"), &before["options"]));
    assert_eq!(after["options"]["shrink_every"], 7);
    desk.at("Options of minilm").press("Cancel").await;
    desk.view().follow("Memory of minilm over time").await;
    desk.at("Figures now").says("Since it was loaded").await;
}

#[tokio::test]
async fn whoever_may_end_the_host_ends_the_app() {
    let user = User::with_models([]).await;
    let _desk = user.opens().await;
    let pid = user.host().await["pid"].as_u64().unwrap();
    user.home.ok(["server", "stop"]);
    assert!(!alive(pid));
}

#[tokio::test]
async fn a_second_start_hands_over_what_it_was_given() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    let listen = "
        const handler = window.__TAURI_INTERNALS__.transformCallback((event) => { window.dropped = event.payload; });
        await invoke('plugin:event|listen', { event: 'dropped', target: { kind: 'Any' }, handler });";
    desk.run(listen, vec![]).await;
    let pid = user.host().await["pid"].clone();
    let folder = user.home.path().join("models/minilm");
    let output = desk.starts_again(&[&folder]);
    assert!(output.status.success(), "{output:?}");
    let dropped = desk
        .run(
            "while (!window.dropped) await new Promise((next) => setTimeout(next, 10)); return window.dropped;",
            vec![],
        )
        .await;
    assert_eq!(dropped, json!([folder]));
    assert_eq!(user.host().await["pid"], pid, "one app, one host");
}

#[tokio::test]
async fn a_host_that_cannot_be_opened_is_told_in_the_window() {
    let user = User::with_models([]).await;
    let file = user.home.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let desk = user.opens_with(&[("EBB_HOME", file.to_str().unwrap())]).await;
    let info = desk.invoke("desktop_info", json!({})).await;
    assert_eq!(info["startup_error"]["code"], "storage", "{info}");
    desk.says("is not a folder").await;
    assert!(!user.home.path().join("run/host.json").exists());
}

#[tokio::test]
async fn without_a_display_the_app_says_what_else_there_is() {
    let user = User::with_models([]).await;
    let output = user.starts_without_a_display();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is no display") && said.contains("ebb ui"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
