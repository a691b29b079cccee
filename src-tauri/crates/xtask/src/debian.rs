//! What the app and its tests need of a Linux system, by the names of Debian's packages. Elsewhere systems bring it, or say in
//! the build what they lack.

use std::process::Command;

use crate::failed::{Failed, Outcome};
use crate::stage::{run, stage, succeeds};

/// To build the app: the web view that it shows its page in, and what draws its icons.
pub(crate) const TO_BUILD: &[&str] = &["libwebkit2gtk-4.1-dev", "librsvg2-dev", "libssl-dev", "file"];

/// To run it: the icon beside the clock.
pub(crate) const TO_RUN: &[&str] = &["libayatana-appindicator3-1"];

/// To test it: a display that nobody sees, and what presses its buttons.
pub(crate) const TO_TEST: &[&str] =
    &["libayatana-appindicator3-1", "webkit2gtk-driver", "xvfb", "xauth", "dbus-x11"];

/// To test its page: a browser, and letters for it.
pub(crate) const TO_BROWSE: &[&str] = &["chromium", "fonts-dejavu-core"];

/// Installs what is missing of `packages`, where this user may.
pub(crate) fn needed(what_for: &str, packages: &[&str]) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    if !succeeds(Command::new("dpkg-query").arg("--version")) {
        println!("{what_for} needs what Debian calls {}", packages.join(", "));
        return Ok(());
    }
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = ["install", "--yes", "--no-install-recommends"];
    if !is_root() {
        let (install, missing) = (install.join(" "), missing.join(" "));
        return Err(Failed::new(format!("{what_for} needs more: run `sudo apt-get {install} {missing}`")));
    }
    stage(&format!("install {}", missing.join(", ")), || {
        let apt_get = || {
            let mut apt_get = Command::new("apt-get");
            apt_get.arg("--quiet=2").env("DEBIAN_FRONTEND", "noninteractive");
            apt_get
        };
        run(apt_get().arg("update"))?;
        run(apt_get().args(install).args(&missing))
    })
}

fn is_installed(package: &str) -> bool {
    let asked =
        Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}\n", package]).output();
    // A package may be there for several architectures.
    asked.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).lines().any(|status| status == "installed"))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout.trim_ascii() == b"0")
}
