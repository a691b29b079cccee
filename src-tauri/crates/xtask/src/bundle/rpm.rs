//! The tree as a package for Fedora and what comes from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Parts, VERSION};
use crate::failed::{Failed, Outcome, While};
use crate::stage::{run, succeeds};

/// Wraps the tree; where the package is, or `None` where there is no `rpmbuild`.
pub(super) fn wrapped(parts: &Parts, tree: &Path) -> Outcome<Option<PathBuf>> {
    if !succeeds(Command::new("rpmbuild").arg("--version")) {
        return Ok(None);
    }
    let folder = parts.out.join("rpm");
    let work = parts.out.join("rpm-work");
    let failed = || format!("could not write to {}", folder.display());
    for folder in [&folder, &work] {
        fs::create_dir_all(folder).while_doing(failed)?;
    }
    let spec = work.join("ebb.spec");
    fs::write(&spec, described(tree)).while_doing(failed)?;
    let name = format!("ebb-{VERSION}-1.{}.rpm", std::env::consts::ARCH);
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--quiet", "--define"]).arg(format!("_topdir {}", work.display()));
    build.arg("--define").arg(format!("_rpmdir {}", folder.display()));
    build.arg("--define").arg("_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm");
    run(build.args(["--target", std::env::consts::ARCH]).arg(&spec))?;
    fs::remove_dir_all(&work).while_doing(failed)?;
    let package = folder.join(name);
    if package.is_file() { Ok(Some(package)) } else { Err(Failed::new("`rpmbuild` made no package")) }
}

/// What it needs is read from the programs. The library that it brings is nobody else's.
fn described(tree: &Path) -> String {
    format!(
        "%global debug_package %{{nil}}\n\
        %global __os_install_post %{{nil}}\n\
        %global _binary_payload w6.xzdio\n\
        %global __provides_exclude_from ^/usr/lib/ebb/.*$\n\
        Name: ebb\n\
        Version: {VERSION}\n\
        Release: 1\n\
        Summary: Local models that give memory back\n\
        License: MIT OR Apache-2.0\n\
        Recommends: libayatana-appindicator-gtk3\n\
        Recommends: xdg-utils\n\
        %description\n\
        Ebb runs ONNX models for chat, embeddings and speech on this machine, shows what memory\n\
        their arenas hold, and gives it back: at a click, from the command line, or as policies decide.\n\
        %install\n\
        cp -a '{}/.' %{{buildroot}}\n\
        mkdir -p %{{buildroot}}/usr/share/zsh/site-functions\n\
        mv %{{buildroot}}/usr/share/zsh/vendor-completions/_ebb %{{buildroot}}/usr/share/zsh/site-functions/\n\
        rmdir %{{buildroot}}/usr/share/zsh/vendor-completions\n\
        %files\n\
        %defattr(-,root,root,-)\n\
        /usr/bin/ebb\n\
        /usr/bin/ebb-desktop\n\
        /usr/lib/ebb\n\
        /usr/share/applications/ebb-desktop.desktop\n\
        /usr/share/bash-completion/completions/ebb\n\
        /usr/share/doc/ebb\n\
        /usr/share/fish/vendor_completions.d/ebb.fish\n\
        /usr/share/icons/hicolor/*/apps/ebb-desktop.*\n\
        /usr/share/man/man1/ebb*\n\
        /usr/share/zsh/site-functions/_ebb\n",
        tree.display()
    )
}
