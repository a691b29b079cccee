use super::*;
use crate::pull::Hash;

fn chosen(paths: &[&str], variant: Option<&str>) -> Result<Chosen, Error> {
    let files: Vec<RemoteFile> = paths
        .iter()
        .map(|path| RemoteFile { path: (*path).to_owned(), bytes: 1, hash: Hash::Unknown })
        .collect();
    choose("org/Name", &files, variant)
}

/// The names that the chosen files get, sorted.
fn locals(paths: &[&str], variant: Option<&str>) -> (Format, Vec<String>) {
    let chosen = chosen(paths, variant).unwrap();
    let mut names: Vec<_> = chosen.files.into_iter().map(|(_, local)| local).collect();
    names.sort();
    (chosen.format, names)
}

const OPTIMUM: [&str; 14] = [
    ".gitattributes",
    "LICENSE",
    "README.md",
    "config.json",
    "model.safetensors",
    "onnx/model.onnx",
    "onnx/model.onnx_data",
    "onnx/model_fp16.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_q4.onnx",
    "onnx/model_q4.onnx_data",
    "onnx/model_q4f16.onnx",
    "onnx/model_uint8.onnx",
    "tokenizer.json",
];

#[test]
fn an_onnx_model_is_taken_with_its_data_and_companions() {
    let rest = ["LICENSE", "config.json"];
    for (variant, model) in [
        (None, vec!["onnx/model.onnx", "onnx/model.onnx_data"]),
        (Some("onnx"), vec!["onnx/model.onnx", "onnx/model.onnx_data"]),
        // The data keeps its name: the model file names it.
        (Some("q4"), vec!["onnx/model.onnx", "onnx/model_q4.onnx_data"]),
        (Some("int8"), vec!["onnx/model.onnx"]),
        (Some("Q4F16"), vec!["onnx/model.onnx"]),
    ] {
        let mut want: Vec<String> = rest.iter().chain(&model).map(|name| (*name).to_owned()).collect();
        want.push("tokenizer.json".to_owned());
        assert_eq!(locals(&OPTIMUM, variant), (Format::Onnx, want), "{variant:?}");
    }
    let files = chosen(&OPTIMUM, Some("int8")).unwrap().files;
    assert!(files.iter().any(|(file, _)| file.path == "onnx/model_int8.onnx"), "not uint8");
}

#[test]
fn speech_takes_an_encoder_and_the_merged_decoder() {
    let paths = [
        "config.json",
        "onnx/decoder_model.onnx",
        "onnx/decoder_model_merged.onnx",
        "onnx/decoder_model_merged_q4.onnx",
        "onnx/decoder_with_past_model.onnx",
        "onnx/encoder_model.onnx",
        "onnx/encoder_model_q4.onnx",
        "preprocessor_config.json",
    ];
    let want = [
        "config.json",
        "onnx/decoder_model_merged.onnx",
        "onnx/encoder_model.onnx",
        "preprocessor_config.json",
    ];
    for variant in [None, Some("q4")] {
        assert_eq!(locals(&paths, variant).1, want, "{variant:?}");
    }
    let files = chosen(&paths, Some("q4")).unwrap().files;
    assert_eq!(files.iter().filter(|(file, _)| file.path.ends_with("_q4.onnx")).count(), 2);
}

#[test]
fn a_genai_folder_becomes_the_models_folder() {
    let paths = [
        "README.md",
        "LICENSE",
        "cpu_and_mobile/cpu-int4-rtn-block-32/genai_config.json",
        "cpu_and_mobile/cpu-int4-rtn-block-32/model.onnx",
        "cpu_and_mobile/cpu-int4-rtn-block-32/model.onnx.data",
        "cpu_and_mobile/cpu-int4-rtn-block-32/tokenizer.json",
        "cuda/cuda-fp16/genai_config.json",
        "cuda/cuda-fp16/model.onnx",
    ];
    let want = ["LICENSE", "genai_config.json", "model.onnx", "model.onnx.data", "tokenizer.json"];
    assert_eq!(locals(&paths, None), (Format::Genai, want.map(ToOwned::to_owned).to_vec()));
    assert_eq!(locals(&paths, Some("fp16")).1, ["LICENSE", "genai_config.json", "model.onnx"]);
    assert!(matches!(chosen(&paths, Some("q4")), Err(Error::WrongVariant { several: false, .. })));
}

#[test]
fn one_gguf_file_is_taken() {
    let paths = [
        "README.md",
        "N-Q2_K.gguf",
        "N-Q4_0.gguf",
        "N-Q4_K_M.gguf",
        "N-Q4_K_S.gguf",
        "N-Q8_0.gguf",
        "mmproj-N-f16.gguf",
    ];
    assert_eq!(locals(&paths, None), (Format::Gguf, vec!["N-Q4_0.gguf".to_owned()]));
    assert_eq!(locals(&paths, Some("q4_k_m")).1, ["N-Q4_K_M.gguf"]);
    assert_eq!(locals(&paths, Some("Q8")).1, ["N-Q8_0.gguf"]);
    assert!(matches!(chosen(&paths, Some("q4_k")), Err(Error::WrongVariant { several: true, .. })));
    assert!(matches!(chosen(&["a-Q2_K.gguf", "a-Q3_K.gguf"], None), Err(Error::ChooseVariant { .. })));
    let split = ["big-q4_0-00001-of-00002.gguf"];
    assert!(matches!(chosen(&split, None), Err(Error::NoModel { reason, .. }) if reason.contains("split")));
}

#[test]
fn safetensors_are_taken_where_nothing_else_is() {
    let paths = [
        "1_Pooling/config.json",
        "config.json",
        "model.safetensors",
        "pytorch_model.bin",
        "tokenizer.json",
        "vocab.txt",
    ];
    let want = ["1_Pooling/config.json", "config.json", "model.safetensors", "tokenizer.json", "vocab.txt"];
    assert_eq!(locals(&paths, None), (Format::Safetensors, want.map(ToOwned::to_owned).to_vec()));
    assert_eq!(locals(&OPTIMUM, Some("safetensors")).0, Format::Safetensors);
    for (paths, word) in [
        (&["README.md"][..], "no ONNX"),
        (&["model.safetensors.index.json", "model-00001-of-00002.safetensors"], "several files"),
        (&["model.safetensors"], "config.json"),
    ] {
        let error = chosen(paths, None).unwrap_err();
        assert!(matches!(&error, Error::NoModel { reason, .. } if reason.contains(word)), "{error:?}");
    }
}
