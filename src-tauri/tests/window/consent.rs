//! A plugin that comes from a file: what it asks for, what it is granted, and what it really uses.

use std::fs;

use ebb_tests::plugins::shipped;
use serde_json::{Value, json};

use crate::desk::{Desk, User};

/// The pipeline that ships with Ebb, as if somebody else had made it.
fn with_another_id(component: &[u8]) -> Vec<u8> {
    let (id, other) = (br#""id":"rag""#, br#""id":"own""#);
    let at = component.windows(id.len()).position(|bytes| bytes == id).expect("it says its id");
    [&component[..at], other, &component[at + id.len()..]].concat()
}

/// What the plugin was granted, and whether it has used it, by capability, as the host says.
async fn told(desk: &Desk<'_>) -> Vec<(String, Value, bool)> {
    let (status, plugin) = desk.send("GET", "/ebb/v1/plugins/own", "").await;
    assert_eq!(status, 200, "{plugin}");
    let capabilities = plugin["capabilities"].as_array().expect("a list");
    let told = capabilities.iter().map(|state| {
        let name = state["capability"].as_str().expect("a name").to_owned();
        let calls = |what: &str| state[what].as_u64().expect("a number");
        (name, state["granted"].clone(), calls("calls") > calls("refused"))
    });
    told.collect()
}

#[tokio::test]
async fn a_plugin_from_a_file_may_do_what_was_granted_and_that_is_seen() {
    let user = User::with_real_models(["minilm"]).await;
    let (plugin, garbage) = (user.home.path().join("documents.wasm"), user.home.path().join("garbage.wasm"));
    fs::write(&plugin, with_another_id(&fs::read(shipped().join("rag.wasm")).unwrap())).unwrap();
    fs::write(&garbage, "\0asm garbage".repeat(100)).unwrap();
    let folder = user.home.path().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mill.md"), "# The mill\n\nNever let it run above twelve turns a minute.\n")
        .unwrap();
    let (plugin, garbage, folder) =
        (plugin.to_str().unwrap(), garbage.to_str().unwrap(), folder.to_str().unwrap());
    let desk = user.opens().await;
    desk.loads("minilm").await;

    desk.goes_to('4').await;
    let view = desk.view();
    view.press("Add a plugin…").await;
    let install = desk.at("Add a plugin");
    for (wrong, why) in [
        (garbage, "the component is broken"),
        ("/nowhere/at-all.wasm", "/nowhere/at-all.wasm"),
        ("not absolute", "is not an absolute path"),
        (folder, "plugin.toml"),
    ] {
        install.write("File (.wasm) or folder of a plugin", wrong).await;
        install.press("Add").await;
        desk.alert_in("Add a plugin").says(why).await;
        assert_eq!(
            install.held("File (.wasm) or folder of a plugin").await,
            wrong,
            "it stays to be corrected"
        );
    }
    install.write("File (.wasm) or folder of a plugin", plugin).await;
    install.press("Add").await;

    let consent = desk.at("What may Ask your documents do?");
    for (capability, reason) in [
        ("documents", "to read the files that you ask about"),
        ("store", "to keep an index of them, so that they are read once"),
        ("inference.embed", "to find passages by what they mean"),
        ("inference.generate", "to write answers from the passages"),
        ("memory.read", "to embed less at once while the model is near its memory cap"),
        ("memory.control", "to give back the memory that an ingest took"),
    ] {
        let text = consent.says(reason).await;
        assert!(text.contains(capability), "{text}");
    }
    consent.press("Allow nothing now").await;
    consent.goes().await;
    let nothing = told(&desk).await;
    assert!(nothing.iter().all(|(_, granted, used)| granted.is_null() && !used), "{nothing:?}");

    let pages = desk.at("Pages of Ask your documents");
    pages.follow("Permissions").await;
    let table = desk.at("What it asked for, what you granted, what it really used");
    assert_eq!(table.says("never").await.matches("Not granted").count(), 6);
    view.press("Allow…").await;
    consent.tick("Allow store").await;
    consent.tick("Allow inference.embed").await;
    consent.tick("minilm").await;
    consent.tick("Allow documents").await;
    consent.write("Which files and folders?", folder).await;
    consent.press("Add").await;
    consent.says(folder).await;
    consent.press("Allow 3 permissions").await;
    consent.goes().await;

    pages.follow("Documents").await;
    view.press("Index now").await;
    view.says("Read 1 document into 1 passage").await;
    pages.follow("Permissions").await;
    let said = table.says_that("what was refused", |text| text.matches("1 call refused").count() == 2).await;
    assert_eq!(said.matches("Not granted").count(), 3, "{said}");
    assert_eq!(said.matches("never").count(), 1, "nobody asked for an answer: {said}");
    for (capability, granted, used) in told(&desk).await {
        let wanted = match capability.as_str() {
            "documents" => json!([folder]),
            "inference.embed" => json!(["minilm"]),
            "store" => json!("granted"),
            _ => Value::Null,
        };
        let granted = match capability.as_str() {
            "documents" => granted["paths"].clone(),
            "inference.embed" => granted["models"].clone(),
            "store" => json!(if granted.is_null() { "refused" } else { "granted" }),
            _ => granted,
        };
        assert_eq!((&granted, used), (&wanted, !wanted.is_null()), "{capability}");
    }
}
