//! Policies on models: who decides, in which order, and for how long.

use ebb_core::{
    Capability, Code, EventKind, LoadOptions,
    operations::{AttachPlugin, DetachPlugin, Grant, Grants, InstallPlugin},
};
use ebb_tests::plugins::hostile;

use super::{Scene, variant_file};

fn attach(model: &str, position: Option<u32>) -> AttachPlugin {
    AttachPlugin { model: model.to_owned(), position, grant: false }
}

fn detach(model: &str) -> DetachPlugin {
    DetachPlugin { model: model.to_owned() }
}

#[tokio::test]
async fn an_attached_policy_decides_and_is_told_of() {
    let mut scene = Scene::new();
    scene.load("m").await;
    scene.eager_slack().await;
    let refused = scene.host.attach_plugin("slack", attach("m", None)).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (Code::Forbidden, "'slack' was not granted memory.control on 'm'")
    );
    assert!(refused.hint.unwrap().contains("--grant"));
    let entry = scene.attach("slack", "m").await;
    assert_eq!((entry.attachments.len(), entry.attachments[0].active), (1, true));
    scene.embed("m", 700).await;
    assert_eq!(scene.decision().await, ("slack".into(), "Shrink([])".into()));
    assert_eq!(scene.shrink().await, "slack");
    assert_eq!(scene.host.stats("m", 0).await.unwrap().now.slack_bytes(), 0);
    let entry = scene.entry("slack").await;
    let attachment = &entry.attachments[0];
    assert_eq!((attachment.decisions, attachment.failures, attachment.position), (1, 0, 0));
    assert!(attachment.calls >= 1 && entry.memory_bytes > 0, "{entry:?}");
    let control = entry.capabilities.iter().find(|one| one.capability == Capability::MemoryControl).unwrap();
    assert_eq!(control.granted.as_ref().unwrap().models, ["m"]);
    assert!(control.asked.is_some() && control.calls >= 1 && control.refused == 0, "{control:?}");
    // The first call brought the instance up and is not in the median.
    scene.embed("m", 10).await;
    scene.until(async |host| host.plugin("slack").await.unwrap().attachments[0].call_us.is_some()).await;
}

#[tokio::test]
async fn the_users_order_holds_and_the_native_policy_comes_last() {
    let mut scene = Scene::new();
    scene.add("m").await;
    scene
        .host
        .load("m", LoadOptions { shrink_every: Some(1), ..LoadOptions::default() }, false)
        .await
        .unwrap();
    let path = variant_file(scene.folder.path(), "slack", |manifest| manifest.id = "other".into());
    scene.host.install_plugin(InstallPlugin { path, replace: false }).await.unwrap();
    for plugin in ["slack", "other"] {
        scene.set(plugin, &[("slack_mib", 0.into()), ("ratio", 1.into()), ("runs_between", 1.into())]).await;
        scene.attach(plugin, "m").await;
    }
    let beaten = || "Shrink([]), but another policy came first".to_owned();
    scene.embed("m", 10).await;
    assert_eq!(scene.decision().await, ("slack".into(), "Shrink([])".into()));
    assert_eq!(scene.decision().await, ("other".into(), beaten()));
    assert_eq!(scene.decision().await, ("shrink-every".into(), beaten()));
    scene.host.attach_plugin("other", attach("m", Some(0))).await.unwrap();
    scene.embed("m", 10).await;
    assert_eq!(scene.decision().await.0, "other");
    assert_eq!(scene.decision().await, ("slack".into(), beaten()));
    assert_eq!(scene.entry("other").await.attachments[0].decisions, 2, "it was moved, not attached anew");
    scene.host.detach_plugin("other", detach("m")).await.unwrap();
    let gone = scene.host.detach_plugin("other", detach("m")).await.unwrap_err();
    assert_eq!(gone.code, Code::NotFound);
    scene
        .event(|event| {
            matches!(event.kind, EventKind::Detached { policy, .. } if policy == "other").then_some(())
        })
        .await;
    scene.embed("m", 10).await;
    assert_eq!(scene.decision().await.0, "slack");
    assert_eq!(scene.decision().await, ("shrink-every".into(), beaten()));
}

#[tokio::test]
async fn a_restart_brings_plugins_back_with_grants_settings_and_order() {
    let scene = Scene::new();
    scene.load("m").await;
    scene.eager_slack().await;
    scene.attach("slack", "m").await;
    scene.attach("idle", "m").await;
    let mut scene = scene.restart().await;
    let entry = scene.entry("slack").await;
    assert_eq!(entry.settings["slack_mib"].0, 0);
    assert_eq!(scene.entry("idle").await.attachments[0].position, 1);
    scene.embed("m", 50).await;
    assert_eq!(scene.decision().await, ("slack".into(), "Shrink([])".into()));
    // And a load in between, which is new to its policies as well.
    scene.host.unload("m").await.unwrap();
    scene.until(async |host| !host.plugin("slack").await.unwrap().attachments[0].active).await;
    scene.embed("m", 50).await;
    assert_eq!(scene.decision().await, ("slack".into(), "Shrink([])".into()));
    assert_eq!(scene.entry("slack").await.attachments[0].decisions, 2);
}

#[tokio::test]
async fn what_is_taken_back_is_refused_at_once() {
    let mut scene = Scene::new();
    scene.load("m").await;
    scene.eager_slack().await;
    scene.attach("slack", "m").await;
    let control = Grant { capability: Capability::MemoryControl, models: Vec::new(), paths: Vec::new() };
    scene.host.revoke_plugin("slack", Grants { grants: vec![control] }).await.unwrap();
    scene.embed("m", 10).await;
    let (policy, decision) = scene.decision().await;
    assert!(policy == "slack" && decision.contains("memory.control"), "{policy}: {decision}");
    assert_eq!(scene.host.stats("m", 0).await.unwrap().now.slack_bytes(), 10);
    let entry = scene.entry("slack").await;
    let control = entry.capabilities.iter().find(|one| one.capability == Capability::MemoryControl).unwrap();
    assert!(control.granted.is_none() && control.refused == 1, "{control:?}");
}

#[tokio::test]
async fn three_failures_detach_until_the_user_attaches_it_again() {
    let mut scene = Scene::new();
    // The model's name is what the guest does.
    scene.load("fails").await;
    let path = hostile("policy");
    scene.host.install_plugin(InstallPlugin { path, replace: false }).await.unwrap();
    scene.attach("hostile-policy", "fails").await;
    // One after the other: being asked while idle, it does not fail, and three are to be in a row.
    scene
        .until(async |host| {
            scene.embed("fails", 10).await;
            host.plugin("hostile-policy").await.unwrap().attachments[0].detached_because.is_some()
        })
        .await;
    let (policy, decision) = scene.decision().await;
    assert!(policy == "hostile-policy" && decision.starts_with("keep, because it failed"), "{decision}");
    let attachment = scene.entry("hostile-policy").await.attachments.remove(0);
    assert!(!attachment.active && attachment.failures >= 3, "{attachment:?}");
    let scene = scene.restart().await;
    let attachment = scene.entry("hostile-policy").await.attachments.remove(0);
    assert!(!attachment.active && attachment.detached_because.is_some(), "{attachment:?}");
    let mut attached = scene.host.attach_plugin("hostile-policy", attach("fails", None)).await.unwrap();
    let attachment = attached.attachments.remove(0);
    assert!(attachment.active && attachment.detached_because.is_none(), "{attachment:?}");
    assert_eq!((attachment.calls, attachment.failures), (0, 0));
}

#[tokio::test]
async fn a_model_that_a_policy_unloads_comes_back_on_demand_and_not_by_a_restart() {
    let mut scene = Scene::new();
    scene.add("m").await;
    scene.host.load("m", LoadOptions { queue: Some(7), ..LoadOptions::default() }, false).await.unwrap();
    scene.set("idle", &[("unload_after_s", 1.into())]).await;
    scene.attach("idle", "m").await;
    scene.event(|event| matches!(event.kind, EventKind::Unloaded { .. }).then_some(())).await;
    scene.until(async |host| host.plugin("idle").await.unwrap().memory_bytes == 0).await;
    let scene = scene.restart().await;
    assert!(scene.host.status().await.unwrap().models.is_empty(), "it stays unloaded");
    scene.set("idle", &[("unload_after_s", 0.into())]).await;
    scene.embed("m", 10).await;
    assert_eq!(scene.host.model("m").await.unwrap().options.queue, Some(7));
    assert!(scene.entry("idle").await.attachments[0].active);
}
