//! `cargo xtask check`: what a reader of the code expects, over this workspace and that of the plugins.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::debian;
use crate::failed::Outcome;
use crate::fetch;
use crate::node;
use crate::stage::{run, stage, succeeds};
use crate::tasks::{cargo, plugins_cargo, workspace};
use crate::ui::Ui;

/// A workspace, with a lock file of its own.
struct Tree {
    of: &'static str,
    folder: PathBuf,
    cargo: fn() -> Outcome<Command>,
    features: &'static [&'static str],
}

/// Cheap checks first.
pub(crate) fn check() -> Outcome {
    let deny = fetch::cargo_deny(&Cache::open()?, cargo)?;
    let (whole, plugins) = (workspace(), workspace().join("plugins"));
    let trees = [
        Tree { of: "", folder: whole, cargo: || Ok(cargo()), features: &["--features", "ebb-tests/peers"] },
        Tree { of: " of the plugins", folder: plugins, cargo: plugins_cargo, features: &[] },
    ];
    for tree in &trees {
        stage(&format!("formatting{}", tree.of), || run((tree.cargo)()?.args(["fmt", "--all", "--check"])))?;
    }
    for tree in &trees {
        tree.dependencies(&deny)?;
    }
    if succeeds(node::npm().arg("--version")) {
        let ui = Ui::of(&workspace());
        stage("types of the routes", || ui.is_bound())?;
    } else {
        println!("types of the routes: skipped, there is no npm here");
    }
    debian::needed("the app", debian::TO_BUILD)?;
    for tree in &trees {
        stage(&format!("clippy{}", tree.of), || {
            let mut clippy = (tree.cargo)()?;
            clippy.args(["clippy", "--workspace", "--all-targets", "--locked"]).args(tree.features);
            run(clippy.args(["--", "-D", "warnings"]))
        })?;
    }
    for tree in &trees {
        stage(&format!("documentation{}", tree.of), || {
            let mut doc = (tree.cargo)()?;
            run(doc.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))
        })?;
    }
    Ok(())
}

impl Tree {
    fn dependencies(&self, deny: &Path) -> Outcome {
        let deny = |words: &[&str]| {
            let mut command = Command::new(deny);
            command.current_dir(&self.folder).arg("--locked");
            command.arg("--config").arg(workspace().join(".config/deny.toml")).args(words);
            command
        };
        stage(&format!("licences, bans, sources{}", self.of), || {
            run(&mut deny(&["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]))
        })?;
        // The database of advisories is fetched by git from one host, which not every machine reaches.
        if succeeds(&mut deny(&["fetch", "db"])) {
            stage(&format!("advisories{}", self.of), || run(&mut deny(&["check", "advisories"])))
        } else {
            println!("advisories{}: skipped, their database cannot be reached from here", self.of);
            Ok(())
        }
    }
}
