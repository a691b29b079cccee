use std::fs;

use ebb_core::{Capability, CapabilityRequest, PluginManifest, PluginWorld};
use ebb_plugins::manifest;

use super::*;

/// A component that has nothing in it but names.
fn names(imports: &[&str], export: &str) -> Vec<u8> {
    let imports: String = imports.iter().map(|name| format!("(import \"{name}\" (instance))")).collect();
    let text = format!(
        "(component {imports} (instance $all) (export \"ebb:plugin/{export}@0.1.0\" (instance $all)))"
    );
    wat::parse_str(text).unwrap()
}

fn says(world: PluginWorld, capabilities: &[Capability]) -> PluginManifest {
    let asked =
        capabilities.iter().map(|one| CapabilityRequest { capability: *one, reason: "a reason".into() });
    PluginManifest {
        id: "plugin".into(),
        name: "Plugin".into(),
        version: "1.0.0".into(),
        description: "Does something.".into(),
        author: "Somebody".into(),
        licence: "MIT".into(),
        homepage: None,
        world,
        contract: "0.1.0".into(),
        capabilities: asked.collect(),
        limits: ebb_core::PluginLimits::default(),
        settings: None,
        promise: None,
    }
}

const STORE: &str = "ebb:plugin/store@0.1.0";
const ALL: [&str; 4] =
    [STORE, "ebb:plugin/documents@0.1.0", "ebb:plugin/inference@0.1.0", "ebb:plugin/memory-control@0.1.0"];

/// Codes of the problems and of the warnings of a pipeline that imports and asks for these.
fn pipeline(imports: &[&str], capabilities: &[Capability]) -> (Vec<RemarkCode>, Vec<RemarkCode>) {
    let manifest = says(PluginWorld::RagPipeline, capabilities);
    let looked = component(&manifest::embed(&names(imports, "pipeline"), &manifest).unwrap());
    let codes = |remarks: &[Remark]| remarks.iter().map(|remark| remark.code).collect();
    (codes(&looked.problems), codes(&looked.warnings))
}

#[test]
fn what_is_asked_for_is_held_against_what_is_imported() {
    use RemarkCode::{CapabilityMissing, CapabilityUnused, Wasi};
    assert_eq!(pipeline(&[STORE], &[Capability::Store]), (vec![], vec![]));
    assert_eq!(pipeline(&[STORE], &[]), (vec![CapabilityMissing], vec![]));
    assert_eq!(pipeline(&["ebb:plugin/memory-control@0.1.0"], &[]), (vec![CapabilityMissing], vec![]));
    assert_eq!(pipeline(&[], &[Capability::Documents]), (vec![], vec![CapabilityUnused]));
    // Python and JavaScript import all there is.
    let most = [Capability::Store, Capability::Documents, Capability::InferenceTranscribe];
    assert_eq!(pipeline(&ALL, &most), (vec![], vec![CapabilityMissing]));
    assert_eq!(pipeline(&["wasi:io/poll@0.2.6"], &[]), (vec![], vec![Wasi]));
}

#[test]
fn a_policy_that_may_not_control_is_told_so() {
    let policy = |capabilities: &[Capability]| {
        let manifest = says(PluginWorld::ShrinkPolicy, capabilities);
        component(&manifest::embed(&names(&[], "policy"), &manifest).unwrap())
    };
    assert_eq!(policy(&[Capability::MemoryControl]).warnings, []);
    let looked = policy(&[]);
    assert_eq!((looked.problems.len(), looked.warnings[0].code), (0, RemarkCode::CapabilityMissing));
}

#[test]
fn a_broken_component_is_a_problem_of_its_kind() {
    let check = |bytes: &[u8], code: RemarkCode| {
        let looked = component(bytes);
        let codes: Vec<_> = looked.problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, [code], "{:?}", looked.problems);
        assert_eq!(looked.size_bytes, Some(bytes.len() as u64));
    };
    check(b"", RemarkCode::Component);
    check(b"#!/bin/sh", RemarkCode::Component);
    check(&wat::parse_str("(module)").unwrap(), RemarkCode::Component);
    let whole = names(&[STORE], "pipeline");
    check(&whole[..whole.len() - 3], RemarkCode::Component);
    check(&whole, RemarkCode::Manifest);
    check(&names(&[], "something"), RemarkCode::World);
    let lies = says(PluginWorld::ShrinkPolicy, &[]);
    check(&manifest::embed(&whole, &lies).unwrap(), RemarkCode::Manifest);
    let later = wat::parse_str(r#"(component (import "ebb:plugin/store@9.9.9" (instance)))"#).unwrap();
    check(&later, RemarkCode::Version);
}

#[test]
fn a_folder_is_looked_over_with_what_was_built_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let code =
        |report: &CheckReport| report.problems.iter().chain(&report.warnings).map(|one| one.code).next();

    assert_eq!(code(&check(folder.path()).unwrap()), Some(RemarkCode::Manifest));
    assert!(matches!(check(&at("missing.wasm")), Err(Error::Read { .. })));
    fs::write(at("plugin.toml"), "id = 'Bad Id'").unwrap();
    let report = check(folder.path()).unwrap();
    assert_eq!((code(&report), report.manifest), (Some(RemarkCode::Manifest), None));

    let text = crate::files::templates(crate::Lang::Python, PluginWorld::ShrinkPolicy, "plugin");
    let toml = &text.iter().find(|(name, _)| *name == "plugin.toml").unwrap().1;
    fs::write(at("plugin.toml"), toml).unwrap();
    let report = check(folder.path()).unwrap();
    assert_eq!((report.problems, report.warnings[0].code), (vec![], RemarkCode::NotBuilt));

    let manifest = report.manifest.unwrap();
    let built = manifest::embed(&names(&[], "policy"), &manifest).unwrap();
    fs::write(at("plugin.wasm"), &built).unwrap();
    let report = check(folder.path()).unwrap();
    assert_eq!(
        (report.problems, report.warnings, report.size_bytes),
        (vec![], vec![], Some(built.len() as u64))
    );
    fs::write(at("plugin.toml"), toml.replace("0.1.0\"\ndesc", "0.2.0\"\ndesc")).unwrap();
    assert_eq!(code(&check(folder.path()).unwrap()), Some(RemarkCode::Stale));
}
