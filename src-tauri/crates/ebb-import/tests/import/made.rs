use std::{fs, ops::ControlFlow};

use ebb_import::{
    Error, Options, Stage, import,
    onnx::{DataType, DimensionValue, GraphProto, TensorProto, TypeValue, ValueInfoProto},
};
use safetensors::Dtype;
use serde_json::{Value, json};

use crate::scene::{HIDDEN, Scene, TOKENS, WIDE};

fn tensor<'a>(graph: &'a GraphProto, name: &str) -> &'a TensorProto {
    graph.initializer.iter().find(|tensor| tensor.name == name).expect(name)
}

fn floats(tensor: &TensorProto) -> Vec<f32> {
    let bytes = tensor.raw_data.as_ref().unwrap();
    bytes.chunks_exact(4).map(|value| f32::from_le_bytes(value.try_into().unwrap())).collect()
}

fn described(value: &ValueInfoProto) -> String {
    let Some(TypeValue::TensorType(tensor)) = value.r#type.as_ref().unwrap().value.as_ref() else { panic!() };
    let dims: Vec<String> = tensor
        .shape
        .as_ref()
        .unwrap()
        .dim
        .iter()
        .map(|dim| match dim.value.as_ref().unwrap() {
            DimensionValue::DimValue(size) => size.to_string(),
            DimensionValue::DimParam(name) => name.clone(),
        })
        .collect();
    format!("{} {:?} [{}]", value.name, tensor.elem_type(), dims.join(", "))
}

#[test]
fn a_bert_folder_becomes_a_model_folder() {
    let scene = Scene::new();
    scene.write();
    let source = scene.source();
    fs::create_dir(source.join("1_Pooling")).unwrap();
    fs::write(source.join("1_Pooling/config.json"), "{}").unwrap();
    let modules = json!([
        {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
    ]);
    fs::write(source.join("modules.json"), modules.to_string()).unwrap();
    fs::write(source.join("README.md"), "# Model").unwrap();
    fs::write(source.join("LICENSE"), "Apache-2.0").unwrap();
    fs::write(source.join("optimizer.pt"), "not needed").unwrap();

    let mut steps = Vec::new();
    let imported = import(&source, &scene.destination(), Options::default(), &mut |progress| {
        steps.push(progress);
        ControlFlow::Continue(())
    })
    .unwrap();

    assert_eq!(imported.folder, scene.destination());
    assert_eq!((imported.architecture.as_str(), imported.hidden_size, imported.layers), ("BertModel", 8, 2));
    let parameters: usize = scene.tensors.values().map(|(_, values)| values.len()).sum();
    assert_eq!(imported.parameters, parameters as u64);
    assert_eq!(imported.model_bytes, fs::metadata(scene.destination().join("model.onnx")).unwrap().len());

    let mut names: Vec<String> = fs::read_dir(scene.destination())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected =
        ["1_Pooling", "LICENSE", "README.md", "config.json", "model.onnx", "modules.json", "tokenizer.json"];
    assert_eq!(names, expected);
    assert!(scene.destination().join("1_Pooling/config.json").is_file());
    let siblings = fs::read_dir(scene.folder.path().join("models")).unwrap().count();
    assert_eq!(siblings, 1, "the working folder is gone");

    assert_eq!(steps[0].stage, Stage::Checking);
    assert!(steps.windows(2).all(|pair| pair[0].done_bytes <= pair[1].done_bytes));
    let last = steps.last().unwrap();
    assert_eq!((last.stage, last.done_bytes), (Stage::Done, last.total_bytes));
}

#[test]
fn the_graph_takes_tokens_and_gives_their_hidden_states() {
    let scene = Scene::new();
    scene.write().import().unwrap();
    let graph = scene.graph();
    let inputs: Vec<String> = graph.input.iter().map(described).collect();
    assert_eq!(
        inputs,
        [
            "input_ids Int64 [batch, sequence]",
            "attention_mask Int64 [batch, sequence]",
            "token_type_ids Int64 [batch, sequence]"
        ]
    );
    assert_eq!(described(&graph.output[0]), "last_hidden_state Float [batch, sequence, 8]");

    let mut known: Vec<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
    known.extend(graph.initializer.iter().map(|tensor| tensor.name.as_str()));
    for node in &graph.node {
        assert!(node.domain.is_empty(), "{} is not a standard operator", node.op_type);
        for input in &node.input {
            assert!(known.contains(&input.as_str()), "{} takes {input} before it exists", node.name);
        }
        known.extend(node.output.iter().map(String::as_str));
    }
    let all = known.len();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), all, "every value has one maker");
    assert!(graph.initializer.iter().all(|tensor| {
        let elements: i64 = tensor.dims.iter().product();
        let size_bytes = DataType::try_from(tensor.data_type).unwrap().size_bytes().unwrap();
        tensor.raw_data.as_ref().unwrap().len() as u64 == elements as u64 * size_bytes
    }));
}

#[test]
fn matrices_are_turned_and_tables_are_not() {
    let scene = Scene::new();
    scene.write().import().unwrap();
    let graph = scene.graph();

    let table = "embeddings.word_embeddings.weight";
    assert_eq!(tensor(&graph, table).dims, [TOKENS as i64, HIDDEN as i64]);
    assert_eq!(floats(tensor(&graph, table)), scene.tensors[table].1);

    let matrix = "encoder.layer.1.intermediate.dense.weight";
    assert_eq!(tensor(&graph, matrix).dims, [HIDDEN as i64, WIDE as i64]);
    let turned = floats(tensor(&graph, matrix));
    let original = &scene.tensors[matrix].1;
    for (output, input) in [(0, 0), (11, 0), (0, 7), (5, 3)] {
        assert_eq!(turned[input * WIDE + output], original[output * HIDDEN + input]);
    }
}

#[test]
fn half_precision_and_a_task_head_make_the_same_model() {
    let plain = Scene::new();
    plain.write().import().unwrap();
    let expected = plain.graph();
    for data_type in [Dtype::F16, Dtype::BF16] {
        let scene = Scene { data_type, ..Scene::new() };
        scene.write().import().unwrap();
        assert!(scene.graph() == expected, "{data_type:?}");
    }
    let mut headed = Scene::new();
    headed.config["architectures"] = json!(["BertForMaskedLM"]);
    headed.tensors =
        headed.tensors.into_iter().map(|(name, tensor)| (format!("bert.{name}"), tensor)).collect();
    headed.tensors.insert("cls.predictions.bias".into(), (vec![TOKENS], vec![0.0; TOKENS]));
    assert_eq!(headed.write().import().unwrap().architecture, "BertForMaskedLM");
    assert!(headed.graph() == expected);
}

#[test]
fn the_older_layout_with_the_transformer_in_its_own_folder() {
    let scene = Scene::new();
    scene.write_to(&scene.source().join("0_Transformer"));
    let modules =
        json!([{"idx": 0, "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]);
    fs::write(scene.source().join("modules.json"), modules.to_string()).unwrap();
    scene.import().unwrap();
    assert!(scene.destination().join("tokenizer.json").is_file());
    let modules = fs::read_to_string(scene.destination().join("modules.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&modules).unwrap()[0]["path"], "");
}

#[test]
fn an_import_that_nobody_wants_any_more_leaves_nothing() {
    let scene = Scene::new();
    scene.write();
    let total = {
        let mut calls = 0;
        let mut count = |_| {
            calls += 1;
            ControlFlow::Continue(())
        };
        import(&scene.source(), &scene.destination(), Options::default(), &mut count).unwrap();
        calls
    };
    fs::remove_dir_all(scene.destination()).unwrap();
    // The last call says that it is done, and comes too late.
    for last in 1..total {
        let mut calls = 0;
        let mut give_up = |_| {
            calls += 1;
            if calls == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let result = import(&scene.source(), &scene.destination(), Options::default(), &mut give_up);
        assert!(matches!(result, Err(Error::Cancelled)), "{last}: {result:?}");
        let left = fs::read_dir(scene.folder.path().join("models")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "call {last}");
    }
}
