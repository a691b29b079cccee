//! Writes the table of what an author's folder is given besides its own code: the SDK, the contract, and the versions that the
//! SDK is built with, as they lie in this repository.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    // Of this run, not of the compilation: one target folder may have served another checkout.
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../..");
    let (plugins, out) = (root.join("plugins"), PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()));
    let mut tables = String::new();
    table(&mut tables, "SDK", &plugins.join("sdk"), true)?;
    table(&mut tables, "WIT", &root.join("wit"), false)?;
    let lock = plugins.join("Cargo.lock").canonicalize()?;
    let _ = writeln!(tables, "pub(crate) const LOCK: &str = include_str!({lock:?});");
    println!("cargo::rerun-if-changed={}", lock.display());
    fs::write(out.join("files.rs"), tables)
}

/// The files of a folder, by their names in it with `/`; those below it too, if it is `deep`.
fn table(tables: &mut String, name: &str, folder: &Path, deep: bool) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    walk(folder, "", deep, &mut files)?;
    files.sort();
    let _ = writeln!(tables, "pub(crate) const {name}: &[(&str, &str)] = &[");
    for (name, path) in files {
        let _ = writeln!(tables, "    ({name:?}, include_str!({path:?})),");
    }
    tables.push_str("];\n");
    Ok(())
}

fn walk(folder: &Path, prefix: &str, deep: bool, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match (path.is_dir(), name.as_str()) {
            (_, "target" | "Cargo.lock") => {}
            (true, _) if deep => walk(&path, &format!("{prefix}{name}/"), deep, files)?,
            (true, _) => {}
            (false, _) => files.push((format!("{prefix}{name}"), path.canonicalize()?)),
        }
    }
    Ok(())
}
