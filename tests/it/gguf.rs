//! Imported GGUF files compute what their numbers say: tiny random decoders, in ONNX Runtime and by hand.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

mod by_hand;

use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use ebb_core::{
    ChunkBody, Code, DType, Failure, Job, JobKind, LoadOptions, LoadSpec, ModelKind, Session, Step,
    TensorSpec,
};
use ebb_import::{Imported, Options};
use ebb_ort::OrtSession;
use ebb_tests::{
    home::{Home, runtime_library},
    models::{GGUF_EOS, GGUF_HEAD_SIZE, GgufModel, GgufTensor, GgufType, Noise},
    reference::cosine,
};
use serde_json::Value;
use tempfile::TempDir;

const TOKENS: [i64; 7] = [1, 104, 100, 258, 3, 35, 104];

/// Rows of 256 numbers everywhere, which types with super-blocks need.
const WIDE: GgufModel = GgufModel {
    architecture: "llama",
    hidden_size: 256,
    wide_size: 256,
    layers: 2,
    heads: 16,
    kv_heads: 4,
    matrices: GgufType::Q4_K,
    finer_matrices: GgufType::Q6_K,
    embeddings: GgufType::Q6_K,
    tied: true,
    biases: false,
    rope_factors: false,
    context_length: 128,
};

/// A source and the folder made of it.
struct Scene {
    folder: TempDir,
    model: GgufModel,
    source: PathBuf,
    tensors: BTreeMap<String, GgufTensor>,
}

impl Scene {
    fn new(model: GgufModel) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (source, tensors) = model.write(folder.path());
        Self { folder, model, source, tensors }
    }

    fn destination(&self) -> PathBuf {
        self.folder.path().join("imported/chat model")
    }

    fn import(&self) -> Result<Imported, Failure> {
        let mut unheard = |_| ControlFlow::Continue(());
        Ok(ebb_import::import(&self.source, &self.destination(), Options::default(), &mut unheard)?)
    }

    fn refused(&self) -> Failure {
        let failure = self.import().expect_err("it should have been refused");
        assert_eq!(
            fs::read_dir(self.folder.path().join("imported")).map_or(0, Iterator::count),
            0,
            "{failure}"
        );
        failure
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_slice(&fs::read(self.destination().join(file)).unwrap()).unwrap()
    }

    /// The model file as a bare one.
    fn decoder(&self) -> Decoder {
        self.import().expect("it can be imported");
        let spec = LoadSpec {
            alias: "tiny".to_owned(),
            path: self.destination().join("model.onnx"),
            options: LoadOptions { threads: Some(1), ..LoadOptions::default() },
            runtime_library: Some(runtime_library()),
            runtime_folders: Vec::new(),
        };
        let session = ebb_ort::open(&spec, &mut |_| ()).expect("the model loads");
        Decoder { session, model: self.model, past: 0, cache: Vec::new() }
    }
}

/// A model that is fed some tokens after others.
struct Decoder {
    session: OrtSession,
    model: GgufModel,
    past: usize,
    /// Keys and values by layer, as the last run gave them.
    cache: Vec<Bytes>,
}

impl Decoder {
    /// Scores for what comes next.
    fn feed(&mut self, tokens: &[i64]) -> Vec<f32> {
        let GgufModel { layers, kv_heads, .. } = self.model;
        let all = self.past + tokens.len();
        let spec = |name: String, dtype, shape: &[usize]| TensorSpec {
            name,
            dtype,
            shape: shape.iter().map(|&size| size as u64).collect(),
        };
        let mut inputs = vec![
            spec("input_ids".to_owned(), DType::Int64, &[1, tokens.len()]),
            spec("attention_mask".to_owned(), DType::Int64, &[1, all]),
        ];
        let mut data: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        data.extend((0..all).flat_map(|_| 1i64.to_le_bytes()));
        let mut outputs = vec!["logits".to_owned()];
        for (layer, kind) in (0..layers).flat_map(|layer| [(layer, "key"), (layer, "value")]) {
            let shape = [1, kv_heads, self.past, GGUF_HEAD_SIZE];
            inputs.push(spec(format!("past_key_values.{layer}.{kind}"), DType::Float32, &shape));
            outputs.push(format!("present.{layer}.{kind}"));
        }
        self.cache.iter().for_each(|bytes| data.extend_from_slice(bytes));

        let job = Job::new(JobKind::Tensors { inputs, outputs });
        let mut run = self.session.begin(job, Bytes::from(data), &BTreeMap::new()).expect("the job fits");
        let mut chunks = Vec::new();
        let step = self.session.step(&mut run, &mut chunks).expect("the model runs");
        assert!(matches!(step, Step::Done(_)));
        assert!(chunks.iter().all(|chunk| matches!(chunk.body, ChunkBody::Tensor(_))));
        let mut chunks = chunks.into_iter().map(|chunk| chunk.data);
        let logits = chunks.next().expect("logits come first");
        self.cache = chunks.collect();
        self.past = all;
        logits.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }
}

/// Imports, runs and compares with what the numbers say. Gives the likeness.
fn check(model: GgufModel, least: f64) {
    let scene = Scene::new(model);
    let scores = scene.decoder().feed(&TOKENS);
    let expected = by_hand::scores(&model, &scene.tensors, &TOKENS);
    let likeness = cosine(&scores, &expected);
    assert!(likeness > least, "{model:?}: {likeness}");
}

#[test]
fn floats_compute_the_same() {
    for of in [GgufType::F32, GgufType::F16, GgufType::BF16] {
        let all = GgufModel { matrices: of, finer_matrices: of, embeddings: of, ..GgufModel::default() };
        check(all, 0.999_999);
        check(GgufModel { tied: false, ..all }, 0.999_999);
    }
}

/// What is left is the operator's: it rounds what it multiplies with to 8 bits.
#[test]
fn every_type_of_small_blocks_computes_the_same() {
    for of in [GgufType::Q4_0, GgufType::Q4_1, GgufType::Q5_0, GgufType::Q5_1, GgufType::Q8_0] {
        let all = GgufModel { matrices: of, finer_matrices: of, embeddings: of, ..GgufModel::default() };
        check(all, 0.9995);
        check(GgufModel { tied: false, ..all }, 0.9995);
    }
}

#[test]
fn every_type_of_super_blocks_computes_the_same() {
    for of in [GgufType::Q4_K, GgufType::Q5_K, GgufType::Q6_K] {
        let all = GgufModel { matrices: of, finer_matrices: of, embeddings: of, ..WIDE };
        check(all, 0.9995);
        check(GgufModel { tied: false, ..all }, 0.9995);
    }
}

#[test]
fn files_that_mix_types_compute_the_same() {
    check(WIDE, 0.9995);
    check(GgufModel { finer_matrices: GgufType::Q5_K, embeddings: GgufType::F16, ..WIDE }, 0.9995);
    check(GgufModel { matrices: GgufType::Q4_0, finer_matrices: GgufType::Q4_1, ..WIDE }, 0.9995);
    check(GgufModel { matrices: GgufType::Q8_0, finer_matrices: GgufType::F32, tied: false, ..WIDE }, 0.9995);
}

#[test]
fn families_and_stretched_positions() {
    let plain = GgufModel { matrices: GgufType::F32, finer_matrices: GgufType::F32, ..GgufModel::default() };
    check(GgufModel { architecture: "qwen2", biases: true, ..plain }, 0.9999);
    check(GgufModel { architecture: "qwen2", biases: true, ..GgufModel::default() }, 0.9995);
    check(GgufModel { biases: true, tied: false, ..plain }, 0.9999);
    check(GgufModel { rope_factors: true, ..plain }, 0.9999);
    check(GgufModel { heads: 6, kv_heads: 3, ..plain }, 0.9999);
}

#[test]
fn the_cache_holds_what_was_read_before() {
    let scene = Scene::new(GgufModel::default());
    let mut decoder = scene.decoder();
    let whole = decoder.feed(&TOKENS);
    (decoder.past, decoder.cache) = (0, Vec::new());
    decoder.feed(&TOKENS[..4]);
    decoder.feed(&TOKENS[4..6]);
    let last = decoder.feed(&TOKENS[6..]);
    assert!(cosine(&whole, &last) > 0.9999);
    assert_eq!(decoder.cache[0].len(), 2 * TOKENS.len() * GGUF_HEAD_SIZE * 4);
}

#[test]
fn the_folder_is_what_onnxruntime_genai_loads() {
    let scene = Scene::new(GgufModel::default());
    let imported = scene.import().unwrap();
    assert_eq!((imported.kind, imported.architecture.as_str()), (ModelKind::Chat, "LlamaForCausalLM"));
    assert_eq!((imported.hidden_size, imported.layers), (64, 2));
    let parameters: usize = scene.tensors.values().map(|(_, values)| values.len()).sum();
    assert_eq!(imported.parameters, parameters as u64);
    assert!(imported.notes.is_empty());
    let mut names: Vec<String> = fs::read_dir(scene.destination())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "config.json",
        "genai_config.json",
        "generation_config.json",
        "model.onnx",
        "tokenizer.json",
        "tokenizer_config.json",
    ];
    assert_eq!(names, expected);

    let genai = scene.json("genai_config.json");
    let model = &genai["model"];
    assert_eq!(model["type"], "llama");
    assert_eq!((&model["eos_token_id"], &model["bos_token_id"]), (&GGUF_EOS.into(), &1.into()));
    assert_eq!((&model["context_length"], &model["vocab_size"]), (&128.into(), &259.into()));
    let decoder = &model["decoder"];
    assert_eq!(decoder["inputs"]["past_key_names"], "past_key_values.%d.key");
    assert_eq!((&decoder["num_hidden_layers"], &decoder["head_size"]), (&2.into(), &GGUF_HEAD_SIZE.into()));
    assert_eq!((&decoder["num_attention_heads"], &decoder["num_key_value_heads"]), (&4.into(), &2.into()));
    assert_eq!(genai["search"]["past_present_share_buffer"], true);
    let tokenizer = scene.json("tokenizer_config.json");
    assert!(tokenizer["chat_template"].as_str().unwrap().contains("message.content"));
    assert_eq!(scene.json("config.json")["license"], "cc0-1.0");
}

#[test]
fn a_context_that_no_machine_here_would_hold_is_cut_and_said() {
    let scene = Scene::new(GgufModel { context_length: 131_072, ..GgufModel::default() });
    let imported = scene.import().unwrap();
    assert_eq!(scene.json("genai_config.json")["model"]["context_length"], 32_768);
    assert!(imported.notes[0].contains("32768 tokens, of 131072"), "{:?}", imported.notes);
    let imported = Scene::new(WIDE).import().unwrap();
    assert!(imported.notes[0].contains("5 tensors were quantised anew"), "{:?}", imported.notes);
}

#[test]
fn what_is_not_imported_is_named() {
    let refused = |model: GgufModel| Scene::new(model).refused();
    let failure = refused(GgufModel { architecture: "mamba", ..GgufModel::default() });
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("mamba is not supported; supported: llama"), "{failure}");
    let failure = refused(GgufModel { finer_matrices: GgufType::Q2_K, ..WIDE });
    assert_eq!(failure.code, Code::Unsupported);
    let told = "blk.0.attn_v.weight is of type Q2_K; supported: F32";
    assert!(failure.message.contains(told), "{failure}");
    let failure = refused(GgufModel { heads: 6, kv_heads: 4, ..GgufModel::default() });
    assert!(failure.message.contains("6 heads cannot share 4 heads"), "{failure}");

    let scene = Scene::new(GgufModel::default());
    let whole = fs::read(&scene.source).unwrap();
    // In the keys, among the tensors' names, in the last tensor.
    for length in [0, 3, 100, 9000, whole.len() / 2, whole.len() - 1] {
        fs::write(&scene.source, &whole[..length]).unwrap();
        let failure = scene.refused();
        assert_eq!(failure.code, Code::InvalidModel, "{length}: {failure}");
        assert!(failure.message.contains("is not a whole GGUF file"), "{failure}");
    }
}

/// Whatever is changed, it is refused or imported, and never half of it.
#[test]
fn no_damage_makes_it_panic_or_leave_something() {
    let scene = Scene::new(GgufModel { layers: 1, ..GgufModel::default() });
    let whole = fs::read(&scene.source).unwrap();
    let mut noise = Noise::new(7);
    let mut next = |below: usize| noise.next_u64() as usize % below;
    let mut refused = 0;
    for _ in 0..60 {
        let mut damaged = whole.clone();
        for _ in 0..=next(3) {
            let at = next(9000);
            let bytes = (next(usize::MAX) as u64 >> next(64)).to_le_bytes();
            damaged[at..at + 8].copy_from_slice(&bytes);
        }
        fs::write(&scene.source, damaged).unwrap();
        if scene.import().is_ok() {
            fs::remove_dir_all(scene.destination()).unwrap();
        } else {
            refused += 1;
        }
        let left = fs::read_dir(scene.folder.path().join("imported")).map_or(0, Iterator::count);
        assert_eq!(left, 0);
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn a_tensor_that_nothing_would_use_is_refused() {
    // What a Llama calls its norm is not what this one does.
    let scene = Scene::new(GgufModel::default());
    let bytes = fs::read(&scene.source).unwrap();
    let at = bytes.windows(14).position(|name| name == b"blk.1.ffn_gate").unwrap();
    let mut renamed = bytes;
    renamed[at + 10..at + 14].copy_from_slice(b"Gate");
    fs::write(&scene.source, renamed).unwrap();
    assert!(scene.refused().message.contains("has no tensor blk.1.ffn_gate.weight"));

    let extra = Scene::new(GgufModel { rope_factors: true, ..GgufModel::default() });
    let mut bytes = fs::read(&extra.source).unwrap();
    let at = bytes.windows(10).position(|name| name == b"rope_freqs").unwrap();
    bytes[at..at + 10].copy_from_slice(b"rope_shift");
    fs::write(&extra.source, bytes).unwrap();
    assert!(extra.refused().message.contains("its tensor rope_shift.weight has no place"));
}

#[test]
fn an_import_that_nobody_wants_any_more_leaves_nothing() {
    let scene = Scene::new(GgufModel::default());
    let mut calls = 0;
    let mut give_up = |_| {
        calls += 1;
        if calls == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = ebb_import::import(&scene.source, &scene.destination(), Options::default(), &mut give_up);
    assert!(matches!(result, Err(ebb_import::Error::Cancelled)));
    assert_eq!(fs::read_dir(scene.folder.path().join("imported")).unwrap().count(), 0);
}

/// A source with a name of its own.
#[test]
fn a_file_is_known_by_what_is_in_it() {
    let scene = Scene::new(GgufModel::default());
    let renamed = scene.folder.path().join("sha256-0123");
    fs::rename(&scene.source, &renamed).unwrap();
    let scene = Scene { source: renamed, ..scene };
    assert_eq!(scene.import().unwrap().kind, ModelKind::Chat);
    let other = Scene { source: Path::new("/nowhere.gguf").to_owned(), ..Scene::new(GgufModel::default()) };
    assert!(other.refused().message.contains("/nowhere.gguf"));
}

#[test]
fn the_command_line_imports_and_says_what_it_made() {
    let (home, scene) = (Home::new(), Scene::new(GgufModel::default()));
    let arguments = |dest: &Path| {
        ["model".as_ref(), "import".as_ref(), scene.source.as_os_str(), dest.as_os_str()]
            .map(ToOwned::to_owned)
    };
    let made = home.json(arguments(&scene.destination()));
    assert_eq!((&made["kind"], &made["layers"]), (&"chat".into(), &2.into()));
    assert!(scene.destination().join("genai_config.json").is_file());
    let text = home.ok(arguments(&home.path().join("other")));
    assert!(text.contains("LlamaForCausalLM, 2 layers") && text.contains("ebb model add"), "{text}");
    fs::write(&scene.source, "GGUF").unwrap();
    let (code, told) = home.fails(arguments(&home.path().join("third")));
    assert!(code == 1 && told.contains("is not a whole GGUF file"), "{told}");
}
