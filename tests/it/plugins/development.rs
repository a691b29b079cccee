//! A plugin under development is read again when it was built anew.

use std::{fs, path::Path};

use ebb_core::operations::{InstallPlugin, PluginEntry, PluginOrigin};
use ebb_tests::plugins::shipped;

use super::Scene;

const MANIFEST: &str = r#"
id = "mine"
name = "Mine"
version = "0.1.0"
description = "Shrinks."
author = "me"
licence = "MIT"
world = "shrink-policy"
contract = "0.1.0"
[[capabilities]]
capability = "memory.control"
reason = "to shrink"
[settings]
type = "object"
[settings.properties.slack_mib]
type = "integer"
default = 0
[settings.properties.ratio]
type = "number"
default = 1
[settings.properties.runs_between]
type = "integer"
default = 1
"#;

/// As `ebb plugin build` leaves it: written beside and renamed.
fn write(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("new");
    fs::write(&beside, bytes).unwrap();
    fs::rename(beside, path).unwrap();
}

#[tokio::test]
async fn what_is_built_anew_is_used_and_what_is_broken_is_not() {
    let mut scene = Scene::new();
    scene.load("m").await;
    let folder = scene.folder.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let (manifest, component) = (folder.join("plugin.toml"), folder.join("mine.wasm"));
    write(&manifest, MANIFEST.as_bytes());
    let missing =
        scene.host.install_plugin(InstallPlugin { path: folder.clone(), replace: false }).await.unwrap_err();
    assert!(missing.hint.unwrap().contains("ebb plugin build"));
    write(&component, &fs::read(shipped().join("slack.wasm")).unwrap());
    let entry =
        scene.host.install_plugin(InstallPlugin { path: folder.clone(), replace: false }).await.unwrap();
    assert_eq!((entry.origin, entry.path), (PluginOrigin::Development, folder));
    scene.attach("mine", "m").await;
    scene.embed("m", 10).await;
    assert_eq!(scene.decision().await, ("mine".into(), "Shrink([])".into()));

    let used = |entry: &PluginEntry| entry.capabilities.iter().map(|one| one.calls).sum::<u64>();
    let used_before = used(&scene.entry("mine").await);
    assert!(used_before > 0);
    write(&manifest, MANIFEST.replace("0.1.0\"\ndesc", "0.2.0\"\ndesc").as_bytes());
    scene.until(async |host| host.plugin("mine").await.unwrap().manifest.version == "0.2.0").await;
    assert!(used(&scene.entry("mine").await) >= used_before, "what it used stays counted");
    scene.embed("m", 10).await;
    assert_eq!(scene.decision().await, ("mine".into(), "Shrink([])".into()));
    assert_eq!(scene.entry("mine").await.attachments[0].decisions, 2);

    write(&component, b"\0asm\x01\0\0\0");
    scene.until(async |host| host.plugin("mine").await.unwrap().broken.is_some()).await;
    scene.embed("m", 10).await;
    assert_eq!(scene.decision().await, ("mine".into(), "Shrink([])".into()), "the version before goes on");

    write(&component, &fs::read(shipped().join("idle.wasm")).unwrap());
    scene.until(async |host| host.plugin("mine").await.unwrap().broken.is_none()).await;
    assert!(scene.entry("mine").await.attachments[0].active);
}
