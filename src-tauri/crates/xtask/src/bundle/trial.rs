//! The packages on a system that has never seen Ebb: a clean root, made by debootstrap from where this system's own packages
//! come from. Each is installed there, started with a display, asked what it is, ended and removed.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Parts;
use crate::failed::{Failed, Outcome, While};
use crate::stage::{run, stage, succeeds};

const SCRIPT: &str = include_str!("trial.sh");

/// Fails where any of it does. The `.rpm` is tried where there is one: as files on Debian, not as a part of Fedora. Needs Debian or Ubuntu, and root.
pub(super) fn tried(parts: &Parts, deb: &Path, rpm: Option<&Path>) -> Outcome {
    for (tool, of) in [("debootstrap", "debootstrap"), ("unshare", "util-linux")] {
        if !succeeds(Command::new(tool).arg("--version")) {
            return Err(Failed::new(format!("`{tool}` is not installed: `apt-get install {of}` as root")));
        }
    }
    let root = parts.out.join("clean-root");
    let failed = || format!("could not use {}", root.display());
    if root.exists() {
        fs::remove_dir_all(&root).while_doing(failed)?;
    }
    let (mirror, suite) = origin()?;
    stage("make the clean root", || {
        let mut make = Command::new("debootstrap");
        make.args(["--variant=minbase", &suite]).arg(&root).arg(&mirror);
        run(make.stdout(std::process::Stdio::null()))
    })?;
    let own = root.join("etc/apt/sources.list");
    if own.exists() {
        // It names what this system's list names too.
        fs::remove_file(&own).while_doing(failed)?;
    }
    for name in ["sources.list", "sources.list.d", "apt.conf.d", "trusted.gpg.d"] {
        let from = Path::new("/etc/apt").join(name);
        if from.exists() {
            run(Command::new("cp").arg("-aL").arg(&from).arg(root.join("etc/apt")))?;
        }
    }
    for (package, name) in [(Some(deb), "ebb.deb"), (rpm, "ebb.rpm")] {
        if let Some(package) = package {
            fs::copy(package, root.join(name)).while_doing(failed)?;
        }
    }
    fs::write(root.join("trial.sh"), SCRIPT).while_doing(failed)?;
    // Mounts and processes of the trial end with it, however it ends.
    let inside = "mount -t proc proc \"$1/proc\" && mount -t tmpfs tmpfs \"$1/tmp\" && mkdir -p \"$1/dev/shm\" && \
        mount -t tmpfs tmpfs \"$1/dev/shm\" && exec chroot \"$1\" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LANG=C.UTF-8 sh -eu /trial.sh";
    let mut trial = Command::new("unshare");
    trial.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-eu", "-c", inside, "sh"]).arg(&root);
    stage("install, start, end and remove", || run(&mut trial))?;
    fs::remove_dir_all(&root).while_doing(failed)
}

/// Where this system's packages come from, and which they are.
fn origin() -> Outcome<(String, String)> {
    let output = Command::new("apt-get").args(["indextargets", "--format", "$(SITE) $(CODENAME)"]).output();
    let output = output.while_doing(|| "could not start `apt-get`".to_owned())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().find_map(|line| {
        let (mirror, suite) = line.split_once(' ')?;
        // Updates and security alone are no system.
        (!suite.contains('-')).then(|| (mirror.to_owned(), suite.to_owned()))
    });
    first.ok_or_else(|| Failed::new("`apt-get` does not say where this system's packages come from"))
}
