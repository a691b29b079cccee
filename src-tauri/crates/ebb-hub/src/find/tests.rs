use std::fs;

use tempfile::TempDir;

use super::*;

/// A folder of files: a path and its content each.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn names(found: &Found) -> Vec<(&str, Format, u64)> {
    found.models.iter().map(|model| (model.name.as_str(), model.kind, model.bytes)).collect()
}

fn digest(digit: &str) -> String {
    digit.repeat(64)
}

#[test]
fn the_cache_of_the_hub_holds_models_of_every_kind() {
    let cache = folder(&[
        ("models--org--Embedder/refs/main", b"c2\n"),
        ("models--org--Embedder/snapshots/c1/onnx/model.onnx", b"old"),
        ("models--org--Embedder/snapshots/c2/onnx/model.onnx", b"model"),
        ("models--org--Embedder/snapshots/c2/onnx/model.onnx_data", b"weights"),
        ("models--org--Embedder/snapshots/c2/model.safetensors", b"other"),
        ("models--org--Embedder/snapshots/c2/config.json", b"{}"),
        ("models--org--Chat/snapshots/c1/cpu/int4/genai_config.json", b"{}"),
        ("models--org--Chat/snapshots/c1/cpu/int4/model.onnx", b"12345678"),
        ("models--org--Llama-GGUF/snapshots/c1/llama-q4_0.gguf", b"GGUF...."),
        ("models--org--Llama-GGUF/snapshots/c1/mmproj-llama.gguf", b"GGUF"),
        ("models--org--Llama-GGUF/snapshots/c1/page.gguf", b"<html>"),
        ("models--org--bert/snapshots/c1/model.safetensors", b"bert"),
        ("models--org--bert/snapshots/c1/config.json", br#"{"model_type": "bert"}"#),
        ("models--org--qwen/snapshots/c1/model.safetensors", b"qwen"),
        ("models--org--qwen/snapshots/c1/config.json", br#"{"model_type": "qwen3"}"#),
        ("models--org--only-a-tokenizer/snapshots/c1/tokenizer.json", b"{}"),
        ("datasets--org--texts/snapshots/c1/model.onnx", b"no model"),
        ("version.txt", b"1"),
    ]);
    let found = find(&Caches { hub: vec![cache.path().to_owned()], ..Caches::default() });
    assert_eq!(
        names(&found),
        [
            ("org/Chat:cpu/int4", Format::Genai, 10),
            ("org/Embedder", Format::Onnx, 12),
            ("org/Llama-GGUF:llama-q4_0", Format::Gguf, 8),
            ("org/bert", Format::Safetensors, 4),
            ("org/qwen", Format::Safetensors, 4),
        ]
    );
    assert!(found.models[1].path.ends_with("snapshots/c2"));
    assert!(found.models[3].unusable.is_none());
    assert!(found.models[4].unusable.as_deref().unwrap().contains("qwen3"));
    assert_eq!(found.skipped.len(), 1);
    assert!(found.skipped[0].path.ends_with("page.gguf"));
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_those_that_lead_nowhere_are_no_model() {
    use std::os::unix::fs::symlink;

    let cache = folder(&[
        ("models--org--M/blobs/aa", b"model"),
        ("models--org--M/snapshots/c1/config.json", b"{}"),
        ("models--org--Half/snapshots/c1/config.json", b"{}"),
    ]);
    let snapshot = |repo: &str| cache.path().join(format!("models--org--{repo}/snapshots/c1"));
    symlink("../../blobs/aa", snapshot("M").join("model.onnx")).unwrap();
    symlink("../../blobs/missing", snapshot("Half").join("model.onnx")).unwrap();
    // A folder in itself is walked once.
    symlink(".", snapshot("M").join("again")).unwrap();
    let found = find(&Caches { hub: vec![cache.path().to_owned()], ..Caches::default() });
    assert_eq!(names(&found), [("org/M", Format::Onnx, 5)]);
}

#[test]
fn foundrys_models_have_the_names_that_it_gives() {
    let cache = folder(&[
        ("Microsoft/Phi-generic-cpu/v1/genai_config.json", b"{}"),
        ("Microsoft/Phi-generic-cpu/v1/model.onnx", b"x"),
        ("Microsoft/Phi-generic-cpu/v1/inference_model.json", br#"{"Name": "phi-generic-cpu:1"}"#),
        ("Microsoft/Qwen-generic-cpu/v3/genai_config.json", b"{}"),
        ("Microsoft/Qwen-generic-cpu/v3/model.onnx", b"x"),
        ("Microsoft/Broken/genai_config.json", b"{}"),
        ("Microsoft/Broken/model.onnx", b"x"),
        ("Microsoft/Broken/inference_model.json", b"[1, "),
        ("foundry.modelinfo.json", b"{}"),
    ]);
    let found = find(&Caches { foundry: vec![cache.path().to_owned()], ..Caches::default() });
    let names: Vec<_> = found.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["Broken", "Qwen-generic-cpu", "phi-generic-cpu:1"]);
    assert_eq!(found.skipped.len(), 1, "{:?}", found.skipped);
}

#[test]
fn ollamas_manifests_lead_to_blobs_and_hostile_ones_nowhere() {
    let manifest = |digest: &str| {
        format!(
            r#"{{"layers": [{{"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:{0}"}},
            {{"mediaType": "application/vnd.ollama.image.model", "digest": "{digest}", "size": -1}}]}}"#,
            digest_of("c")
        )
    };
    fn digest_of(digit: &str) -> String {
        digest(digit)
    }
    let good = manifest(&format!("sha256:{}", digest("a")));
    let gone = manifest(&format!("sha256:{}", digest("b")));
    let path = manifest("sha256:../../../../etc/passwd");
    let deep = "[".repeat(100_000);
    let blob = format!("blobs/sha256-{}", digest("a"));
    let store = folder(&[
        ("manifests/registry.example/library/llama3.2/latest", good.as_bytes()),
        ("manifests/registry.example/me/mine/q4", good.as_bytes()),
        ("manifests/hub.example/org/name/Q4_0", good.as_bytes()),
        ("manifests/registry.example/library/gone/latest", gone.as_bytes()),
        ("manifests/registry.example/library/path/latest", path.as_bytes()),
        ("manifests/registry.example/library/deep/latest", deep.as_bytes()),
        ("manifests/registry.example/library/odd/latest", br#"{"layers": {"a": 1}}"#),
        ("manifests/registry.example/library/number/latest", b"7"),
        (&blob, b"GGUF and weights"),
    ]);
    let found = find(&Caches { ollama: vec![store.path().to_owned()], ..Caches::default() });
    assert_eq!(
        names(&found),
        [
            ("hub.example/org/name:Q4_0", Format::Gguf, 16),
            ("llama3.2:latest", Format::Gguf, 16),
            ("me/mine:q4", Format::Gguf, 16),
        ]
    );
    assert!(found.models.iter().all(|model| model.path == store.path().join(&blob)));
    assert!(found.skipped.len() >= 4, "{:?}", found.skipped);
}

#[test]
fn lm_studios_models_are_told_by_publisher() {
    let cache = folder(&[
        ("publisher/Model-GGUF/Model-Q8_0.gguf", b"GGUF"),
        ("publisher/Model-GGUF/notes.txt", b"x"),
        ("a-file", b"x"),
    ]);
    let missing = cache.path().join("missing");
    let found = find(&Caches { lm_studio: vec![cache.path().to_owned(), missing], ..Caches::default() });
    assert_eq!(names(&found), [("publisher/Model-GGUF:Model-Q8_0", Format::Gguf, 4)]);
    assert_eq!(found.skipped, []);
}

#[test]
fn a_cache_that_is_no_folder_is_none() {
    let cache = folder(&[("file", b"x")]);
    let file = vec![cache.path().join("file")];
    let caches = Caches { hub: file.clone(), foundry: file.clone(), ollama: file.clone(), lm_studio: file };
    assert_eq!(find(&caches), Found::default());
}
