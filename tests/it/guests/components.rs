//! Files that are no plugins, or not what they say.

use ebb_core::{Code, Failure};
use ebb_plugins::{Component, manifest};

use super::{GUESTS, Scene};

/// Why these bytes are no plugin.
fn refusal(bytes: &[u8]) -> Failure {
    Failure::from(Component::read(bytes).unwrap_err())
}

/// The same guest, built for another version.
fn for_version(version: &str) -> Vec<u8> {
    assert_eq!(version.len(), "0.1.0".len());
    let mut bytes = GUESTS.policy.clone();
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(6).position(|window| window == b"@0.1.0") {
        at += found + 1;
        bytes[at..at + 5].copy_from_slice(version.as_bytes());
    }
    bytes
}

/// With another manifest.
fn with_manifest(change: impl FnOnce(&mut ebb_core::PluginManifest)) -> Vec<u8> {
    let mut manifest = Component::read(&GUESTS.policy).unwrap().manifest;
    change(&mut manifest);
    manifest::embed(&GUESTS.policy, &manifest).unwrap()
}

#[test]
fn what_is_no_component_says_what_it_is() {
    let failure = refusal(b"PK\x03\x04 a zip file");
    assert_eq!(failure.code, Code::InvalidRequest);
    assert!(failure.message.contains("no Wasm"), "{failure}");
    let failure = refusal(b"\0asm\x01\0\0\0");
    assert!(failure.message.contains("core module"), "{failure}");
    assert!(failure.hint.unwrap().contains("ebb plugin build"));
    assert_eq!(refusal(b"").code, Code::InvalidRequest);
}

#[test]
fn a_truncated_file_is_refused_wherever_it_ends() {
    let whole = &GUESTS.policy;
    for end in [9, 100, whole.len() / 2, whole.len() - 1] {
        let failure = refusal(&whole[..end]);
        assert_eq!(failure.code, Code::InvalidRequest, "{end}: {failure}");
    }
}

#[test]
fn a_component_of_another_world_is_refused() {
    let empty = b"\0asm\x0d\0\x01\0";
    let failure = refusal(empty);
    assert!(failure.message.contains("fills no world"), "{failure}");
}

#[test]
fn another_patch_version_loads_and_another_version_does_not() {
    let failure = refusal(&for_version("9.9.9"));
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("built for ebb:plugin 9.9.9, this Ebb speaks 0.1.0"), "{failure}");
    // Its manifest was written for the version that it was built for.
    let mut manifest = Component::read(&GUESTS.policy).unwrap().manifest;
    manifest.contract = "0.1.7".to_owned();
    let newer = manifest::embed(&for_version("0.1.7"), &manifest).unwrap();
    assert_eq!(Component::read(&newer).unwrap().contract, "0.1.7");
    let scene = Scene::new();
    let plugin = scene.plugin(&newer, &["*"], Vec::new());
    let (mut policy, _) = plugin.policy("good");
    assert!(policy.on_idle(1, &super::sample("good")).is_ok());
}

#[test]
fn a_manifest_that_lies_about_its_world_is_refused() {
    let lying = with_manifest(|manifest| manifest.world = ebb_core::PluginWorld::RagPipeline);
    let failure = refusal(&lying);
    assert!(failure.message.contains("but the component fills shrink-policy"), "{failure}");
}

#[test]
fn a_manifest_that_is_wrong_is_refused_with_what_is_wrong() {
    let mut wrong = Component::read(&GUESTS.policy).unwrap().manifest;
    wrong.id = "../escape".to_owned();
    wrong.version = "one".to_owned();
    let error = manifest::embed(&GUESTS.policy, &wrong).unwrap_err();
    assert!(error.to_string().contains("id"), "{error}");
    assert!(error.to_string().contains("version"), "{error}");
}

#[test]
fn components_nested_without_end_are_refused_before_they_are_unfolded() {
    // Each holds the one before, eight times over.
    let mut bytes: Vec<u8> = b"\0asm\x0d\0\x01\0".to_vec();
    for _ in 0..6 {
        let inner = bytes.clone();
        bytes = b"\0asm\x0d\0\x01\0".to_vec();
        for _ in 0..8 {
            bytes.push(4);
            leb(inner.len() as u32, &mut bytes);
            bytes.extend_from_slice(&inner);
        }
    }
    let failure = refusal(&bytes);
    assert!(matches!(failure.code, Code::TooLarge | Code::InvalidRequest), "{failure}");
    assert!(failure.message.contains("at most"), "{failure}");
}

fn leb(mut value: u32, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

#[test]
fn compiled_code_is_kept_and_damaged_code_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let models = std::sync::Arc::new(super::FakeModels::default());
    let config = ebb_plugins::SandboxConfig { compiled_folder: folder.path().to_owned() };
    let sandbox = ebb_plugins::Sandbox::new(config, models).unwrap();
    sandbox.compile(&GUESTS.policy, &mut |_| {}).unwrap();
    let kept = || {
        let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|end| end == "code")).collect::<Vec<_>>()
    };
    let [file] = &kept()[..] else { panic!("one file is kept: {:?}", kept()) };
    let mut damaged = std::fs::read(file).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    std::fs::write(file, &damaged).unwrap();
    sandbox.compile(&GUESTS.policy, &mut |_| {}).unwrap();
    assert_ne!(std::fs::read(file).unwrap(), damaged);
}
