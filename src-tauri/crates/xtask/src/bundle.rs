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

use std::path::PathBuf;

use crate::cache::Cache;
use crate::failed::{Failed, Outcome};
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
    /// Where packages and what they are made of go.
    out: PathBuf,
}

impl Parts {
    fn program(&self, name: &str) -> PathBuf {
        self.programs.join(program(name))
    }
}

/// Makes the packages; `try` also installs, starts and removes one in a clean root.
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
        match stage("wrap it as .rpm", || rpm::wrapped(&parts, &tree))? {
            Some(rpm) => println!("{}", rpm.display()),
            None => println!("no .rpm: `rpmbuild` is not installed"),
        }
        if trying { stage("try it in a clean root", || trial::tried(&parts, &deb)) } else { Ok(()) }
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
    Ui::of(&workspace()).built()?;
    stage("build the app and the programs in release", || {
        let mut build = cargo();
        build.args(["build", "--locked", "--release", "--features", "ebb-cli/ui"]);
        build.args(["--package", "ebb-desktop", "--package", "ebb-cli", "--package", "ebb-worker"]);
        run(&mut build)
    })?;
    let target = target_folder()?;
    let programs = target.join("release");
    let plugins = guests(&programs)?.shipped()?;
    Ok(Parts { out: programs.join("bundle"), programs, plugins, library })
}
