//! What plugins are granted, on which models and paths.

use ebb_core::{
    Capability, Code, Json,
    operations::{CountTokens, Grant, Grants, PluginSettings},
};

use super::Scene;

fn grants(capability: Capability, models: &[&str]) -> Grants {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    Grants { grants: vec![Grant { capability, models, paths: Vec::new() }] }
}

#[tokio::test]
async fn a_grant_is_of_what_is_asked_for_on_what_there_is() {
    let scene = Scene::new();
    scene.add("m").await;
    let grant = async |plugin: &str, grants| scene.host.grant_plugin(plugin, grants).await;
    let refused = async |plugin, grants| grant(plugin, grants).await.unwrap_err();
    let failure = refused("slack", grants(Capability::InferenceEmbed, &["m"])).await;
    assert!(failure.message.contains("cannot be granted inference.embed"), "{failure}");
    let failure = refused("slack", grants(Capability::MemoryRead, &["m"])).await;
    assert!(failure.message.contains("does not ask for memory.read"), "{failure}");
    assert_eq!(refused("slack", grants(Capability::MemoryControl, &["none"])).await.code, Code::NotFound);
    assert_eq!(
        refused("slack", grants(Capability::MemoryControl, &[])).await.param.as_deref(),
        Some("models")
    );
    assert_eq!(refused("none", grants(Capability::MemoryControl, &["m"])).await.code, Code::NotFound);
    let entry = grant("slack", grants(Capability::MemoryControl, &["m"])).await.unwrap();
    assert_eq!(entry.capabilities[0].granted.as_ref().unwrap().models, ["m"]);
    let entry = grant("slack", grants(Capability::MemoryControl, &["*", "m"])).await.unwrap();
    assert_eq!(entry.capabilities[0].granted.as_ref().unwrap().models, ["*"]);
}

#[tokio::test]
async fn documents_are_folders_that_are_there() {
    let scene = Scene::new();
    let folder = scene.folder.path().join("documents");
    std::fs::create_dir(&folder).unwrap();
    let documents = |path: &std::path::Path| Grants {
        grants: vec![Grant {
            capability: Capability::Documents,
            models: Vec::new(),
            paths: vec![path.into()],
        }],
    };
    let missing = scene.host.grant_plugin("rag", documents(&folder.join("none"))).await.unwrap_err();
    assert_eq!(missing.code, Code::NotFound);
    scene.host.grant_plugin("rag", documents(&folder)).await.unwrap();
    let index = scene.host.plugin_index("rag").await.unwrap();
    assert_eq!(index.paths, [folder.canonicalize().unwrap()]);
    scene.host.revoke_plugin("rag", documents(&folder)).await.unwrap();
    assert!(scene.host.plugin_index("rag").await.unwrap().paths.is_empty());
    let policy = scene.host.plugin_index("slack").await.unwrap_err();
    assert_eq!(policy.code, Code::Unsupported);
}

#[tokio::test]
async fn the_next_model_of_a_name_inherits_nothing() {
    let scene = Scene::new();
    scene.load("m").await;
    scene.attach("slack", "m").await;
    scene.host.remove_model("m").await.unwrap();
    scene.load("m").await;
    let entry = scene.entry("slack").await;
    assert!(entry.attachments.is_empty() && entry.capabilities[0].granted.is_none(), "{entry:?}");
}

#[tokio::test]
async fn settings_fit_their_schema_or_are_refused() {
    let scene = Scene::new();
    let set = async |name: &str, value: serde_json::Value| {
        let settings = [(name.to_owned(), Json(value))].into();
        scene.host.set_plugin_settings("slack", PluginSettings { settings }).await
    };
    for (name, value) in
        [("ratio", "much".into()), ("ratio", 0.into()), ("slack_mib", (-1).into()), ("none", 1.into())]
    {
        let refused = set(name, value).await.unwrap_err();
        assert_eq!((refused.code, refused.param.as_deref()), (Code::InvalidValue, Some(name)), "{refused}");
    }
    assert_eq!(set("ratio", 2.5.into()).await.unwrap().settings["ratio"].0, 2.5);
    assert_eq!(set("ratio", serde_json::Value::Null).await.unwrap().settings["ratio"].0, 1.5);
}

#[tokio::test]
async fn tokens_are_counted_by_a_model_that_is_loaded_for_it() {
    let scene = Scene::new();
    scene.add("m").await;
    let count = async |texts: &[&str]| {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        scene.host.count_tokens("m", CountTokens { texts }).await
    };
    let counted = count(&["one two", "", "three"]).await.unwrap();
    assert_eq!((counted.model.as_str(), counted.tokens), ("m", vec![2, 0, 1]));
    assert_eq!(scene.host.status().await.unwrap().models, ["m"]);
    assert_eq!(count(&[]).await.unwrap_err().code, Code::InvalidRequest);
}
