//! The tree of an installation on Linux. All of Ebb lies in one folder, where each part finds the others beside it; the
//! folders that everybody shares get links, pages and entries.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Parts;
use crate::failed::{Failed, Outcome, While};
use crate::stage::run;
use crate::tasks::workspace;

const PROGRAMS: [&str; 3] = ["ebb", "ebb-desktop", "ebb-worker"];

/// What a user starts.
const COMMANDS: [&str; 2] = ["ebb", "ebb-desktop"];

/// Lays out everything that belongs to the installation below a folder of its own.
pub(super) fn laid_out(parts: &Parts) -> Outcome<PathBuf> {
    let root = parts.out.join("tree");
    if root.exists() {
        fs::remove_dir_all(&root).while_doing(|| format!("could not remove {}", root.display()))?;
    }
    let tree = Tree { root };
    for name in PROGRAMS {
        tree.file(&parts.program(name), &format!("usr/lib/ebb/{name}"), 0o755)?;
    }
    for name in COMMANDS {
        tree.link(&format!("../lib/ebb/{name}"), &format!("usr/bin/{name}"))?;
    }
    let library = parts.library.file_name().unwrap_or_default().to_string_lossy().into_owned();
    tree.file(&parts.library, &format!("usr/lib/ebb/{library}"), 0o644)?;
    for plugin in
        files_in(&parts.plugins)?.iter().filter(|path| path.extension().is_some_and(|end| end == "wasm"))
    {
        let name = plugin.file_name().unwrap_or_default().to_string_lossy().into_owned();
        tree.file(plugin, &format!("usr/lib/ebb/plugins/{name}"), 0o644)?;
    }
    tree.desktop()?;
    tree.shell(&parts.program("ebb"))?;
    tree.documents(parts)?;
    Ok(tree.root)
}

struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The entry of the desktop, and icons of all sizes.
    fn desktop(&self) -> Outcome {
        let source = workspace().join("src-tauri");
        self.file(
            &source.join("packaging/ebb-desktop.desktop"),
            "usr/share/applications/ebb-desktop.desktop",
            0o644,
        )?;
        for (name, size) in [
            ("32x32.png", "32x32"),
            ("128x128.png", "128x128"),
            ("128x128@2x.png", "256x256"),
            ("icon.png", "512x512"),
        ] {
            let to = format!("usr/share/icons/hicolor/{size}/apps/ebb-desktop.png");
            self.file(&source.join("icons").join(name), &to, 0o644)?;
        }
        let to = "usr/share/icons/hicolor/scalable/apps/ebb-desktop.svg";
        self.file(&source.join("icons/icon.svg"), to, 0o644)
    }

    /// Man pages and completions, which the program writes itself.
    fn shell(&self, ebb: &Path) -> Outcome {
        let pages = self.folder("usr/share/man/man1")?;
        run(Command::new(ebb).args(["man", "--out"]).arg(&pages))?;
        fs::write(pages.join("ebb-desktop.1"), include_str!("../../../../packaging/ebb-desktop.1"))
            .while_doing(|| "could not write the man page of the app".to_owned())?;
        for page in files_in(&pages)? {
            zip(&page)?;
        }
        for (shell, place) in [
            ("bash", "usr/share/bash-completion/completions/ebb"),
            ("zsh", "usr/share/zsh/vendor-completions/_ebb"),
            ("fish", "usr/share/fish/vendor_completions.d/ebb.fish"),
        ] {
            let script = Command::new(ebb).args(["completions", shell]).output();
            let script = script.while_doing(|| format!("could not start {}", ebb.display()))?;
            if !script.status.success() || script.stdout.is_empty() {
                return Err(Failed::new(format!("`ebb completions {shell}` ended with {}", script.status)));
            }
            self.text(&script.stdout, place)?;
        }
        Ok(())
    }

    /// Licences of Ebb and of everything in the package, and what has changed.
    fn documents(&self, parts: &Parts) -> Outcome {
        let place = |name: &str| format!("usr/share/doc/ebb/{name}");
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            self.file(&workspace().join(name), &place(name), 0o644)?;
        }
        self.text(include_bytes!("../../../../packaging/copyright"), &place("copyright"))?;
        self.text(parts.licences.as_bytes(), &place("third-party-licences.txt"))?;
        self.file(&workspace().join("CHANGELOG.md"), &place("CHANGELOG.md"), 0o644)?;
        for name in ["CHANGELOG.md", "third-party-licences.txt"] {
            zip(&self.root.join(place(name)))?;
        }
        Ok(())
    }

    fn file(&self, from: &Path, to: &str, mode: u32) -> Outcome {
        let failed = || format!("could not copy {} to {to}", from.display());
        let path = self.place(to)?;
        fs::copy(from, &path).while_doing(failed)?;
        fs::set_permissions(&path, Permissions::from_mode(mode)).while_doing(failed)
    }

    fn text(&self, text: &[u8], to: &str) -> Outcome {
        let failed = || format!("could not write {to}");
        let path = self.place(to)?;
        fs::write(&path, text).while_doing(failed)?;
        fs::set_permissions(&path, Permissions::from_mode(0o644)).while_doing(failed)
    }

    fn link(&self, target: &str, to: &str) -> Outcome {
        symlink(target, self.place(to)?).while_doing(|| format!("could not link {to}"))
    }

    fn place(&self, to: &str) -> Outcome<PathBuf> {
        let (folder, name) = to.rsplit_once('/').unwrap_or(("", to));
        Ok(self.folder(folder)?.join(name))
    }

    fn folder(&self, place: &str) -> Outcome<PathBuf> {
        let folder = self.root.join(place);
        fs::create_dir_all(&folder).while_doing(|| format!("could not make {}", folder.display()))?;
        Ok(folder)
    }
}

/// Compresses a file in its place, the same each time.
fn zip(path: &Path) -> Outcome {
    run(Command::new("gzip").args(["-9", "--no-name"]).arg(path))
}

fn files_in(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = || format!("could not read {}", folder.display());
    let entries =
        fs::read_dir(folder).while_doing(failed)?.collect::<Result<Vec<_>, _>>().while_doing(failed)?;
    let mut files: Vec<_> = entries.iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}
