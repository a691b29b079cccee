use std::{collections::BTreeMap, fs};

use ebb_import::{Error, Options, import};
use safetensors::Dtype;
use serde_json::{Value, json};

use crate::scene::{Scene, unheard};

#[test]
fn sources_of_other_kinds_are_named() {
    let scene = Scene::new();
    let source = scene.source();
    assert!(matches!(scene.refused(), Error::Nothing(_)));

    fs::create_dir(&source).unwrap();
    assert!(matches!(scene.refused(), Error::NoModel(_)));

    fs::write(source.join("chat.gguf"), "GGUF").unwrap();
    let text = scene.refused().to_string();
    assert!(text.contains("is a folder of GGUF files; give the file"), "{text}");
    let file = import(&source.join("chat.gguf"), &scene.destination(), Options::default(), &mut unheard);
    assert!(matches!(file, Err(Error::BrokenGguf { .. })));
    // Somebody who has safetensors beside it means these.
    fs::write(source.join("model.safetensors"), "").unwrap();
    assert!(matches!(scene.refused(), Error::MissingFile { file: "config.json", .. }));
    fs::remove_file(source.join("model.safetensors")).unwrap();
    fs::remove_file(source.join("chat.gguf")).unwrap();

    fs::create_dir(source.join("onnx")).unwrap();
    fs::write(source.join("onnx/model.onnx"), "").unwrap();
    assert!(matches!(scene.refused(), Error::AlreadyOnnx(_)));
    // With what is left of what it was made of.
    for name in ["config.json", "modules.json"] {
        fs::write(source.join(name), "{}").unwrap();
        assert!(matches!(scene.refused(), Error::AlreadyOnnx(_)), "{name}");
    }

    let file =
        import(&source.join("onnx/model.onnx"), &scene.destination(), Options::default(), &mut unheard);
    assert!(matches!(file, Err(Error::NotAFolder(_))));
}

#[test]
fn missing_files_are_named_with_what_to_do() {
    let refused_without = |file: &str| {
        let scene = Scene::new();
        scene.write();
        fs::remove_file(scene.source().join(file)).unwrap();
        scene.refused().to_string()
    };
    assert!(refused_without("config.json").contains("no config.json"));
    assert!(refused_without("tokenizer.json").contains("no tokenizer.json"));
    assert!(refused_without("model.safetensors").contains("no model.safetensors"));

    let scene = Scene::new();
    scene.write();
    fs::rename(scene.source().join("model.safetensors"), scene.source().join("pytorch_model.bin")).unwrap();
    assert!(scene.refused().to_string().contains("pytorch_model.bin are not supported"));
    fs::write(scene.source().join("model.safetensors.index.json"), "{}").unwrap();
    assert!(scene.refused().to_string().contains("in several parts"));
}

#[test]
fn settings_that_the_graph_would_not_honour_are_refused() {
    let refused = |key: &str, value: Value| {
        let mut scene = Scene::new();
        scene.config[key] = value;
        scene.write().refused().to_string()
    };
    let check = |key: &str, value: Value, expected: &str| {
        let text = refused(key, value.clone());
        assert!(text.contains(expected), "{key} = {value}: {text}");
    };
    check(
        "hidden_act",
        json!("gelu_new"),
        "hidden_act is \"gelu_new\", which is not supported; supported: gelu",
    );
    check("position_embedding_type", json!("relative_key"), "supported: absolute");
    check("is_decoder", json!(true), "is_decoder");
    check("model_type", json!("roberta"), "the architecture BertModel is not supported");
    check("num_attention_heads", json!(3), "cannot be shared among 3 attention heads");
    check("num_attention_heads", json!(0), "num_attention_heads is 0");
    check("hidden_size", json!(u64::MAX), "hidden_size is");
    check("hidden_size", json!("eight"), "is broken");
    check("layer_norm_eps", json!(-1.0), "layer_norm_eps");
    check("num_hidden_layers", json!(1_000_000), "no tensor encoder.layer.2.attention.self.query.weight");
    check("vocab_size", json!(11), "has shape [10, 8], but its config calls for [11, 8]");

    let mut scene = Scene::new();
    scene.config = json!({"architectures": ["XLMRobertaModel"], "model_type": "xlm-roberta"});
    assert!(
        scene.write().refused().to_string().contains("the architecture XLMRobertaModel is not supported")
    );
    scene.config = json!({});
    assert!(matches!(scene.write().refused(), Error::UnsupportedArchitecture { .. }));
    scene.config = json!([1, 2]);
    assert!(matches!(scene.write().refused(), Error::UnsupportedArchitecture { .. }));
    fs::write(scene.source().join("config.json"), "{").unwrap();
    assert!(matches!(scene.refused(), Error::Json { .. }));
}

#[test]
fn modules_that_would_be_left_out_are_refused() {
    let scene = Scene::new();
    scene.write();
    let modules = json!([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    ]);
    fs::write(scene.source().join("modules.json"), modules.to_string()).unwrap();
    assert!(scene.refused().to_string().contains("models.Dense"));
    let modules = json!([{"path": "../elsewhere", "type": "sentence_transformers.models.Transformer"}]);
    fs::write(scene.source().join("modules.json"), modules.to_string()).unwrap();
    assert!(scene.refused().to_string().contains("../elsewhere"));
}

#[test]
fn weights_that_do_not_fit_are_refused() {
    let mut scene = Scene::new();
    let gone = "encoder.layer.1.output.dense.bias";
    scene.tensors.remove(gone);
    assert!(matches!(scene.write().refused(), Error::MissingTensor { name, .. } if name == gone));

    let scene = Scene { tensors: BTreeMap::new(), ..Scene::new() };
    assert!(matches!(scene.write().refused(), Error::MissingTensor { .. }));

    let scene = Scene { data_type: Dtype::F64, ..Scene::new() };
    assert!(
        matches!(scene.write().refused(), Error::UnsupportedDataType { data_type, .. } if data_type == "F64")
    );

    let scene = Scene::new();
    scene.write();
    let weights = scene.source().join("model.safetensors");
    let whole = fs::read(&weights).unwrap();
    fs::write(&weights, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(scene.refused(), Error::BrokenWeights { .. }));
}
