//! `new`: a folder that builds at once.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ebb_core::PluginWorld;
use serde::Serialize;

use crate::{
    Error, Lang,
    files::{self, LOCK, SDK, WIT},
    folder::write,
};

/// A plugin that is to be begun.
#[derive(Debug, Clone)]
pub struct NewPlugin {
    /// Its id: a small letter, then small letters, digits and `-`, at most 64.
    pub name: String,
    /// What it is for.
    pub world: PluginWorld,
    /// What it is written in.
    pub lang: Lang,
    /// Its folder; one of its name where none is given.
    pub folder: Option<PathBuf>,
}

/// What was begun.
#[derive(Debug, Clone, Serialize)]
pub struct NewReport {
    /// The plugin's id.
    pub id: String,
    /// What it is for.
    pub world: PluginWorld,
    /// What it is written in.
    pub lang: Lang,
    /// Its folder.
    pub folder: PathBuf,
    /// The author's own files in it, by name: what is there to be changed.
    pub files: Vec<String>,
    /// Commands to go on with, in order.
    pub next: Vec<String>,
}

/// Writes the folder: its whole content, or nothing.
///
/// # Errors
/// [`Error::BadName`], [`Error::Exists`], [`Error::Write`].
pub fn new(plugin: &NewPlugin) -> Result<NewReport, Error> {
    let NewPlugin { name, world, lang, folder } = plugin;
    check_name(name)?;
    let folder = folder.clone().unwrap_or_else(|| name.into());
    if folder.symlink_metadata().is_ok() && !is_empty_folder(&folder) {
        return Err(Error::Exists { path: folder });
    }
    let own = files::templates(*lang, *world, name);
    let partial = beside(&folder, name);
    let filled = fill(&partial, *lang, &own).and_then(|()| put(&partial, &folder));
    if filled.is_err() {
        // The first failure is what the person needs.
        drop(fs::remove_dir_all(&partial));
    }
    filled?;
    let mut files: Vec<String> = own.into_iter().map(|(name, _)| name.to_owned()).collect();
    files.sort();
    let next = next(*world, name, &folder);
    Ok(NewReport { id: name.clone(), world: *world, lang: *lang, folder, files, next })
}

/// Names that would clash with crates that every Rust plugin has.
const TAKEN: [&str; 7] = ["alloc", "core", "ebb-plugin-sdk", "ebb-trace", "proc-macro", "std", "test"];

fn check_name(name: &str) -> Result<(), Error> {
    let small = |c: char| c.is_ascii_lowercase();
    let reason = if name.is_empty() || name.len() > 64 {
        "it has 1 to 64 characters"
    } else if !name.starts_with(small) {
        "it begins with a small letter"
    } else if !name.chars().all(|c| small(c) || c.is_ascii_digit() || c == '-') {
        "it is made of small letters, digits and '-'"
    } else if name.ends_with('-') || name.contains("--") {
        "a '-' stands between two words"
    } else if TAKEN.contains(&name) || is_keyword(name) {
        "this one has a meaning of its own"
    } else {
        return Ok(());
    };
    Err(Error::BadName { name: name.to_owned(), reason })
}

/// Words that no Rust crate can be called by.
fn is_keyword(name: &str) -> bool {
    const WORDS: [&str; 51] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
        "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
        "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
        "virtual", "where", "while", "yield",
    ];
    WORDS.contains(&name)
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// A folder that nobody takes for the plugin's, on the same disk.
fn beside(folder: &Path, name: &str) -> PathBuf {
    let parent = folder.parent().unwrap_or(Path::new(""));
    parent.join(format!(".{name}.{}.partial", std::process::id()))
}

fn fill(folder: &Path, lang: Lang, own: &[(&str, String)]) -> Result<(), Error> {
    for (name, text) in own {
        write(&folder.join(name), text)?;
    }
    // The SDK has the contract in it.
    let (place, given) = if lang == Lang::Rust { (files::SDK_FOLDER, SDK) } else { ("wit", WIT) };
    for (name, text) in given {
        write(&folder.join(place).join(name), text)?;
    }
    if lang == Lang::Rust { write(&folder.join("Cargo.lock"), LOCK) } else { Ok(()) }
}

fn put(partial: &Path, folder: &Path) -> Result<(), Error> {
    // An empty folder may be in the way: not every system replaces it.
    drop(fs::remove_dir(folder));
    fs::rename(partial, folder).map_err(|source| Error::Write { path: folder.to_owned(), source })
}

fn next(world: PluginWorld, name: &str, folder: &Path) -> Vec<String> {
    let folder = folder.display();
    let mut next = vec![format!("ebb plugin build {folder}"), format!("ebb plugin check {folder}")];
    match world {
        PluginWorld::ShrinkPolicy => {
            next.push(format!("ebb plugin test {folder} {folder}/trace.jsonl"));
            next.push(format!("ebb plugin install {folder}"));
            next.push(format!("ebb plugin attach {name} MODEL --grant"));
        }
        PluginWorld::RagPipeline => {
            next.push(format!("ebb plugin install {folder}"));
            next.push(format!("ebb plugin grant {name} all --model MODEL --path FOLDER"));
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(name: &str, world: PluginWorld, lang: Lang, folder: PathBuf) -> NewPlugin {
        NewPlugin { name: name.into(), world, lang, folder: Some(folder) }
    }

    #[test]
    fn every_world_in_every_language_has_its_files_and_no_gaps() {
        let home = tempfile::tempdir().unwrap();
        for world in [PluginWorld::ShrinkPolicy, PluginWorld::RagPipeline] {
            for lang in Lang::ALL {
                let folder = home.path().join(format!("{world}-{lang}"));
                let made = new(&plugin("my-plugin", world, lang, folder.clone())).unwrap();
                assert_eq!(Lang::of(&folder).unwrap(), lang);
                let manifest = crate::folder::manifest_of(&folder).unwrap();
                assert_eq!((manifest.id.as_str(), manifest.world), ("my-plugin", world));
                for name in &made.files {
                    let text = fs::read_to_string(folder.join(name)).unwrap();
                    // In the author's language two braces may be something of its own.
                    let gap = text.split("{{").skip(1).find(|rest| {
                        let inner = rest.split_once("}}").map_or("", |(inner, _)| inner);
                        !inner.is_empty()
                            && inner.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                    });
                    assert_eq!(gap, None, "{name} of {world} in {lang}");
                }
                let contract = if lang == Lang::Rust { "vendor/ebb-plugin-sdk/wit" } else { "wit" };
                assert!(folder.join(contract).join("worlds.wit").is_file());
                assert!(made.files.iter().any(|name| name == "README.md"), "{:?}", made.files);
            }
        }
        let left: Vec<_> =
            fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 6, "nothing half-made is left: {left:?}");
    }

    #[test]
    fn what_is_there_is_never_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("mine");
        fs::create_dir(&folder).unwrap();
        let plugin = plugin("mine", PluginWorld::ShrinkPolicy, Lang::Python, folder.clone());
        new(&plugin).unwrap();
        fs::write(folder.join("app.py"), "mine").unwrap();
        let error = new(&plugin).unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");
        assert_eq!(fs::read_to_string(folder.join("app.py")).unwrap(), "mine");
    }

    #[test]
    fn a_name_that_would_not_do_is_refused_before_anything_is_written() {
        let home = tempfile::tempdir().unwrap();
        for name in
            ["", "9lives", "Slack", "a b", "../up", "a--b", "a-", "naïve", "core", "match", &"a".repeat(65)]
        {
            let folder = home.path().join("folder");
            let error = new(&plugin(name, PluginWorld::ShrinkPolicy, Lang::Rust, folder)).unwrap_err();
            assert!(matches!(error, Error::BadName { .. }), "{name}: {error}");
        }
        assert!(is_empty_folder(home.path()));
        check_name("quiet-hours-2").unwrap();
    }
}
