//! Installing, replacing and removing.

use std::fs;

use ebb_core::{
    Capability, Code, EventKind,
    operations::{InstallPlugin, PluginOrigin},
};
use ebb_tests::plugins::shipped;

use super::{Scene, variant_file};

fn install(path: std::path::PathBuf) -> InstallPlugin {
    InstallPlugin { path, replace: false }
}

#[tokio::test]
async fn what_ships_is_there_granted_nothing_and_stays() {
    let scene = Scene::new();
    let plugins = scene.host.plugins().await.unwrap().plugins;
    let ids: Vec<&str> = plugins.iter().map(|entry| entry.manifest.id.as_str()).collect();
    assert_eq!(ids, ["idle", "pressure", "rag", "slack"]);
    for entry in &plugins {
        assert_eq!((entry.origin, &entry.broken), (PluginOrigin::Bundled, &None));
        assert!(entry.capabilities.iter().all(|one| one.granted.is_none() && one.asked.is_some()));
        assert!(entry.attachments.is_empty() && entry.limits.memory_bytes.is_some(), "{entry:?}");
    }
    let refused = scene.host.remove_plugin("slack").await.unwrap_err();
    assert!(refused.message.contains("ships with Ebb") && refused.hint.is_some(), "{refused}");
    let unknown = scene.host.plugin("none").await.unwrap_err();
    assert_eq!(
        (unknown.code, unknown.hint.as_deref()),
        (Code::NotFound, Some("there are: idle, pressure, rag, slack"))
    );
}

#[tokio::test]
async fn a_plugin_is_a_copy_that_goes_with_all_it_kept() {
    let mut scene = Scene::new();
    scene.load("m").await;
    let path = variant_file(scene.folder.path(), "slack", |manifest| manifest.id = "mine".into());
    let bytes = fs::read(&path).unwrap();
    let entry = scene.host.install_plugin(install(path.clone())).await.unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!((entry.origin, fs::read(&entry.path).unwrap() == bytes), (PluginOrigin::Installed, true));
    let folder = entry.path.parent().unwrap().to_owned();
    scene.attach("mine", "m").await;
    scene.event(|event| matches!(event.kind, EventKind::Attached { .. }).then_some(())).await;
    let removed = scene.host.remove_plugin("mine").await.unwrap();
    assert_eq!(removed.attachments.len(), 1, "what it was is told once more");
    let policy = scene.event(|event| match event.kind {
        EventKind::Detached { policy, reason: None } => Some(policy),
        _ => None,
    });
    assert_eq!(policy.await, "mine");
    assert!(!folder.exists());
    assert_eq!(scene.host.plugin("mine").await.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn of_two_plugins_with_one_id_the_user_chooses() {
    let scene = Scene::new();
    scene.load("m").await;
    scene.attach("slack", "m").await;
    let path = variant_file(scene.folder.path(), "slack", |manifest| {
        manifest.name = "Impostor".into();
        manifest.capabilities.clear();
    });
    let refused = scene.host.install_plugin(install(path.clone())).await.unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.message.contains("which ships with Ebb") && refused.hint.is_some(), "{refused}");
    assert_eq!(scene.entry("slack").await.manifest.name, "Slack");
    let entry = scene.host.install_plugin(InstallPlugin { path, replace: true }).await.unwrap();
    assert_eq!((entry.manifest.name.as_str(), entry.origin), ("Impostor", PluginOrigin::Installed));
    assert!(entry.capabilities.is_empty(), "it does not ask for what the other was granted: {entry:?}");
    assert!(entry.attachments[0].active);
    scene.host.remove_plugin("slack").await.unwrap();
    let back = scene.entry("slack").await;
    assert_eq!((back.manifest.name.as_str(), back.attachments.len()), ("Slack", 0));
    let control = &back.capabilities[0];
    assert!(control.capability == Capability::MemoryControl && control.granted.is_none(), "{control:?}");
}

#[tokio::test]
async fn a_file_that_was_changed_behind_the_host_is_not_run() {
    let scene = Scene::new();
    scene.load("m").await;
    let path = variant_file(scene.folder.path(), "slack", |manifest| manifest.id = "mine".into());
    let entry = scene.host.install_plugin(install(path)).await.unwrap();
    scene.attach("mine", "m").await;
    let other = variant_file(scene.folder.path(), "idle", |manifest| manifest.id = "mine".into());
    fs::copy(other, &entry.path).unwrap();
    let scene = scene.restart().await;
    let entry = scene.entry("mine").await;
    assert!(entry.broken.unwrap().contains("not the one that was installed"));
    assert!(!entry.attachments[0].active);
    scene.embed("m", 10).await;
}

#[tokio::test]
async fn what_is_no_plugin_is_refused_and_changes_nothing() {
    let scene = Scene::new();
    let file = scene.folder.path().join("file.wasm");
    let whole = fs::read(shipped().join("slack.wasm")).unwrap();
    for (bytes, code) in [
        (&b"no wasm"[..], Code::InvalidRequest),
        (b"\0asm\x01\0\0\0", Code::InvalidRequest),
        (&whole[..whole.len() / 2], Code::InvalidRequest),
    ] {
        fs::write(&file, bytes).unwrap();
        let refused = scene.host.install_plugin(install(file.clone())).await.unwrap_err();
        assert!(refused.code == code && refused.hint.is_some(), "{refused:?}");
    }
    assert_eq!(
        scene.host.install_plugin(install("relative.wasm".into())).await.unwrap_err().code,
        Code::InvalidRequest
    );
    assert_eq!(
        scene.host.install_plugin(install("/none.wasm".into())).await.unwrap_err().code,
        Code::NotFound
    );
    assert_eq!(scene.host.plugins().await.unwrap().plugins.len(), 4);
}

#[tokio::test]
async fn a_broken_registry_is_set_aside() {
    let scene = Scene::new();
    scene.eager_slack().await;
    let file = scene.host.places().plugins_file();
    fs::write(&file, "{\"plugins\": {\"slack\": {").unwrap();
    let scene = scene.restart().await;
    assert_eq!(scene.entry("slack").await.settings["slack_mib"].0, 32, "as if nothing had been set");
    assert!(file.with_extension("json.broken").exists());
    scene.eager_slack().await;
    assert_eq!(scene.restart().await.entry("slack").await.settings["slack_mib"].0, 0);
}
