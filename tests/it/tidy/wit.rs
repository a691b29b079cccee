//! Rules on the contract with plugin authors: it says what everything means, it changes only with its version, and authors
//! get it as it is.

use std::{collections::BTreeMap, fs};

use sha2::{Digest as _, Sha256};
use wit_parser::{Docs, Resolve, TypeDefKind, TypeOwner};

use super::root;

/// Hashes of the released versions. Within 0.1.x only the host's side may grow: a new file or function there is a new patch
/// version with a line of its own here. Anything else is 0.2.0, and the files of 0.1 move to `wit/frozen/0.1`.
const RELEASED: [(&str, &str); 1] =
    [("0.1.0", "d006a97be8809cab1bbd5fe88e18f1beb86b0de31d4cb24c4a75d3d98677a83a")];

/// The files of a folder, by name.
fn files(folder: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("it can be listed").path());
    let wit = files.filter(|path| path.extension().is_some_and(|end| end == "wit"));
    wit.map(|path| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("it is text"))
    })
    .collect()
}

fn hash(files: &BTreeMap<String, String>) -> String {
    let mut hasher = Sha256::new();
    for (name, text) in files {
        hasher.update(name);
        hasher.update([0]);
        hasher.update(text);
        hasher.update([0]);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_released_contract_never_changes() {
    let files = files("wit");
    assert!(files.len() > 5, "the contract was not found");
    let (version, released) = RELEASED[RELEASED.len() - 1];
    for (name, text) in &files {
        assert!(
            text.contains(&format!("package ebb:plugin@{version};")),
            "{name} is not of version {version}"
        );
    }
    assert_eq!(hash(&files), released, "ebb:plugin {version} is released: a change is a new version");
    let changed = files.iter().map(|(name, text)| (name.clone(), format!("{text} "))).collect();
    assert_ne!(hash(&changed), released, "a change is not seen");
}

#[test]
fn authors_get_the_contract_as_it_is() {
    assert_eq!(files("plugins/sdk/wit"), files("wit"), "copy wit/*.wit into plugins/sdk/wit");
}

/// What says nothing of itself.
fn silent(resolve: &Resolve) -> Vec<String> {
    let mut silent = Vec::new();
    let mut look = |docs: &Docs, what: String| {
        if docs.contents.as_deref().is_none_or(|words| words.trim().is_empty()) {
            silent.push(what);
        }
    };
    for (_, world) in &resolve.worlds {
        look(&world.docs, world.name.clone());
    }
    for (_, interface) in &resolve.interfaces {
        let name = interface.name.clone().unwrap_or_default();
        look(&interface.docs, name.clone());
        for function in interface.functions.values() {
            look(&function.docs, format!("{name}.{}", function.name));
        }
    }
    for (_, ty) in &resolve.types {
        // What `use` brings into another interface is described where it comes from.
        let used = matches!(ty.kind, TypeDefKind::Type(wit_parser::Type::Id(_)));
        if let (Some(name), TypeOwner::Interface(_), false) = (&ty.name, ty.owner, used) {
            look(&ty.docs, name.clone());
        }
    }
    silent
}

#[test]
fn everything_in_the_contract_says_what_it_means() {
    let bare = "package a:b@0.1.0;\n/// An interface.\ninterface c { d: func(); }";
    let mut resolve = Resolve::default();
    resolve.push_source("c.wit", bare).expect("it parses");
    assert_eq!(silent(&resolve), ["c.d"]);
    let mut resolve = Resolve::default();
    resolve.push_dir(root().join("wit")).expect("it parses");
    assert_eq!(silent(&resolve), [""; 0]);
}
