//! `cargo xtask run`: the app in its window; where nobody could see one, its page for a browser.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::debian;
use crate::failed::{Failed, Outcome, While};
use crate::stage::{run, stage, succeeds};
use crate::tasks::{Prepared, Profile, cargo, prepare, program};

const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn launch(args: &[String]) -> Outcome {
    let prepared = prepare(Profile::Release)?;
    if has_display(std::env::consts::OS, |name| std::env::var_os(name)) {
        window(&prepared, args)
    } else {
        println!("there is no display here, so the app's page is served for a browser");
        page(&prepared, args)
    }
}

fn has_display(os: &str, env: impl Fn(&str) -> Option<OsString>) -> bool {
    let named = |name| env(name).is_some_and(|value| !value.is_empty());
    matches!(os, "windows" | "macos") || named("DISPLAY") || named("WAYLAND_DISPLAY")
}

fn window(prepared: &Prepared, args: &[String]) -> Outcome {
    debian::needed("the app", &[debian::TO_BUILD, debian::TO_RUN].concat())?;
    built()?;
    let mut app = Command::new(prepared.programs.join(program("ebb-desktop")));
    run(app.args(args).envs(prepared.env.clone()))
}

/// Builds the app in release, beside the programs.
pub(crate) fn built() -> Outcome {
    stage("build the app in release", || {
        run(cargo().args(["build", "--locked", "--release", "--package", "ebb-desktop"]))
    })
}

/// Serves the page until Ctrl-C, with the demo's models in the catalogue. A host that runs already is used as it is.
fn page(prepared: &Prepared, args: &[String]) -> Outcome {
    let ebb = |words: &[&str]| {
        let mut ebb = Command::new(prepared.programs.join(program("ebb")));
        ebb.args(words).envs(prepared.env.clone());
        ebb
    };
    let answers = || succeeds(&mut ebb(&["server", "status"]));
    let mut server = None;
    if !answers() {
        let mut host = ebb(&["server", "run", "--ui"]);
        if std::env::var_os("EBB_LOG").is_none() {
            host.env("EBB_LOG", "warn");
        }
        // The link that it prints would not be the last line.
        let host = host.args(args).stdout(Stdio::null()).spawn();
        server = Some(until(answers, host.while_doing(|| "could not start the host".to_owned())?)?);
    }
    let models = &prepared.models;
    for (alias, folder) in
        [("minilm", &models.minilm), ("smollm2", &models.smollm2), ("moonshine", &models.moonshine)]
    {
        add(&ebb, alias, folder)?;
    }
    println!();
    run(&mut ebb(&["ui"]))?;
    let Some(mut server) = server else { return Ok(()) };
    println!("Ctrl-C ends it");
    let status = server.wait().while_doing(|| "could not wait for the host".to_owned())?;
    if status.success() { Ok(()) } else { Err(Failed::new(format!("the host ended with {status}"))) }
}

/// Waits until the host answers.
fn until(answers: impl Fn() -> bool, mut host: Child) -> Outcome<Child> {
    loop {
        if let Ok(Some(status)) = host.try_wait() {
            return Err(Failed::new(format!("the host ended with {status}")));
        }
        if answers() {
            return Ok(host);
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn add(ebb: &impl Fn(&[&str]) -> Command, alias: &str, folder: &Path) -> Outcome {
    if succeeds(&mut ebb(&["model", "info", alias])) {
        return Ok(());
    }
    run(ebb(&["model", "add", "--alias", alias]).arg(folder).stdout(Stdio::null()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_is_there_or_named() {
        for (os, set, expected) in [
            ("linux", &[][..], false),
            ("linux", &[("DISPLAY", "")], false),
            ("linux", &[("DISPLAY", ":0")], true),
            ("linux", &[("WAYLAND_DISPLAY", "wayland-0")], true),
            ("macos", &[], true),
            ("windows", &[], true),
        ] {
            let env = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(has_display(os, env), expected, "{os} {set:?}");
        }
    }
}
