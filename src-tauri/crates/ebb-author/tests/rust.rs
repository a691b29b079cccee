//! From an empty folder to decisions, in Rust.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use ebb_author::{BuildReport, Error, Lang, NewPlugin, RemarkCode};
use ebb_core::{Code, Failure, PluginWorld};
use ebb_plugins::Component;
use ebb_trace::Decision;
use tempfile::TempDir;

/// A new plugin in a folder of its own. What it is built of is built once for all tests.
fn begun(name: &str, world: PluginWorld) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(name);
    let plugin = NewPlugin { name: name.into(), world, lang: Lang::Rust, folder: Some(folder.clone()) };
    ebb_author::new(&plugin).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins");
    fs::create_dir(folder.join(".cargo")).unwrap();
    fs::write(folder.join(".cargo/config.toml"), format!("[build]\ntarget-dir = {target:?}\n")).unwrap();
    (home, folder)
}

fn build(folder: &Path) -> Result<BuildReport, Error> {
    ebb_author::build(folder, None, &mut |_| {})
}

#[test]
fn a_new_policy_is_built_found_right_and_gives_memory_back() {
    let (_home, folder) = begun("begun-policy", PluginWorld::ShrinkPolicy);
    let built = build(&folder).unwrap();
    assert_eq!(built.path, folder.join("begun-policy.wasm"));
    assert!(built.size_bytes < 200_000, "a component in Rust is small: {}", built.size_bytes);
    assert_eq!(built.warnings, []);
    assert!(built.imports.iter().all(|import| import.starts_with("ebb:plugin/")), "{:?}", built.imports);

    let component = Component::read(&fs::read(&built.path).unwrap()).unwrap();
    assert_eq!((component.manifest, component.size_bytes), (built.manifest, built.size_bytes));
    for path in [&folder, &built.path] {
        let checked = ebb_author::check(path).unwrap();
        assert_eq!((checked.problems, checked.warnings), (vec![], vec![]));
    }

    let replayed = ebb_author::test(&folder, &folder.join("trace.jsonl")).unwrap();
    let first = &replayed.replay.decisions[0];
    assert_eq!((first.hook, &first.decision), ("run", &Decision::Shrink(Vec::new())));
    assert!(first.reserved_bytes > first.reserved_after_bytes, "{first:?}");
    assert_eq!((replayed.replay.failed, &replayed.given_up), (0, &None));
    assert!(replayed.replay.with.mean_bytes < replayed.replay.without.mean_bytes);
    let promise = replayed.promise.as_ref().unwrap();
    assert!(promise.kept && promise.value.unwrap() < 1.0, "{promise:?}");
    assert!(replayed.is_good());

    // What does not compile leaves the component as it was.
    fs::write(folder.join("src/lib.rs"), "fn broken(").unwrap();
    assert!(matches!(build(&folder), Err(Error::Tool { .. })));
    assert_eq!(ebb_author::check(&folder).unwrap().problems, []);
    // Nor does what is no plugin.
    fs::write(folder.join("src/lib.rs"), "").unwrap();
    let error = build(&folder).unwrap_err();
    assert!(matches!(error, Error::Componentise(_) | Error::Problems(_) | Error::Plugin(_)), "{error:?}");
    assert_eq!(ebb_author::check(&folder).unwrap().problems, []);
}

#[test]
fn a_new_pipeline_is_built_and_no_trace_tells_anything_of_it() {
    let (_home, folder) = begun("begun-pipeline", PluginWorld::RagPipeline);
    let failure = Failure::from(ebb_author::test(&folder, &folder.join("none.jsonl")).unwrap_err());
    assert!(failure.hint.unwrap().starts_with("build it: ebb plugin build"), "{}", failure.message);

    let built = build(&folder).unwrap();
    assert_eq!((built.manifest.world, built.warnings), (PluginWorld::RagPipeline, vec![]));
    assert!(built.imports.contains(&"ebb:plugin/store@0.1.0".to_owned()), "{:?}", built.imports);
    let error = ebb_author::test(&built.path, &folder.join("none.jsonl")).unwrap_err();
    assert!(matches!(error, Error::NoPolicy { .. }), "{error}");

    // What it uses, it has to ask for.
    let toml = fs::read_to_string(folder.join("plugin.toml")).unwrap();
    let asked = "[[capabilities]]\ncapability = \"store\"\nreason = \"to keep an index of what it read\"\n";
    assert!(toml.contains(asked));
    fs::write(folder.join("plugin.toml"), toml.replace(asked, "")).unwrap();
    let Err(Error::Problems(problems)) = build(&folder) else { panic!("it was built") };
    assert_eq!(problems[0].code, RemarkCode::CapabilityMissing);
    assert_eq!(ebb_author::check(&folder).unwrap().warnings[0].code, RemarkCode::Stale);
}

#[test]
fn what_is_no_plugins_folder_is_told_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let failure = |error: Error| Failure::from(error);
    let lacks = failure(build(folder.path()).unwrap_err());
    assert!(lacks.message.contains("no plugin.toml"), "{lacks:?}");
    let (_home, begun) = begun("begun", PluginWorld::ShrinkPolicy);
    fs::copy(begun.join("plugin.toml"), folder.path().join("plugin.toml")).unwrap();
    let lacks = failure(build(folder.path()).unwrap_err());
    assert!(lacks.message.contains("no Cargo.toml, app.py or app.js"), "{lacks:?}");
    let trace = folder.path().join("trace.jsonl");
    fs::write(&trace, "{}").unwrap();
    fs::write(folder.path().join("begun.wasm"), "no component").unwrap();
    let lacks = failure(ebb_author::test(folder.path(), &trace).unwrap_err());
    assert_eq!(lacks.code, Code::InvalidRequest);
}
