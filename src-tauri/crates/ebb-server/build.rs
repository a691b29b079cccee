//! With the feature `ui`, the files of the built page become a part of the program.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

const MISSING: &str = "the feature `ui` puts the built page into the program, and ui/dist holds none: \
    run `npm ci` and `npm run build` in `ui` first, or build without the feature";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_UI").is_none() {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/dist");
    println!("cargo:rerun-if-changed={}", page.display());
    if let Err(why) = embed(&page) {
        println!("cargo::error={why}");
    }
}

/// Writes the list of the page's files, by their paths in it.
fn embed(page: &Path) -> Result<(), String> {
    if !page.join("index.html").is_file() {
        return Err(MISSING.to_owned());
    }
    let failed = |error: io::Error| format!("could not read {}: {error}", page.display());
    let page = page.canonicalize().map_err(failed)?;
    let mut files = Vec::new();
    list(&page, &mut files).map_err(failed)?;
    files.sort();
    let mut code = "pub(super) static FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for file in files {
        let path = file.strip_prefix(&page).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        writeln!(code, "    ({path:?}, include_bytes!({:?})),", file.to_string_lossy())
            .map_err(|error| error.to_string())?;
    }
    code.push_str("];\n");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("cargo names no OUT_DIR")?;
    fs::write(out.join("page.rs"), code).map_err(failed)
}

fn list(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            list(&entry.path(), into)?;
        } else {
            into.push(entry.path());
        }
    }
    Ok(())
}
