//! Folders that are broken, or of models that Ebb does not run.

use serde_json::{Value, json};

use super::*;

/// Loads the tiny model after a change to its configuration: what is said.
fn refusal(model: ChatModel, file: &str, change: impl FnOnce(&mut Value)) -> Failure {
    let folder = tempfile::tempdir().unwrap();
    model.write(folder.path());
    let file = folder.path().join(file);
    let mut config: Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    change(&mut config);
    fs_err::write(&file, config.to_string()).unwrap();
    load(&folder, LoadOptions::default()).map(|_| ()).unwrap_err()
}

/// Puts a value at a path of a JSON document.
fn set(path: &str, value: Value) -> impl FnOnce(&mut Value) {
    let pointer = format!("/{}", path.replace('.', "/"));
    move |config| {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        config.pointer_mut(parent).unwrap()[name] = value;
    }
}

#[test]
fn a_broken_field_is_named() {
    for (field, value) in [
        ("model.decoder.filename", json!(7)),
        ("model.decoder.num_hidden_layers", json!(-1)),
        ("model.decoder.num_hidden_layers", json!("two")),
        ("model.decoder.num_hidden_layers", json!(3)),
        ("model.decoder.num_hidden_layers", json!(1_u64 << 60)),
        ("model.decoder.num_key_value_heads", json!(0)),
        ("model.decoder.num_key_value_heads", json!(3)),
        ("model.decoder.num_attention_heads", json!([])),
        ("model.decoder.head_size", json!(64)),
        ("model.decoder.head_size", json!(1.5)),
        ("model.decoder.inputs", json!(5)),
        ("model.decoder.inputs.input_ids", json!(5)),
        ("model.decoder.inputs.attention_mask", json!("")),
        ("model.decoder.inputs.position_ids", json!({})),
        ("model.decoder.inputs.past_key_names", json!("past.key")),
        ("model.decoder.inputs.past_value_names", json!("%d.%d")),
        ("model.decoder.outputs", json!([])),
        ("model.decoder.outputs.logits", json!(true)),
        ("model.decoder.outputs.present_key_names", json!(1)),
        ("model.decoder.outputs.present_value_names", json!("present")),
        ("model.decoder.session_options", json!(3)),
        ("model.decoder.session_options.provider_options", json!({})),
        ("model.decoder.session_options.provider_options", json!([1])),
        ("model.decoder.session_options.provider_options", json!([{"cuda": 1}])),
        ("model.decoder.session_options.intra_op_num_threads", json!([2])),
        ("model.context_length", json!(0)),
        ("model.context_length", json!("long")),
        ("model.vocab_size", json!(-259)),
        ("search.past_present_share_buffer", json!("yes")),
    ] {
        let failure = refusal(ChatModel::default(), "genai_config.json", set(field, value.clone()));
        assert_eq!(failure.code, Code::InvalidModel, "{field} = {value}: {failure}");
        assert!(failure.message.contains(field), "{field} = {value}: {failure}");
    }
}

#[test]
fn names_that_the_model_does_not_have_are_told_with_those_that_it_has() {
    for (field, value, told) in [
        ("model.decoder.inputs.input_ids", "tokens", "input_ids"),
        ("model.decoder.inputs.past_key_names", "past.%d.key", "past_key_values.0.key"),
        ("model.decoder.inputs.past_value_names", "past.%d.value", "past.0.value"),
        ("model.decoder.outputs.present_key_names", "now.%d.key", "now.0.key"),
        ("model.decoder.outputs.logits", "scores", "logits"),
    ] {
        let failure = refusal(ChatModel::default(), "genai_config.json", set(field, json!(value)));
        assert_eq!(failure.code, Code::InvalidModel, "{field}: {failure}");
        assert!(failure.message.contains(told), "{field}: {failure}");
    }
}

#[test]
fn a_context_that_nobody_tells_must_be_given() {
    let optimum = ChatModel { genai: false, in_place: false, ..ChatModel::default() };
    for (model, file, field) in [
        (ChatModel::default(), "genai_config.json", "model.context_length"),
        (optimum, "config.json", "max_position_embeddings"),
    ] {
        let failure = refusal(model, file, set(field, Value::Null));
        assert_eq!(failure.code, Code::InvalidModel);
        assert!(failure.hint.unwrap().contains("context_tokens"));
    }
}

#[test]
fn models_of_several_parts_are_refused() {
    let part = json!({"filename": "model.onnx"});
    for (field, value) in [
        ("model.vision", part.clone()),
        ("model.embedding", part.clone()),
        ("model.encoder", part),
        ("model.decoder.pipeline", json!([{"a": {}}])),
    ] {
        let failure = refusal(ChatModel::default(), "genai_config.json", set(field, value));
        assert_eq!(failure.code, Code::Unsupported, "{field}: {failure}");
        let told = if field == "model.encoder" { "encoder" } else { field };
        assert!(failure.message.contains(told), "{field}: {failure}");
    }
    let optimum = ChatModel { genai: false, in_place: false, ..ChatModel::default() };
    let failure = refusal(optimum, "config.json", set("is_encoder_decoder", json!(true)));
    assert_eq!(failure.code, Code::Unsupported);
}

#[test]
fn what_the_folder_asks_for_holds_beneath_what_the_user_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = ChatModel::default().write(folder.path()).join("genai_config.json");
    let mut config: Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    config["model"]["decoder"]["session_options"] = json!({
        "log_id": "x", "enable_mem_pattern": true, "session.dynamic_block_base": 4, "intra_op_num_threads": 1,
        "provider_options": [{"cuda": {"enable_cuda_graph": "0"}}]
    });
    fs_err::write(&file, config.to_string()).unwrap();
    let line = |options: LoadOptions, key: &str| {
        let session = load(&folder, options).unwrap();
        let lines = session.info().options.clone();
        lines.into_iter().find(|line| line.key.ends_with(key)).map(|line| (line.requested, line.note))
    };
    let of_folder =
        |value: &str| Some((value.to_owned(), Some("asked for by the model's genai_config.json".to_owned())));
    assert_eq!(line(LoadOptions::default(), "enable_mem_pattern"), of_folder("1"));
    assert_eq!(line(LoadOptions::default(), "dynamic_block_base"), of_folder("4"));
    assert_eq!(line(LoadOptions::default(), "log_id"), None);
    let session_options = [("session.enable_mem_pattern".to_owned(), "0".to_owned())].into();
    let options = LoadOptions { session_options, ..LoadOptions::default() };
    assert_eq!(line(options, "enable_mem_pattern"), Some(("0".to_owned(), None)));
}
