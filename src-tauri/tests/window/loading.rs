//! What a person does with the mouse, from loading a model to having its memory back.

use serde_json::json;

use crate::desk::User;

#[tokio::test]
async fn a_model_is_loaded_with_an_option_used_and_shrunk() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    desk.view().press("Load: minilm").await;
    let dialog = desk.at("Load minilm");
    dialog.write("Shrink after every N requests", "0").await;
    dialog.press("Load").await;
    desk.says("minilm is in memory").await;
    let (_, model) = desk.send("GET", "/ebb/v1/models/minilm", "").await;
    assert_eq!((&model["state"], &model["options"]["shrink_every"]), (&json!("loaded"), &json!(0)));

    let work = json!({ "texts": ["x".repeat(4000)] }).to_string();
    let (status, answer) = desk.send("POST", "/ebb/v1/models/minilm/embed", &work).await;
    assert_eq!(status, 200, "{answer}");
    desk.view().follow("Memory of minilm over time").await;
    desk.says("Shrink after next run").await;
    desk.view().press("Shrink now").await;
    desk.says("gave back").await;
    let (_, stats) = desk.send("GET", "/ebb/v1/models/minilm/stats", "").await;
    assert_eq!(stats["shrinks"], 1, "{stats}");
    let (_, log) = desk.send("GET", "/ebb/v1/log?lines=50", "").await;
    assert!(log["lines"].as_array().is_some_and(|lines| !lines.is_empty()), "the app keeps its log: {log}");
}
