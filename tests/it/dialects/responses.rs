//! Responses.

use serde_json::{Value, json};

use super::{Scene, json};

const RESPONSES: &str = "/v1/responses";

#[tokio::test]
async fn a_whole_response() {
    let scene = Scene::new().await;
    let answer =
        scene.ok(RESPONSES, json!({"model": "chat", "input": "give it back", "instructions": "short"})).await;
    assert_eq!((&answer["object"], &answer["status"]), (&json!("response"), &json!("completed")));
    let message = &answer["output"][0];
    assert_eq!(
        (&message["type"], &message["content"]),
        (
            &json!("message"),
            &json!([{"type": "output_text", "text": "give it back", "annotations": [], "logprobs": []}])
        )
    );
    assert_eq!(answer["usage"]["total_tokens"], 6);
    let cut =
        scene.ok(RESPONSES, json!({"model": "chat", "input": "give it back", "max_output_tokens": 1})).await;
    assert_eq!(cut["incomplete_details"], json!({"reason": "max_output_tokens"}));
}

#[tokio::test]
async fn a_response_in_events() {
    let scene = Scene::new().await;
    let body =
        json!({"model": "chat", "stream": true, "input": [{"role": "user", "content": "give it back"}]});
    let events: Vec<Value> = scene.events(RESPONSES, body).await.iter().map(|event| json(event)).collect();
    let deltas = events.iter().filter(|event| event["type"] == "response.output_text.delta");
    let text: String = deltas.map(|event| event["delta"].as_str().unwrap()).collect();
    assert_eq!(text, "give it back");
    assert_eq!(events[0]["type"], "response.created");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["status"]),
        (&json!("response.completed"), &json!("completed"))
    );
    assert_eq!(last["response"]["id"], events[0]["response"]["id"]);
}

#[tokio::test]
async fn what_is_wrong_is_said_before_and_in_the_stream() {
    let scene = Scene::new().await;
    let (status, error) = scene
        .fails(RESPONSES, json!({"model": "chat", "input": "a", "previous_response_id": "resp_1"}))
        .await;
    assert_eq!((status, &error["param"]), (422, &json!("previous_response_id")));
    let events =
        scene.events(RESPONSES, json!({"model": "chat", "input": "well fail", "stream": true})).await;
    let last = json(events.last().unwrap());
    assert_eq!((&last["type"], &last["error"]["code"]), (&json!("error"), &json!("internal")));
}
