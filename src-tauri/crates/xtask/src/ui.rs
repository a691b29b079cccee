//! The page of the app in `ui/`: its packages, its build, its checks, and the types that it has of the routes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::failed::{Failed, Outcome, While};
use crate::node;
use crate::stage::{run, stage};

/// A file in `node_modules`: what the packages in it were installed for.
const INSTALLED: &str = ".installed-for";

/// What in the page's folder is made by tools, or for tests alone.
const NO_SOURCE: [&str; 5] = ["node_modules", "dist", "e2e", "test-results", "playwright-report"];

/// The folder of the page.
#[derive(Debug)]
pub(crate) struct Ui {
    folder: PathBuf,
}

impl Ui {
    pub(crate) fn of(workspace: &Path) -> Self {
        Self { folder: workspace.join("ui") }
    }

    /// Gets the packages, where the lock file says others than those that are there.
    pub(crate) fn packages(&self) -> Outcome {
        let locks = ["package.json", "package-lock.json"].map(|name| self.folder.join(name));
        let (key, installed) =
            (cache::fingerprint(&locks)?, self.folder.join("node_modules").join(INSTALLED));
        if fs::read_to_string(&installed).is_ok_and(|installed| installed == key) {
            return Ok(());
        }
        node::needed()?;
        stage("get the packages of the page (170 MB unpacked)", || {
            node::install(&self.folder, &[])?;
            fs::write(&installed, key).while_doing(|| format!("could not write {}", installed.display()))
        })
    }

    /// The folder of the built page, made anew where a source or a package has changed.
    pub(crate) fn built(&self) -> Outcome<PathBuf> {
        let dist = self.folder.join("dist");
        let key = cache::fingerprint(&self.sources()?)?;
        if cache::is_whole(&dist, &key) {
            return Ok(dist);
        }
        self.packages()?;
        stage("build the page", || {
            cache::make(&dist, &key, |folder| {
                run(self.script("build").args(["--", "--emptyOutDir", "--outDir"]).arg(folder))
            })
        })?;
        Ok(dist)
    }

    /// Writes what the page knows of the routes: their description, which `ebb` prints, and the types made of it.
    pub(crate) fn bind(&self, ebb: &Path) -> Outcome {
        self.packages()?;
        let asked = Command::new(ebb).args(["server", "openapi"]).output();
        let said = asked.while_doing(|| format!("could not start {}", ebb.display()))?;
        if !said.status.success() {
            let why = String::from_utf8_lossy(&said.stderr);
            return Err(Failed::new(format!("`ebb server openapi` ended with {}: {why}", said.status)));
        }
        let description = self.folder.join("src/api/generated/openapi.json");
        fs::write(&description, said.stdout)
            .while_doing(|| format!("could not write {}", description.display()))?;
        run(&mut self.script("bindings"))
    }

    /// Fails where the types are not those of the description. (A test says whether that is the one of the routes.)
    pub(crate) fn is_bound(&self) -> Outcome {
        self.packages()?;
        run(self.script("bindings").args(["--", "--check"]))
            .map_err(|_| Failed::new("the page's types of the routes are stale: run `cargo xtask bindings`"))
    }

    /// A script of the page's `package.json`.
    pub(crate) fn script(&self, name: &str) -> Command {
        let mut npm = node::npm();
        npm.args(["run", "--silent", name]).current_dir(&self.folder);
        npm
    }

    /// Every file that the built page is made of.
    fn sources(&self) -> Outcome<Vec<PathBuf>> {
        let failed = || format!("could not read {}", self.folder.display());
        let mut sources = Vec::new();
        for entry in fs::read_dir(&self.folder).while_doing(failed)? {
            let entry = entry.while_doing(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || NO_SOURCE.contains(&name.as_str()) {
                continue;
            }
            let path = entry.path();
            if path.is_dir() {
                sources.extend(cache::files_below(&path).while_doing(failed)?);
            } else {
                sources.push(path);
            }
        }
        sources.retain(|path| !path.to_string_lossy().ends_with(".test.ts"));
        sources.sort();
        Ok(sources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::Scratch;

    #[test]
    fn the_page_is_made_of_its_sources_alone() {
        let scratch = Scratch::new("page");
        let ui = Ui::of(&scratch.0.path(""));
        for name in [
            "index.html",
            "src/main.ts",
            "src/chat/Chat.svelte",
            "src/chat/lines.test.ts",
            "public/icon.svg",
            "node_modules/a/index.js",
            "dist/index.html",
            ".dist.partial/index.html",
            "e2e/chat.spec.ts",
        ] {
            let file = ui.folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, name).unwrap();
        }
        let sources: Vec<_> = ui
            .sources()
            .unwrap()
            .iter()
            .map(|path| path.strip_prefix(&ui.folder).unwrap().to_string_lossy().replace('\\', "/"))
            .collect();
        assert_eq!(sources, ["index.html", "public/icon.svg", "src/chat/Chat.svelte", "src/main.ts"]);
    }

    #[test]
    fn packages_are_installed_once_for_a_lock_file() {
        let scratch = Scratch::new("packages");
        let ui = Ui::of(&scratch.0.path(""));
        fs::create_dir_all(ui.folder.join("node_modules")).unwrap();
        let locks = ["package.json", "package-lock.json"].map(|name| ui.folder.join(name));
        locks.iter().for_each(|lock| fs::write(lock, "{}").unwrap());
        let key = cache::fingerprint(&locks).unwrap();
        fs::write(ui.folder.join("node_modules").join(INSTALLED), key).unwrap();
        ui.packages().unwrap();
    }
}
