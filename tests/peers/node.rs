//! The `openai` client for Node.

use serde_json::json;

use crate::scene::{Scene, two_cities};

#[test]
fn the_client_for_node_does_what_the_one_for_python_does() {
    let scene = Scene::new(&["minilm", "smollm2", "moonshine"]);
    let said = scene.node("openai_client.mjs", &[&two_cities()]);
    let chat = &said["chat"];
    assert!(chat["text"].as_str().unwrap().len() > 20, "{chat}");
    assert_eq!(chat["streamed"], chat["text"]);
    assert_eq!(chat["streamUsage"]["completion_tokens"], chat["usage"]["completion_tokens"]);
    assert_eq!(said["tools"]["name"], "get_weather");
    assert!(said["tools"]["arguments"]["city"].is_string(), "{said}");
    assert_eq!(said["embeddings"]["dimensions"], 384);
    assert!(said["embeddings"]["same"].as_f64().unwrap() < 1e-6, "{said}");
    assert!(said["speech"].as_str().unwrap().to_lowercase().contains("best of times"), "{said}");
    assert_eq!(said["responses"]["streamed"], said["responses"]["text"]);
    let errors = &said["errors"];
    assert_eq!(
        (&errors["wrongKey"][0], &errors["wrongKey"][1]),
        (&json!("AuthenticationError"), &json!(401))
    );
    assert_eq!(
        (&errors["unknownModel"][0], &errors["unknownModel"][1]),
        (&json!("NotFoundError"), &json!(404))
    );
    assert_eq!((&errors["noTokens"][0], &errors["noTokens"][1]), (&json!("BadRequestError"), &json!(400)));
}
