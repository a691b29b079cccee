//! Components for tests: those that ship with Ebb, and guests that misbehave.

mod fake;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
};

pub use self::fake::{FakeModels, sample};
use crate::home::program;

/// The folder of the plugins that ship with Ebb: `EBB_PLUGINS`, else beside the programs.
///
/// # Panics
/// Where they were not built.
pub fn shipped() -> PathBuf {
    let named = std::env::var_os("EBB_PLUGINS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| program("ebb").with_file_name("plugins"));
    assert!(folder.is_dir(), "{} is missing: run the tests with `cargo xtask test`", folder.display());
    folder
}

/// A guest of `tests/guests`, by its folder's name: built once for each program.
///
/// # Panics
/// Where it cannot be built.
pub fn hostile(name: &str) -> PathBuf {
    static BUILT: LazyLock<(tempfile::TempDir, Mutex<HashMap<String, PathBuf>>)> =
        LazyLock::new(|| (tempfile::tempdir().expect("a temporary folder"), Mutex::default()));
    let (folder, built) = &*BUILT;
    let mut built = built.lock().unwrap_or_else(PoisonError::into_inner);
    let path = built.entry(name.to_owned()).or_insert_with(|| {
        let out = folder.path().join(name).with_extension("wasm");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests").join(name);
        ebb_author::build(&source, Some(&out), &mut |_| {})
            .unwrap_or_else(|error| panic!("{name} cannot be built: {error}"));
        out
    });
    path.clone()
}
