//! Options against the real ONNX Runtime: the catalogue's keys are in the library and the library's in the catalogue; what
//! was typed shows on a loaded session.

use std::{collections::BTreeMap, fs, sync::LazyLock};

use ebb_core::{
    Code, Failure, LoadOptions, LoadSpec, Session as _, built_in_profiles,
    options::{CatalogueEntry, OptionLine, Scope, catalogue, find},
};
use ebb_tests::{home::runtime_library, models};

/// Minor version of the library that the tests run on.
const LIBRARY_MINOR: u32 = 31;

/// Starts of keys that the plain CPU build does not read, with who does.
const READ_ELSEWHERE: &[(&str, &str)] = &[
    ("ep.<prefix>.", "a plug-in provider's library"),
    ("ep.context_node_name_prefix", "providers that compile"),
    ("ep.context_source_model_path", "providers that compile"),
    ("ep.cuda.", "the CUDA provider's library"),
    ("ep.dynamic.", "the QNN and OpenVINO providers"),
    ("ep.enable_weightless_ep_context_nodes", "providers that compile"),
    ("ep.nnapi.", "the NNAPI provider, on Android"),
    ("ep.share_ep_contexts", "providers that compile"),
    ("ep.stop_share_ep_contexts", "providers that compile"),
    ("mlas.enable_gemm_fastmath_arm64_bfloat16", "Arm builds"),
    ("nv_", "the provider for TensorRT for RTX"),
    ("qnn.", "the QNN provider"),
];

/// The printable texts of the library, one a line.
static TEXTS: LazyLock<String> = LazyLock::new(|| {
    let path = runtime_library();
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let runs = bytes.split(|byte| !(b' '..=b'~').contains(byte)).filter(|run| run.len() >= 4);
    runs.map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n")
});

/// Whether the library holds a key: whole, or taken apart into machine words by the compiler.
fn library_holds(key: &str) -> bool {
    let words = || key.as_bytes().chunks_exact(8).map(|word| std::str::from_utf8(word).unwrap_or_default());
    TEXTS.contains(key) || words().all(|word| TEXTS.contains(word))
}

fn is_in_this_library(entry: &CatalogueEntry) -> bool {
    let minor = |since: &str| since.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    entry.since.as_deref().and_then(minor).is_some_and(|minor| minor <= LIBRARY_MINOR)
        && !READ_ELSEWHERE.iter().any(|(start, _)| entry.key.starts_with(start))
}

#[test]
fn the_keys_of_the_catalogue_are_in_the_library() {
    let of_the_core = |entry: &&CatalogueEntry| {
        matches!(entry.scope, Scope::Session | Scope::Arena | Scope::Run | Scope::Environment)
    };
    let expected: Vec<_> =
        catalogue().iter().filter(of_the_core).filter(|entry| is_in_this_library(entry)).collect();
    assert!(expected.len() > 100, "only {} keys are looked for", expected.len());
    let missing: Vec<_> =
        expected.iter().filter(|entry| !library_holds(&entry.key)).map(|entry| &entry.key).collect();
    assert!(missing.is_empty(), "not in the library: {missing:?}");
    assert!(!library_holds("session.enable_cpu_mem_aren_misspelt"), "anything would be found");
}

#[test]
fn the_librarys_keys_are_in_the_catalogue() {
    const AREAS: &[&str] = &["session.", "optimization.", "mlas.", "memory.", "ep."];
    let is_key = |text: &&str| {
        AREAS.iter().any(|area| text.strip_prefix(area).is_some_and(|name| name.len() >= 4))
            && text
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._".contains(letter))
            && !text.ends_with('.')
    };
    let found: Vec<&str> = TEXTS.lines().filter(is_key).collect();
    assert!(found.len() > 80, "only {} keys were found", found.len());
    let known = |key: &str| find(&Scope::Session, key).or_else(|| find(&Scope::Run, key)).is_some();
    let missing: Vec<_> = found.into_iter().filter(|key| !known(key)).collect();
    assert!(missing.is_empty(), "not in the catalogue: {missing:?}");
}

fn lines(options: &LoadOptions) -> Result<Vec<OptionLine>, Failure> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let spec = LoadSpec {
        alias: "m".to_owned(),
        path: models::mlp(folder.path(), 64, 2),
        options: options.clone(),
        runtime_library: Some(runtime_library()),
        runtime_folders: Vec::new(),
    };
    let session = ebb_ort::open(&spec, &mut |_| ())?;
    Ok(session.info().options.clone())
}

fn effective(options: LoadOptions, key: &str) -> Option<String> {
    let lines = lines(&options).expect("it loads");
    lines.into_iter().find(|line| line.key == key).expect("it has a line").effective
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn session(key: &str, value: &str) -> LoadOptions {
    LoadOptions { session_options: pairs(&[(key, value)]), ..LoadOptions::default() }
}

fn arena(key: &str, value: &str) -> LoadOptions {
    LoadOptions { arena_options: pairs(&[(key, value)]), ..LoadOptions::default() }
}

/// C05, C06, C10, C18: what the loaded session shows of what was typed.
#[test]
fn options_show_their_effect_on_a_loaded_session() {
    for (options, key, want) in [
        (session("enable_cpu_mem_arena", "false"), "enable_cpu_mem_arena", "0"),
        (arena("enable_cpu_mem_arena", "0"), "enable_cpu_mem_arena", "0"),
        (session("session.enable_cpu_mem_arena", "1"), "session.enable_cpu_mem_arena", "1"),
        (session("arena_extend_strategy", "0"), "arena_extend_strategy", "kNextPowerOfTwo"),
        (arena("arena_extend_strategy", "kSameAsRequested"), "arena_extend_strategy", "kSameAsRequested"),
        (LoadOptions::default(), "arena_extend_strategy", "kSameAsRequested"),
        (arena("max_mem", "64MiB"), "max_mem", "67108864"),
        (session("disable_prepacking", "true"), "disable_prepacking", "1"),
        (session("enable_cpu_mem_aren", "0"), "enable_cpu_mem_aren", "no known effect"),
        (session("cuda.gpu_mem_limit", "1GiB"), "cuda.gpu_mem_limit", "no effect"),
    ] {
        assert_eq!(effective(options, key).as_deref(), Some(want), "{key}");
    }
    let refused = arena("max_memm", "1GiB");
    let line = lines(&refused).unwrap().into_iter().find(|line| line.key == "max_memm").unwrap();
    assert_eq!(line.effective.as_deref(), Some("no effect"), "ONNX Runtime refuses it: {line:?}");
}

/// C05.
#[test]
fn a_value_of_the_wrong_type_is_refused_before_anything_is_loaded() {
    for options in [session("enable_cpu_mem_arena", "banana"), arena("enable_cpu_mem_arena", "banana")] {
        let failure = lines(&options).unwrap_err();
        assert_eq!(
            (failure.code, failure.param.as_deref()),
            (Code::InvalidValue, Some("enable_cpu_mem_arena"))
        );
        assert!(failure.message.contains("0, 1, true or false"), "{failure}");
    }
}

/// Every built-in profile is one that ONNX Runtime takes.
#[test]
fn a_model_loads_with_every_built_in_profile() {
    for profile in built_in_profiles() {
        let lines = lines(&profile.options).unwrap_or_else(|failure| panic!("{}: {failure}", profile.name));
        assert!(lines.iter().all(|line| line.effective.as_deref() != Some("no effect")), "{lines:?}");
    }
}
