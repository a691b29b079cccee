//! What a person does with the mouse, from loading a model to having its memory back.

use std::time::Duration;

use fantoccini::{Locator, elements::Element};
use serde_json::json;

use crate::desk::{Desk, User};

/// The visible button with these words on it, once it is there.
async fn button(desk: &Desk<'_>, words: &str) -> Element {
    let path = format!("//button[normalize-space()='{words}' and not(@disabled)]");
    let wait = desk.page.wait().at_most(Duration::from_secs(60));
    wait.for_element(Locator::XPath(&path))
        .await
        .unwrap_or_else(|error| panic!("no button {words:?}: {error}"))
}

#[tokio::test]
async fn a_model_is_loaded_with_an_option_used_and_shrunk() {
    let user = User::with_models(["minilm"]).await;
    let desk = user.opens().await;
    button(&desk, "Load…").await.click().await.unwrap();
    let option = desk
        .page
        .wait()
        .for_element(Locator::XPath("//dialog//label[starts-with(normalize-space(), 'Shrink after every')]"));
    let named = option.await.unwrap().attr("for").await.unwrap().expect("a label of a field");
    desk.page.find(Locator::Id(&named)).await.unwrap().send_keys("0").await.unwrap();
    button(&desk, "Load").await.click().await.unwrap();
    desk.says("minilm is in memory").await;
    let (_, model) = desk.send("GET", "/ebb/v1/models/minilm", "").await;
    assert_eq!((&model["state"], &model["options"]["shrink_every"]), (&json!("loaded"), &json!(0)));

    let work = json!({ "texts": ["x".repeat(4000)] }).to_string();
    let (status, answer) = desk.send("POST", "/ebb/v1/models/minilm/embed", &work).await;
    assert_eq!(status, 200, "{answer}");
    let memory = desk.page.wait().for_element(Locator::XPath("//main//a[contains(@href, '/memory/minilm')]"));
    memory.await.unwrap().click().await.unwrap();
    desk.says("Shrink after next run").await;
    button(&desk, "Shrink now").await.click().await.unwrap();
    desk.says("gave back").await;
    let (_, stats) = desk.send("GET", "/ebb/v1/models/minilm/stats", "").await;
    assert_eq!(stats["shrinks"], 1, "{stats}");
    let (_, log) = desk.send("GET", "/ebb/v1/log?lines=50", "").await;
    assert!(log["lines"].as_array().is_some_and(|lines| !lines.is_empty()), "the app keeps its log: {log}");
}
