//! Options as users type them, on the real library: what they do, and what is said of them.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{collections::BTreeMap, path::PathBuf, sync::OnceLock};

use bytes::Bytes;
use ebb_core::{
    Code, DType, Failure, Job, JobKind, LoadOptions, LoadSpec, Session, Step, Target, TensorSpec,
    options::{OptionLine, SHRINK_KEY},
};
use ebb_ort::OrtSession;

const MIB: u64 = 1 << 20;

/// 4 MiB of weights, 2 KiB a row and layer.
fn model() -> PathBuf {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, file) = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = ebb_tests::models::mlp(folder.path(), 512, 4);
        (folder, file)
    });
    file.clone()
}

/// Options written `scope key=value`, as on the command line.
fn options(typed: &[&str]) -> LoadOptions {
    let mut options =
        LoadOptions { provider: Some("cpu".to_owned()), threads: Some(1), ..LoadOptions::default() };
    for text in typed {
        let (scope, pair) = text.split_once(' ').unwrap();
        let (key, value) = pair.split_once('=').unwrap();
        let into = match scope {
            "session" => &mut options.session_options,
            "arena" => &mut options.arena_options,
            "run" => &mut options.runtime_options,
            provider => options.provider_options.entry(provider.to_owned()).or_default(),
        };
        into.insert(key.to_owned(), value.to_owned());
    }
    options
}

fn open(options: LoadOptions) -> Result<OrtSession, Failure> {
    let spec = LoadSpec {
        alias: "m".to_owned(),
        path: model(),
        options,
        runtime_library: Some(ebb_tests::home::runtime_library()),
        runtime_folders: Vec::new(),
    };
    ebb_ort::open(&spec, &mut |_| {}).map_err(Failure::from)
}

fn opened(typed: &[&str]) -> OrtSession {
    open(options(typed)).unwrap()
}

/// The line of an option, found by its key as typed.
fn line<'s>(session: &'s OrtSession, key: &str) -> &'s OptionLine {
    session.info().options.iter().find(|line| line.key == key).unwrap()
}

/// Loads with one option and checks what is said to hold.
fn check(typed: &str, effective: &str, note: &str) {
    let session = opened(&[typed]);
    let key = typed.split_once(' ').unwrap().1.split_once('=').unwrap().0;
    let line = line(&session, key);
    assert_eq!(line.effective.as_deref().unwrap_or("-"), effective, "{typed}: {line:?}");
    assert!(line.note.as_deref().unwrap_or_default().contains(note), "{typed}: {line:?}");
}

fn run(session: &mut OrtSession, rows: u64, run_options: &[(&str, &str)]) -> Result<(), Failure> {
    let input = TensorSpec { name: "X".to_owned(), dtype: DType::Float32, shape: vec![rows, 512] };
    let data = Bytes::from(vec![0_u8; input.len_bytes().unwrap()]);
    let job = Job::new(JobKind::Tensors { inputs: vec![input], outputs: Vec::new() });
    let run_options: BTreeMap<String, String> =
        run_options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut run = session.begin(job, data, &run_options)?;
    while let Step::More(_) = session.step(&mut run, &mut Vec::new())? {}
    Ok(())
}

/// C04, C05
#[test]
fn the_arena_is_off_however_it_is_typed() {
    for typed in [
        "session enable_cpu_mem_arena=0",
        "session session.enable_cpu_mem_arena=false",
        "arena enable_cpu_mem_arena=0",
        "cpu use_arena=0",
    ] {
        check(typed, "0", "");
        let mut session = opened(&[typed]);
        assert!(session.info().arenas.is_empty());
        assert!(session.control().memory().unwrap().arenas.is_empty(), "{typed}");
        run(&mut session, 100, &[(SHRINK_KEY, "cpu:0")]).unwrap();
        let report = session.control().shrink(Some(&[Target::cpu(0)])).unwrap();
        assert!(report.dropped[0].reason.contains("no arena here"), "{report:?}");
    }
    check("session enable_cpu_mem_arena=1", "1", "");
    let failure = open(options(&["session enable_cpu_mem_arena=banana"])).unwrap_err();
    assert_eq!(failure.code, Code::InvalidValue);
}

/// C06
#[test]
fn the_strategy_shows_as_effective() {
    for (typed, effective) in [
        ("session arena_extend_strategy=kSameAsRequested", "kSameAsRequested"),
        ("session arena_extend_strategy=0", "kNextPowerOfTwo"),
        ("arena arena_extend_strategy=1", "kSameAsRequested"),
        ("arena arena_extend_strategy=kNextPowerOfTwo", "kNextPowerOfTwo"),
    ] {
        check(typed, effective, "");
    }
    assert_eq!(line(&opened(&[]), "arena_extend_strategy").effective.as_deref(), Some("kSameAsRequested"));
}

/// C07 and both senses of a cap.
#[test]
fn caps_hold_in_both_senses_or_are_refused() {
    check("arena max_mem=64MiB", &(64 * MIB).to_string(), "");
    let session = opened(&["arena working_mem=8MiB"]);
    let arena = session.control().memory().unwrap().arenas.remove(0);
    assert_eq!(arena.limit_bytes, Some(arena.reserved_bytes + 8 * MIB));
    let said = line(&session, "working_mem").effective.clone();
    assert_eq!(said, arena.limit_bytes.map(|limit_bytes| limit_bytes.to_string()));
    let failure = open(options(&["arena max_mem=2MiB"])).unwrap_err();
    assert_eq!(failure.code, Code::CapBelowWeights);
    assert!(failure.details["needed_bytes"] > 4 * MIB);
}

/// C10
#[test]
fn what_is_misspelt_is_forwarded_and_said() {
    check("session enable_cpu_mem_aren=0", "no known effect", "session.enable_cpu_mem_arena");
    check("arena max_memory=1", "no effect", "ONNX Runtime refused this key");
    let mut session = opened(&[]);
    run(&mut session, 1, &[("memory.enable_memory_arena_shrinkge", "cpu:0")]).unwrap();
}

#[test]
fn entries_of_the_session_are_read_back() {
    check("session disable_prepacking=true", "1", "");
    check("session session.intra_op.allow_spinning=1", "1", "");
    let session = opened(&[]);
    assert_eq!(line(&session, "session.intra_op.allow_spinning").effective.as_deref(), Some("0"));
    assert_eq!(line(&session, "session.use_env_allocators").effective.as_deref(), Some("1"));
}

/// Calls that ONNX Runtime offers no way to read back still go through, and a value that it refuses is told.
#[test]
fn options_with_a_call_of_their_own_are_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let optimized = folder.path().join("optimized.onnx");
    let path = format!("session optimized_model_filepath={}", optimized.display());
    drop(opened(&[
        "session intra_op_num_threads=1",
        "session inter_op_num_threads=1",
        "session execution_mode=ORT_PARALLEL",
        "session graph_optimization_level=1",
        "session enable_mem_pattern=0",
        "session log_severity_level=3",
        "session use_deterministic_compute=1",
        &path,
    ]));
    assert!(optimized.is_file(), "the optimised model was written");
    let failure = open(options(&["session graph_optimization_level=7"])).unwrap_err();
    assert_eq!(failure.code, Code::InvalidValue);
}

/// C18
#[test]
fn options_of_a_provider_that_is_not_used_are_said_to_do_nothing() {
    check("cuda gpu_mem_limit=2147483648", "no effect", "runs on cpu");
    check("session cuda.gpu_mem_limit=2147483648", "no effect", "runs on cpu");
}

#[test]
fn a_provider_that_is_not_there_is_an_error_never_the_cpu() {
    for (name, hint) in [
        ("cuda", "onnxruntime-gpu"),
        ("CUDAExecutionProvider", "cuDNN 9"),
        ("webgpu", "onnxruntime-ep-webgpu"),
        ("nonsense", "ebb doctor"),
    ] {
        let failure =
            open(LoadOptions { provider: Some(name.to_owned()), ..LoadOptions::default() }).unwrap_err();
        assert_eq!(failure.code, Code::ProviderUnavailable, "{failure}");
        assert!(failure.hint.as_deref().unwrap().contains(hint), "{failure:?}");
    }
    let session = open(LoadOptions { provider: Some("auto".to_owned()), ..LoadOptions::default() }).unwrap();
    assert_eq!(session.info().provider, "cpu", "auto takes what is there");
}

#[test]
fn a_probe_says_what_is_there() {
    let library = ebb_tests::home::runtime_library();
    let probe = ebb_ort::probe(Some(&library), &[]).unwrap();
    assert!(probe.providers.contains(&"cpu".to_owned()), "{probe:?}");
    assert!(probe.version.starts_with("1."), "{probe:?}");
    let other = PathBuf::from("/nowhere/libonnxruntime.so");
    let failure = Failure::from(ebb_ort::probe(Some(&other), &[]).unwrap_err());
    assert_eq!(failure.code, Code::RuntimeLibrary, "one library for each process");
}
