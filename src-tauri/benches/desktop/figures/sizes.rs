//! What the page and the package weigh.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Says what all views weigh and what of it these files are, which the page loads at a start; and the package, where there is one.
pub(super) fn print(at_start: &[String]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/dist");
    let assets = files(&page.join("assets"));
    // The recorded host is never loaded by the app.
    let shown = assets.iter().filter(|path| !name(path).starts_with("fake-"));
    let zipped: Vec<(String, f64)> = shown.map(|path| (name(path), zipped_kb(path))).collect();
    let start = zipped.iter().filter(|(name, _)| at_start.iter().any(|url| url.ends_with(name.as_str())));
    println!(
        "the page, gzipped: {:.0} KB at the start, {:.0} KB with all views   (at most 150)",
        start.map(|(_, kb)| kb).sum::<f64>(),
        zipped.iter().map(|(_, kb)| kb).sum::<f64>(),
    );
    let programs = ebb_tests::home::program("ebb-desktop");
    for package in files(&programs.with_file_name("bundle").join("deb")) {
        let bytes = fs::metadata(&package).expect("a file").len();
        println!("{}: {:.1} MB   (at most 45)", name(&package), bytes as f64 / 1e6);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    entries.map_or_else(|_| Vec::new(), |paths| paths.filter(|path| path.is_file()).collect())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn zipped_kb(path: &Path) -> f64 {
    let zipped = Command::new("gzip").args(["-9", "--no-name", "--stdout"]).arg(path).output();
    zipped.expect("gzip is installed").stdout.len() as f64 / 1e3
}
