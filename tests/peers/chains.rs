//! LangChain and LiteLLM.

use serde_json::json;

use crate::scene::Scene;

#[test]
fn a_chain_of_langchain_finds_and_answers() {
    let said = Scene::new(&["minilm", "smollm2"]).python("rag.py", &[]);
    // The two texts on arenas, of five.
    let mut found: Vec<_> =
        said["found"].as_array().unwrap().iter().map(|index| index.as_u64().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 3], "{said}");
    assert!(!said["answer"].as_str().unwrap().is_empty());
    assert_eq!(said["streamed"], said["answer"]);
    assert!(said["usage"]["total_tokens"].as_u64().unwrap() > 0, "{said}");
}

#[test]
fn litellm_takes_ebb_for_a_provider() {
    let said = Scene::new(&["minilm", "smollm2"]).python("litellm_client.py", &[]);
    assert!(said["text"].as_str().unwrap().len() > 20, "{said}");
    assert_eq!(said["streamed"], said["text"]);
    assert!((1..=24).contains(&said["tokens"].as_u64().unwrap()), "{said}");
    assert_eq!((&said["vectors"], &said["refused"]), (&json!([384, 384]), &json!("NotFoundError")));
}
