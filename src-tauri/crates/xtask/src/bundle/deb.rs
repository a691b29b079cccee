//! The tree as a package for Debian, Ubuntu and what comes from them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Parts, VERSION};
use crate::cache;
use crate::failed::{Outcome, While};
use crate::stage::run;

/// Libraries are named as Debian 12 does, then as those do that count time in 64 bits. The tray's is opened when the app
/// starts, and done without where it is missing.
const DEPENDS: &str = "libc6 (>= 2.35), libgcc-s1, libstdc++6, libcairo2, libdbus-1-3, libgdk-pixbuf-2.0-0, \
    libglib2.0-0 | libglib2.0-0t64, libgtk-3-0 | libgtk-3-0t64, libwebkit2gtk-4.1-0 (>= 2.40), \
    libjavascriptcoregtk-4.1-0, libsoup-3.0-0";
const RECOMMENDS: &str = "libayatana-appindicator3-1, xdg-utils";

/// Wraps the tree; where the package is.
pub(super) fn wrapped(parts: &Parts, tree: &Path) -> Outcome<PathBuf> {
    let folder = parts.out.join("deb");
    let failed = || format!("could not write to {}", folder.display());
    fs::create_dir_all(&folder).while_doing(failed)?;
    let control = tree.join("DEBIAN");
    fs::create_dir_all(&control).while_doing(failed)?;
    fs::write(control.join("control"), described(tree)?).while_doing(failed)?;
    let sums = "find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums";
    run(Command::new("sh").args(["-c", sums]).current_dir(tree))?;
    let package = folder.join(format!("ebb_{VERSION}_{}.deb", architecture()));
    let made = run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "--build"])
        .arg(tree)
        .arg(&package)
        .stdout(std::process::Stdio::null()));
    // The tree is wrapped in other ways too.
    fs::remove_dir_all(&control).while_doing(failed)?;
    made.map(|()| package)
}

fn described(tree: &Path) -> Outcome<String> {
    let files =
        cache::files_below(&tree.join("usr")).while_doing(|| format!("could not read {}", tree.display()))?;
    let bytes: u64 =
        files.iter().filter_map(|path| fs::symlink_metadata(path).ok()).map(|meta| meta.len()).sum();
    Ok(format!(
        "Package: ebb\n\
        Version: {VERSION}\n\
        Architecture: {}\n\
        Maintainer: The Ebb contributors <contributors@ebb.example>\n\
        Installed-Size: {}\n\
        Depends: {DEPENDS}\n\
        Recommends: {RECOMMENDS}\n\
        Section: science\n\
        Priority: optional\n\
        Description: local models that give memory back\n \
        Ebb runs ONNX models for chat, embeddings and speech on this machine, shows\n \
        what memory their arenas hold, and gives it back: at a click, from the command\n \
        line, or as policies decide. With the app, the program ebb, ONNX Runtime and\n \
        plugins.\n",
        architecture(),
        bytes.div_ceil(1024),
    ))
}

/// As Debian calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
