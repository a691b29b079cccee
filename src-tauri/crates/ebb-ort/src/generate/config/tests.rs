use serde_json::json;

use super::*;

fn optimum(config: serde_json::Value) -> Config {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("config.json"), config.to_string()).unwrap();
    Config::read(folder.path()).unwrap()
}

fn number(said: &Option<Said>) -> Option<u64> {
    said.as_ref().map(|said| said.number)
}

#[test]
fn the_older_names_of_fields_are_known() {
    let config = optimum(json!({"n_head": 12, "n_embd": 768, "n_positions": 1024, "vocab_size": 50257}));
    assert_eq!(number(&config.kv_heads), Some(12));
    assert_eq!(number(&config.head_size), Some(64));
    assert_eq!(number(&config.context_tokens), Some(1024));
    let config = optimum(json!({
        "num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 576, "head_dim": 32,
        "max_position_embeddings": 8192
    }));
    assert_eq!((number(&config.kv_heads), number(&config.head_size)), (Some(3), Some(32)));
}

#[test]
fn a_folder_that_says_nothing_of_it_names_inputs_as_most_do() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::read(folder.path()).unwrap();
    assert_eq!((config.names, config.layers), (Names::default(), None));
    let defaults = load_defaults(folder.path()).unwrap().session_options;
    assert_eq!(defaults["session.enable_mem_pattern"], "0");
    // Awake while a run goes on, asleep between runs.
    assert_eq!(defaults["session.intra_op.allow_spinning"], "1");
    assert_eq!(defaults["session.force_spinning_stop"], "1");
}
