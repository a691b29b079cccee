use super::*;

/// A length-delimited Protocol Buffers field.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    [&[number << 3 | 2, len as u8 | 0x80, (len >> 7) as u8], content].concat()
}

/// The frame of an ONNX model that keeps its weights in these files.
fn onnx(locations: &[&str]) -> Vec<u8> {
    let mut graph = field(2, b"graph");
    for location in locations {
        let entry = |key: &str, value: &str| {
            field(13, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat())
        };
        let tensor = [field(8, b"w"), entry("location", location), entry("offset", "0")].concat();
        graph.extend(field(5, &tensor));
    }
    // `ir_version` is a number, the first field of most files.
    [vec![0x08, 9], field(7, &graph)].concat()
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("a folder – größer ").tempdir().unwrap();
    for (name, content) in files {
        let file = folder.path().join(name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, content).unwrap();
    }
    folder
}

fn found(folder: &tempfile::TempDir, variant: Option<&str>) -> (ModelKind, String, Vec<String>) {
    let found = inspect(folder.path(), variant).unwrap();
    let file = found.file.strip_prefix(folder.path()).unwrap().to_string_lossy().replace('\\', "/");
    (found.kind, file, found.variants)
}

fn refused(path: &Path, variant: Option<&str>) -> ebb_core::Failure {
    inspect(path, variant).unwrap_err().into()
}

#[test]
fn each_layout_is_recognised() {
    let model = &onnx(&[])[..];
    let whisper: &[u8] = br#"{"model_type": "whisper"}"#;
    let llama: &[u8] = br#"{"architectures": ["LlamaForCausalLM"]}"#;
    let genai: &[u8] = br#"{"model": {"type": "llama", "decoder": {"filename": "text.onnx"}}}"#;
    use ModelKind::{Audio, Chat, Embeddings, Tensors};
    for (files, kind, file) in [
        (vec![("model.onnx", model), ("modules.json", b"[]")], Embeddings, "model.onnx"),
        (vec![("onnx/model.onnx", model), ("tokenizer.json", b"{}")], Embeddings, "onnx/model.onnx"),
        (vec![("model.onnx", model), ("config.json", b"{}")], Embeddings, "model.onnx"),
        (
            vec![("model.onnx", model), ("config.json", b"{}"), ("preprocessor_config.json", b"{}")],
            Tensors,
            "model.onnx",
        ),
        (vec![("silero.onnx", model)], Tensors, "silero.onnx"),
        (vec![("model.onnx", model), ("config.json", llama), ("tokenizer.json", b"{}")], Chat, "model.onnx"),
        (
            vec![("genai_config.json", genai), ("text.onnx", model), ("tokenizer.json", b"{}")],
            Chat,
            "text.onnx",
        ),
        (
            vec![("onnx/decoder_model.onnx", model), ("onnx/decoder_model_merged.onnx", model)],
            Chat,
            "onnx/decoder_model_merged.onnx",
        ),
        (
            vec![("encoder_model.onnx", model), ("decoder_model.onnx", model), ("config.json", whisper)],
            Audio,
            "decoder_model.onnx",
        ),
        (
            vec![
                ("encoder_model.onnx", model),
                ("decoder_model.onnx", model),
                ("config.json", br#"{"model_type": "t5"}"#),
            ],
            Chat,
            "decoder_model.onnx",
        ),
    ] {
        let folder = folder(&files);
        let (is_kind, is_file, _) = found(&folder, None);
        assert_eq!((is_kind, is_file.as_str()), (kind, file), "{files:?}");
    }
}

#[test]
fn a_bare_file_takes_tensors() {
    let folder =
        folder(&[("x y ü.onnx", &onnx(&[])), ("m.ort", b"\x1c\0\0\0ORTM rest"), ("n.onnx.txt", b"")]);
    for name in ["x y ü.onnx", "m.ort"] {
        assert_eq!(inspect(&folder.path().join(name), None).unwrap().kind, ModelKind::Tensors);
    }
    assert!(
        refused(&folder.path().join("n.onnx.txt"), None).message.contains("neither an .onnx nor an .ort")
    );
}

#[test]
fn a_variant_is_chosen_by_a_part_of_its_name() {
    let names =
        ["model", "model_fp16", "model_q4", "model_q4f16", "model_quantized", "model_uint8", "model_int8"];
    let files: Vec<String> = names.iter().map(|name| format!("onnx/{name}.onnx")).collect();
    let content = onnx(&[]);
    let files: Vec<(&str, &[u8])> = files.iter().map(|file| (file.as_str(), &content[..])).collect();
    let folder = folder(&files);
    for (variant, want) in [
        (None, "model"),
        (Some(""), "model"),
        (Some("int8"), "model_int8"),
        (Some("INT8"), "model_int8"),
        (Some("q4"), "model_q4"),
        (Some("model_fp16"), "model_fp16"),
        (Some("quant"), "model_quantized"),
        (Some("model"), "model"),
    ] {
        let (_, file, variants) = found(&folder, variant);
        assert_eq!(file, format!("onnx/{want}.onnx"), "{variant:?}");
        assert_eq!(variants[0], "model");
        assert_eq!(variants.len(), names.len());
    }
    assert!(refused(folder.path(), Some("16")).message.contains("several"));
    let unknown = refused(folder.path(), Some("int4"));
    assert_eq!(unknown.param.as_deref(), Some("variant"));
    assert!(unknown.message.contains("model_uint8"), "{unknown}");
}

#[test]
fn without_a_default_one_of_several_must_be_chosen() {
    let folder = folder(&[("a.onnx", &onnx(&[])), ("b.onnx", &onnx(&[]))]);
    let failure = refused(folder.path(), None);
    assert!(failure.message.contains("a, b"), "{failure}");
    assert!(failure.hint.unwrap().contains("variant"));
    assert_eq!(found(&folder, Some("b")).1, "b.onnx");
}

#[test]
fn external_data_counts_and_must_be_there() {
    let model = onnx(&["model.onnx_data", "model.onnx_data", "more data.bin"]);
    let folder = folder(&[("model.onnx", &model), ("model.onnx_data", &[0; 1000])]);
    let failure = refused(folder.path(), None);
    assert_eq!(failure.code, ebb_core::Code::InvalidModel);
    assert!(failure.message.contains("'more data.bin'"), "{failure}");
    fs_err::write(folder.path().join("more data.bin"), [0; 10]).unwrap();
    assert_eq!(inspect(folder.path(), None).unwrap().weights_bytes, model.len() as u64 + 1010);
}

#[test]
fn what_is_no_model_is_refused() {
    let whole = onnx(&["x"]);
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    let files: [&[u8]; 6] =
        [b"", b"not a model", &whole[..whole.len() - 1], &[0xff; 64], pointer, b"\x08\x09"];
    for content in files {
        let folder = folder(&[("model.onnx", content), ("model_b.ort", content)]);
        for variant in [None, Some("b")] {
            let failure = refused(folder.path(), variant);
            assert_eq!(failure.code, ebb_core::Code::InvalidModel, "{content:?}");
            assert!(failure.hint.unwrap().contains("again"), "{content:?}");
        }
    }
}

#[test]
fn an_empty_folder_says_what_was_looked_for() {
    let empty = folder(&[("README.md", b"")]);
    let failure = refused(empty.path(), None);
    assert!(failure.message.contains("onnx/model.onnx"), "{failure}");
    let weights = folder(&[("model.safetensors", b""), ("config.json", b"{}")]);
    assert!(refused(weights.path(), None).hint.unwrap().contains("ebb model import"));
    let nowhere = refused(&empty.path().join("nowhere"), None);
    assert!(nowhere.message.contains("nowhere"), "{nowhere}");
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    let real = folder(&[("blob", &onnx(&[]))]);
    let linked = folder(&[("tokenizer.json", b"{}")]);
    std::os::unix::fs::symlink(real.path().join("blob"), linked.path().join("model.onnx")).unwrap();
    assert_eq!(found(&linked, None).0, ModelKind::Embeddings);
    fs_err::remove_file(real.path().join("blob")).unwrap();
    assert!(refused(linked.path(), None).message.contains("model.onnx"));
}

#[test]
fn a_speech_model_is_all_of_its_files() {
    let model = &onnx(&[])[..];
    let names = ["encoder_model", "encoder_model_int8", "decoder_model_merged", "decoder_model_merged_int8"];
    let files: Vec<String> = names.iter().chain(&["silero_vad"]).map(|name| format!("{name}.onnx")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|name| (name.as_str(), model)).collect();
    let folder = folder(&files);
    let variants = || vec!["decoder_model_merged".to_owned(), "decoder_model_merged_int8".to_owned()];
    for variant in [Some("int8"), Some("decoder_model_merged_int8")] {
        let file = "decoder_model_merged_int8.onnx".to_owned();
        assert_eq!(found(&folder, variant), (ModelKind::Audio, file, variants()));
    }
    assert_eq!(found(&folder, None), (ModelKind::Audio, "decoder_model_merged.onnx".to_owned(), variants()));
    let weights_bytes = inspect(folder.path(), None).unwrap().weights_bytes;
    assert_eq!(weights_bytes, 3 * model.len() as u64, "encoder, decoder and voice detector");
    let failure = refused(folder.path(), Some("q4"));
    assert_eq!(failure.param.as_deref(), Some("variant"));
    assert!(failure.message.contains("decoder_model_merged_int8"), "{failure}");
}
