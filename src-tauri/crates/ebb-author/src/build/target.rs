//! The Wasm target of Rust: there, added by rustup, or had from Debian where rustup's server is out of reach.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Error;

/// What Rust plugins are built for: it brings no WASI, so a component of it needs nothing but the contract.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// What to do where there is none.
pub(crate) const HINT: &str = "rustup target add wasm32-unknown-unknown; where rustup's server cannot be reached, on \
    Debian and Ubuntu: apt install rustc-web rust-web-src";

/// Debian's compiler, whose `rustc-web` knows the target and whose `rust-web-src` has the source of its library.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// Makes sure that `cargo`, which is to build in `folder`, can build for [`TARGET`].
pub(super) fn prepare(folder: &Path, cargo: &mut Command, tell: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let rustc = std::env::var_os("RUSTC").filter(|rustc| !rustc.is_empty()).unwrap_or_else(|| "rustc".into());
    let asked = |rustc: &OsString| rustc_says(rustc, folder);
    if asked(&rustc).is_some_and(|libraries| has_core(&libraries)) {
        return Ok(());
    }
    tell("rustup adds the target wasm32-unknown-unknown");
    let reason = match rustup_adds(folder) {
        Ok(()) => return Ok(()),
        Err(reason) => reason,
    };
    let Some(debian) = Debian::find(folder, &rustc) else { return Err(Error::NoTarget { reason }) };
    tell("rustup cannot fetch the target: Debian's compiler builds, and first the standard library");
    debian.set(cargo);
    Ok(())
}

/// Where a compiler looks for the target's libraries.
fn rustc_says(rustc: &OsString, folder: &Path) -> Option<PathBuf> {
    printed(Command::new(rustc).current_dir(folder).args(["--print", "target-libdir", "--target", TARGET]))
}

fn has_core(libraries: &Path) -> bool {
    let is_core = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("libcore-");
    std::fs::read_dir(libraries).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_core)))
}

/// Has rustup add the target to the toolchain of `folder`. Fails with rustup's own words.
fn rustup_adds(folder: &Path) -> Result<(), String> {
    let mut rustup = Command::new("rustup");
    let output = rustup
        .current_dir(folder)
        .args(["target", "add", TARGET])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("rustup cannot be started ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().rev().find(|line| line.contains("error")).unwrap_or("rustup failed");
    Err(said.trim_start_matches("error:").trim().to_owned())
}

/// Debian's compiler, with the standard library's source and rustup's linker. Its version differs from that of the cargo that
/// runs it, and the library is built with it, which wants the unstable options allowed.
struct Debian {
    linker: Option<PathBuf>,
    /// Whether the libraries have to be built first.
    build_std: bool,
}

impl Debian {
    fn find(folder: &Path, rustc: &OsString) -> Option<Self> {
        let debian = OsString::from(DEBIAN_RUSTC);
        let libraries = rustc_says(&debian, folder)?;
        let source = printed(Command::new(&debian).args(["--print", "sysroot"]))?;
        let build_std = !has_core(&libraries);
        let has_source = source.join("lib/rustlib/src/rust/library/Cargo.toml").is_file();
        (!build_std || has_source).then(|| Self { linker: linker(rustc, folder), build_std })
    }

    fn set(&self, cargo: &mut Command) {
        cargo.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1");
        if let Some(linker) = &self.linker {
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        if self.build_std {
            cargo.arg("-Zbuild-std=std,panic_abort");
        }
    }
}

/// The linker that came with rustup's compiler: Debian has one only with its own LLVM.
fn linker(rustc: &OsString, folder: &Path) -> Option<PathBuf> {
    let linker = format!("rust-lld{}", std::env::consts::EXE_SUFFIX);
    let libraries = printed(Command::new(rustc).current_dir(folder).args(["--print", "target-libdir"]))?;
    Some(libraries.parent()?.join("bin").join(linker)).filter(|path| path.is_file())
}

/// The path that a program prints.
fn printed(command: &mut Command) -> Option<PathBuf> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| path.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_has_the_target_is_recognised_by_its_libraries() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let native =
            printed(Command::new("rustc").current_dir(here).args(["--print", "target-libdir"])).unwrap();
        assert!(has_core(&native), "{}", native.display());
        let empty = tempfile::tempdir().unwrap();
        assert!(!has_core(empty.path()));
        assert!(!has_core(&empty.path().join("missing")));
    }

    #[test]
    fn the_fallback_builds_the_library_with_rustups_linker() {
        let mut cargo = Command::new("cargo");
        cargo.arg("build");
        Debian { linker: Some("/x/rust-lld".into()), build_std: true }.set(&mut cargo);
        let args: Vec<_> = cargo.get_args().collect();
        assert_eq!(args, ["build", "-Zbuild-std=std,panic_abort"]);
        let set = |name: &str| cargo.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value);
        assert_eq!(set("RUSTC").unwrap(), DEBIAN_RUSTC);
        assert_eq!(set("RUSTC_BOOTSTRAP").unwrap(), "1");
        assert_eq!(set("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER").unwrap(), "/x/rust-lld");
    }
}
