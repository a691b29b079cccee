//! A conversation with a model, by keyboard.

use serde_json::json;

use crate::{
    desk::{Desk, User},
    hand::Part,
};

const QUESTION: &str = "What is the capital of France?";

/// Keeps what the first answer says each time that more of it is drawn.
const WATCH: &str = "
    const log = document.querySelector('[role=log]');
    window.drawn = [];
    new MutationObserver(() => {
        const text = log.querySelector('.markdown')?.innerText;
        if (text && text !== window.drawn.at(-1)) window.drawn.push(text);
    }).observe(log, { subtree: true, childList: true, characterData: true });";

async fn asks(desk: &Desk<'_>, view: &Part<'_>, question: &str) {
    view.write("Message", question).await;
    desk.enter().await;
}

#[tokio::test]
async fn an_answer_is_streamed_and_the_next_one_is_stopped_in_its_middle() {
    let user = User::with_real_models(["smollm2"]).await;
    let desk = user.opens().await;
    desk.goes_to('3').await;
    let view = desk.view();
    view.press("Load").await;
    desk.at("Memory of smollm2").says("Resident").await;
    view.write("Max tokens", "24").await;
    view.write("Temperature", "0").await;

    desk.run(WATCH, vec![]).await;
    asks(&desk, &view, QUESTION).await;
    let figures = desk.at("Figures of this answer").says("tokens/s").await;
    let drawn = desk.run("return window.drawn;", vec![]).await;
    let drawn: Vec<&str> =
        drawn.as_array().expect("a list").iter().filter_map(|text| text.as_str()).collect();
    let whole = *drawn.last().expect("an answer");
    assert!(drawn.len() > 1, "it comes bit by bit: {drawn:?}");
    assert!(drawn.iter().all(|bit| whole.starts_with(bit.trim_end())), "{drawn:?}");
    let generation = json!({
        "messages": [{ "role": "user", "content": QUESTION }], "max_tokens": 24, "temperature": 0,
    });
    let asked = json!({ "generation": generation }).to_string();
    let (status, answer) = desk.send("POST", "/ebb/v1/models/smollm2/generate", &asked).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(whole.trim(), answer["text"].as_str().expect("a text").trim(), "it is what the model says");
    let tokens = &answer["figures"]["completion_tokens"];
    assert!(figures.starts_with(&format!("{tokens} tokens · ")), "{figures}");
    assert!(figures.contains("KV cache"), "{figures}");

    view.write("Max tokens", "").await;
    asks(&desk, &view, "Tell me a very long story about the sea.").await;
    let last = desk.last_answer();
    let begun = last.says_that("a few words", |text| text.split_whitespace().count() > 3).await;
    view.press("Stop").await;
    let left = last.says("stopped").await;
    assert!(left.starts_with(begun.trim_end()), "what was written stays: {left}");
    let (status, answer) = desk.send("POST", "/ebb/v1/models/smollm2/generate", &asked).await;
    assert_eq!(status, 200, "the model is free again: {answer}");
    desk.goes_to('5').await;
    desk.view().says("Given up by the caller").await;
}
