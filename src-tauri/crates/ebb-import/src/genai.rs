//! The settings of a chat model's folder, in the layout of onnxruntime-genai and beside it that of Hugging Face.

use serde_json::{Value, json};

use crate::{llama::Config, vocabulary::Vocabulary};

/// How long an answer with its prompt may be where nobody says; a shared cache is made for so many tokens.
const SEARCH_MAX_LENGTH: usize = 2048;

/// genai_config.json.
pub(crate) fn genai_config(config: &Config, vocabulary: &Vocabulary, model_file: &str) -> Value {
    let mut model = json!({
        "context_length": config.positions,
        "decoder": {
            "session_options": {"log_id": "onnxruntime-genai", "provider_options": []},
            "filename": model_file,
            "head_size": config.head_size,
            "hidden_size": config.hidden_size,
            "inputs": {
                "input_ids": "input_ids",
                "attention_mask": "attention_mask",
                "past_key_names": "past_key_values.%d.key",
                "past_value_names": "past_key_values.%d.value"
            },
            "outputs": {
                "logits": "logits",
                "present_key_names": "present.%d.key",
                "present_value_names": "present.%d.value"
            },
            "num_attention_heads": config.heads,
            "num_hidden_layers": config.layers,
            "num_key_value_heads": config.kv_heads
        },
        "type": config.family.name(),
        "vocab_size": config.vocabulary_size
    });
    add_special_tokens(&mut model, vocabulary);
    json!({
        "model": model,
        "search": {
            "do_sample": false,
            "max_length": config.positions.min(SEARCH_MAX_LENGTH),
            "num_beams": 1,
            "past_present_share_buffer": true,
            "temperature": 1.0,
            "top_k": 50,
            "top_p": 1.0
        }
    })
}

/// config.json.
pub(crate) fn config(config: &Config, vocabulary: &Vocabulary, license: Option<&str>) -> Value {
    let mut model = json!({
        "model_type": config.family.name(),
        "architectures": [config.family.class()],
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_size,
        "intermediate_size": config.wide_size,
        "vocab_size": config.vocabulary_size,
        "max_position_embeddings": config.positions,
        "rope_theta": config.rope_theta,
        "rms_norm_eps": f64::from(config.epsilon),
        "hidden_act": "silu",
        "tie_word_embeddings": config.tied
    });
    if let Some(license) = license {
        model["license"] = license.into();
    }
    add_special_tokens(&mut model, vocabulary);
    model
}

/// generation_config.json.
pub(crate) fn generation_config(vocabulary: &Vocabulary) -> Value {
    let mut config = json!({});
    add_special_tokens(&mut config, vocabulary);
    config
}

/// One end is a number, several are a list: programs that know only one kind know the number.
fn add_special_tokens(config: &mut Value, vocabulary: &Vocabulary) {
    if let Some(bos) = vocabulary.bos {
        config["bos_token_id"] = bos.into();
    }
    config["eos_token_id"] = match vocabulary.eos.as_slice() {
        [one] => (*one).into(),
        several => several.into(),
    };
    config["pad_token_id"] = vocabulary.pad.into();
}
