//! The catalogue of options against the real ONNX Runtime: its keys are in the library, and the library's are in it.

use std::{fs, sync::LazyLock};

use ebb_core::options::{CatalogueEntry, Scope, catalogue, find};
use ebb_tests::home::runtime_library;

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
