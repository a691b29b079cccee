//! `ebb demo` on fake chat and speech models, beside a real embedding model's fake.

use ebb_tests::home::Home;
use serde_json::json;

#[test]
fn every_part_that_has_a_model_is_shown() {
    let home = Home::with_fakes(["minilm"]);
    let text = home.ok(["demo", "--requests", "1"]);
    assert!(text.contains("chat: left out") && text.contains("speech: left out"), "{text}");

    let folder = |name: &str| {
        let folder = home.path().join("other models").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.display().to_string()
    };
    let (chat, speech) = (folder("chat"), folder("speech"));
    let more = ["demo", "--requests", "1", "--chat", &chat, "--speech", &speech];
    let text = home.ok(more);
    assert!(text.contains("12 of 12 chats") && text.contains("after one shrink"), "{text}");
    assert!(text.contains("--audio FILE"), "without a recording: {text}");

    std::fs::write(format!("{speech}/one.wav"), [0; 1_024]).unwrap();
    let report = home.json(more);
    assert_eq!(report["rounds"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&report["chat"]["chats"], &report["chat"]["before_shrink"]["runs"]),
        (&json!(12), &json!(12))
    );
    // The fake has a small context, so that texts are shortened to it.
    assert!(report["chat"]["prompt_tokens"].as_u64().unwrap() > 3_000, "{report}");
    assert_eq!(report["speech"]["text"], "part 0");
    assert_eq!(home.json(["model", "list"])["models"].as_array().unwrap().len(), 1);

    let (code, error) = home.fails(["demo", "--requests", "1", "--chat", "nope"]);
    assert!(code == 1 && error.contains("'nope'"), "{error}");
    let (code, error) = home.fails(["demo", "--requests", "1", "--chat", &speech]);
    assert!(code == 1 && error.contains("is not a chat model"), "{error}");
}
