//! `cargo xtask bundle`: packages that install the app and all that belongs to it.
//!
//! On Linux the tree of an installation is laid out once, and wrapped as `.deb`, and as `.rpm` where `rpmbuild` is there. On
//! Windows and macOS Tauri's own bundler makes the installers, from `src-tauri/tauri.bundle.conf.json`.

#[cfg(target_os = "linux")]
mod deb;
#[cfg(not(target_os = "linux"))]
mod installers;
mod licences;
#[cfg(target_os = "linux")]
mod rpm;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::failed::{Failed, Outcome, While};
use crate::fetch;
use crate::stage::{run, stage};
use crate::tasks::{cargo, guests, program, target_folder, workspace};
use crate::ui::Ui;

/// The version of every part.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What goes into a package.
struct Parts {
    /// The folder of the release build: the programs, and beside them `plugins`.
    programs: PathBuf,
    plugins: PathBuf,
    /// ONNX Runtime's library; its licence lies beside it.
    library: PathBuf,
    /// Of all that others wrote.
    licences: String,
    /// Where packages and what they are made of go.
    out: PathBuf,
}

impl Parts {
    fn program(&self, name: &str) -> PathBuf {
        self.programs.join(program(name))
    }
}

/// Makes the packages; `try` also installs, starts and removes them in a clean root.
pub(crate) fn bundle(args: &[String]) -> Outcome {
    let trying = match args {
        [] => false,
        [word] if word == "try" => true,
        [other, ..] => {
            return Err(Failed::usage(format!("`bundle` takes `try` or nothing, but got `{other}`")));
        }
    };
    let parts = built()?;
    #[cfg(target_os = "linux")]
    {
        let tree = stage("lay out the installation", || tree::laid_out(&parts))?;
        let deb = stage("wrap it as .deb", || deb::wrapped(&parts, &tree))?;
        println!("{}", deb.display());
        let rpm = stage("wrap it as .rpm", || rpm::wrapped(&parts, &tree))?;
        match &rpm {
            Some(rpm) => println!("{}", rpm.display()),
            None => println!("no .rpm: `rpmbuild` is not installed"),
        }
        if !trying {
            return Ok(());
        }
        stage("try them in a clean root", || trial::tried(&parts, &deb, rpm.as_deref()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        if trying {
            return Err(Failed::usage("`bundle try` works on Linux only"));
        }
        stage("make the installers", || installers::made(&parts))
    }
}

fn built() -> Outcome<Parts> {
    let library = fetch::onnxruntime(&Cache::open()?)?;
    let page = Ui::of(&workspace()).built()?;
    let licences = stage("collect the licences", || {
        let licences = licences::of_everything(&library)?;
        shown_by(&page, &licences)?;
        Ok(licences)
    })?;
    stage("build the app and the programs in release", || {
        let mut build = cargo();
        build.args(["build", "--locked", "--release", "--features", "ebb-cli/ui"]);
        build.args(["--package", "ebb-desktop", "--package", "ebb-cli", "--package", "ebb-worker"]);
        run(&mut build)
    })?;
    let target = target_folder()?;
    let programs = target.join("release");
    let plugins = guests(&programs)?.shipped()?;
    Ok(Parts { out: programs.join("bundle"), programs, plugins, library, licences })
}

/// Puts the licences beside the page, which shows them. The file stays as it is where it says the same: builds look at its time.
fn shown_by(page: &Path, licences: &str) -> Outcome {
    let file = page.join("licences.txt");
    if fs::read_to_string(&file).is_ok_and(|before| before == licences) {
        return Ok(());
    }
    fs::write(&file, licences).while_doing(|| format!("could not write {}", file.display()))
}
