//! Plugins: those that ship with Ebb, built by the `ebb` that they ship with, and what builds those in Python and JavaScript.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::{self, Cache};
use crate::failed::{Failed, Outcome, While};
use crate::node;
use crate::peers;
use crate::python::Python;
use crate::stage::{run, stage};

/// The tree, and where what is built of it goes.
pub(crate) struct Guests {
    /// The root of the tree.
    pub(crate) workspace: PathBuf,
    /// Where the plugins' own workspace is built.
    pub(crate) target: PathBuf,
    /// The program `ebb`.
    pub(crate) ebb: PathBuf,
}

impl Guests {
    /// The folder of the plugins that ship with Ebb, beside the program: built anew where a plugin, the SDK or what builds
    /// them has changed.
    pub(crate) fn shipped(&self) -> Outcome<PathBuf> {
        let out = self.ebb.with_file_name("plugins");
        let plugins = self.workspace.join("plugins");
        let key = key(&plugins, &self.workspace.join("src-tauri/crates/ebb-author"))?;
        if cache::is_whole(&out, &key) {
            return Ok(out);
        }
        stage("build the plugins", || {
            cache::make(&out, &key, |folder| {
                plugins_in(&plugins)?.iter().try_for_each(|plugin| {
                    let name = plugin.file_name().unwrap_or_default();
                    let component = folder.join(name).with_extension("wasm");
                    run(self.build(plugin, &component).env("CARGO_TARGET_DIR", &self.target))
                })
            })
        })?;
        Ok(out)
    }

    /// The folder of the example in Python and the one in JavaScript, built by the tools of [`tools`].
    pub(crate) fn examples(&self, tools: &Path) -> Outcome<PathBuf> {
        let out = self.target.join("examples");
        stage("build the examples in Python and JavaScript", || {
            ["python", "javascript"].iter().try_for_each(|name| {
                let example = self.workspace.join("plugins/examples").join(name);
                let component = out.join(name).with_extension("wasm");
                run(self.build(&example, &component).envs(env(tools)?))
            })
        })?;
        Ok(out)
    }

    fn build(&self, plugin: &Path, component: &Path) -> Command {
        let mut build = Command::new(&self.ebb);
        build.args(["plugin", "build"]).arg(plugin).arg("--out").arg(component);
        build
    }
}

/// The folders of the plugins that ship with Ebb: those in Rust, whose folder says what they are.
fn plugins_in(plugins: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = || format!("could not read {}", plugins.display());
    let entries = std::fs::read_dir(plugins).while_doing(failed)?;
    let folders = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut folders = folders.while_doing(failed)?;
    folders.retain(|folder| ["plugin.toml", "Cargo.toml"].iter().all(|name| folder.join(name).is_file()));
    folders.sort();
    if folders.is_empty() {
        return Err(Failed::new(format!("there are no plugins in {}", plugins.display())));
    }
    Ok(folders)
}

/// Changes with every plugin, the SDK, and what builds them.
fn key(plugins: &Path, author: &Path) -> Outcome<String> {
    let mut files = Vec::new();
    for folder in [plugins, author] {
        files.extend(
            cache::files_below(folder).while_doing(|| format!("could not read {}", folder.display()))?,
        );
    }
    // Examples do not ship; what a build leaves behind says nothing new.
    let others = ["examples", "target"].map(|name| plugins.join(name));
    files.retain(|path| !others.iter().any(|folder| path.starts_with(folder)));
    files.retain(|path| path.extension().is_none_or(|end| end != "wasm"));
    cache::fingerprint(&files)
}

/// componentize-py and jco, each in the version and with the hash that the examples' lock files name: the folder that holds
/// `python/`, for `PYTHONPATH`, and `node/node_modules`.
pub(crate) fn tools(cache: &Cache, python: &Python, examples: &Path) -> Outcome<PathBuf> {
    let requirements = examples.join("python/requirements.txt");
    let for_node = ["package.json", "package-lock.json"].map(|name| examples.join("javascript").join(name));
    let locks = [&[requirements.clone()][..], &for_node].concat();
    let key = format!("{} {}", python.version()?, cache::fingerprint(&locks)?);
    cache.make("tools/guests", &key, |folder| {
        node::needed()?;
        stage("get componentize-py (17 MB)", || {
            peers::install(python, &requirements, &folder.join("python"))
        })?;
        // With what is optional: the part of jco for this platform is.
        stage("get jco (120 MB)", || node::install_apart(&for_node, &folder.join("node"), &[]))
    })
}

/// What makes the tools be found.
pub(crate) fn env(tools: &Path) -> Outcome<[(&'static str, std::ffi::OsString); 2]> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools.join("node/node_modules/.bin")).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).while_doing(|| "the PATH cannot be extended".to_owned())?;
    Ok([("PATH", path), ("PYTHONPATH", tools.join("python").into())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::Scratch;

    fn write(folder: &Path, name: &str, text: &str) {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn a_plugin_ships_when_it_is_in_rust_and_says_what_it_is() {
        let scratch = Scratch::new("shipped");
        let plugins = scratch.0.path("plugins");
        for name in ["slack/plugin.toml", "slack/Cargo.toml", "sdk/Cargo.toml", "examples/python/plugin.toml"]
        {
            write(&plugins, name, "");
        }
        assert_eq!(plugins_in(&plugins).unwrap(), [plugins.join("slack")]);
        std::fs::remove_file(plugins.join("slack/plugin.toml")).unwrap();
        assert!(plugins_in(&plugins).is_err());
    }

    #[test]
    fn plugins_are_built_anew_when_a_source_changes_and_not_when_one_was_built() {
        let scratch = Scratch::new("plugins-key");
        let (plugins, author) = (scratch.0.path("plugins"), scratch.0.path("author"));
        write(&plugins, "slack/src/lib.rs", "one");
        write(&author, "src/build.rs", "one");
        let key = || key(&plugins, &author).unwrap();
        let before = key();
        write(&plugins, "slack/slack.wasm", "built");
        write(&plugins, "examples/javascript/node_modules/a.js", "fetched");
        write(&plugins, "target/debug/a.rs", "built");
        assert_eq!(key(), before);
        write(&author, "src/build.rs", "two");
        let after = key();
        assert_ne!(after, before);
        write(&plugins, "slack/src/lib.rs", "two");
        assert_ne!(key(), after);
    }
}
