//! The cache folder: what can be fetched or made again, each in a folder of its own that is whole or not there.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::failed::{Failed, Outcome, While};

/// A file in each finished folder: the key that it was made under, then the size and name of every file.
const STAMP: &str = ".stamp";

/// The cache folder, held by this process until it is dropped.
#[derive(Debug)]
pub(crate) struct Cache {
    root: PathBuf,
    _lock: File,
}

impl Cache {
    /// The user's cache folder (see `cargo xtask help`), made if missing. Waits for another `cargo xtask` that holds it.
    pub(crate) fn open() -> Outcome<Self> {
        let root =
            root(std::env::consts::OS, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
                .ok_or_else(|| {
                    Failed::new("no home folder is known: set EBB_CACHE to a folder for downloads")
                })?;
        Self::at(std::path::absolute(root).while_doing(|| "the cache folder".to_owned())?)
    }

    fn at(root: PathBuf) -> Outcome<Self> {
        let failed = || format!("could not use the cache folder {}", root.display());
        fs::create_dir_all(&root).while_doing(failed)?;
        let lock = File::create(root.join(".lock")).while_doing(failed)?;
        if lock.try_lock().is_err() {
            println!("waiting for another `cargo xtask` to finish with {}", root.display());
            lock.lock().while_doing(failed)?;
        }
        Ok(Self { root, _lock: lock })
    }

    /// A place in the cache, given with `/`.
    pub(crate) fn path(&self, place: &str) -> PathBuf {
        self.root.join(place)
    }

    /// [`make`] for the folder `place`.
    pub(crate) fn make(
        &self,
        place: &str,
        key: &str,
        fill: impl FnOnce(&Path) -> Outcome,
    ) -> Outcome<PathBuf> {
        let folder = self.path(place);
        make(&folder, key, fill)?;
        Ok(folder)
    }
}

/// Makes `folder` unless it is there, whole, and made under the same `key`. `fill` gets an empty folder beside it, which
/// takes its place only when everything went well: a broken or half-made folder is never used.
pub(crate) fn make(folder: &Path, key: &str, fill: impl FnOnce(&Path) -> Outcome) -> Outcome {
    if is_whole(folder, key) {
        return Ok(());
    }
    let (partial, old) = (beside(folder, "partial"), beside(folder, "old"));
    let failed = || format!("could not make {}", folder.display());
    remove(&partial).while_doing(failed)?;
    fs::create_dir_all(&partial).while_doing(failed)?;
    let filled = fill(&partial).and_then(|()| write_stamp(&partial, key).while_doing(failed));
    if let Err(error) = filled {
        // The first failure is what the person needs; the next run removes what is left.
        drop(remove(&partial));
        return Err(error);
    }
    remove(&old).while_doing(failed)?;
    if folder.exists() {
        fs::rename(folder, &old).while_doing(failed)?;
    }
    fs::rename(&partial, folder).while_doing(failed)?;
    remove(&old).while_doing(failed)
}

/// Whether `folder` was made under `key` and still has every file in its size.
pub(crate) fn is_whole(folder: &Path, key: &str) -> bool {
    let Ok(stamp) = fs::read_to_string(folder.join(STAMP)) else { return false };
    let mut lines = stamp.lines();
    lines.next() == Some(key)
        && lines.all(|line| {
            line.split_once(' ').is_some_and(|(size, name)| {
                fs::metadata(folder.join(name)).is_ok_and(|file| file.len().to_string() == size)
            })
        })
}

fn write_stamp(folder: &Path, key: &str) -> std::io::Result<()> {
    let mut stamp = format!("{key}\n");
    for file in files_below(folder)? {
        let size = fs::metadata(&file)?.len();
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        writeln!(stamp, "{size} {name}").map_err(std::io::Error::other)?;
    }
    fs::write(folder.join(STAMP), stamp)
}

/// All files in and below `folder`, in the order of their names.
pub(crate) fn files_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Changes whenever one of `files` does. (FNV-1a: it guards against forgetting, not against malice.)
pub(crate) fn fingerprint(files: &[PathBuf]) -> Outcome<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let content = fs::read(file).while_doing(|| format!("could not read {}", file.display()))?;
        for byte in content.len().to_le_bytes().into_iter().chain(content) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".");
    name.push(suffix);
    folder.with_file_name(name)
}

fn remove(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The cache folder for the platform `os`; `env` reads a variable that is set and not empty.
fn root(os: &str, env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(own) = env("EBB_CACHE") {
        return Some(own.into());
    }
    if let Some(home) = env("EBB_HOME") {
        return Some(Path::new(&home).join("cache"));
    }
    let platform = match os {
        "windows" => PathBuf::from(env("LOCALAPPDATA")?),
        "macos" => Path::new(&env("HOME")?).join("Library").join("Caches"),
        // A relative XDG folder is to be ignored, says the standard.
        _ => match env("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute()) {
            Some(folder) => folder,
            None => Path::new(&env("HOME")?).join(".cache"),
        },
    };
    Some(platform.join("ebb"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A cache in a folder of its own, removed at the end.
    pub(crate) struct Scratch(pub(crate) Cache);

    impl Scratch {
        pub(crate) fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("ebb-xtask-{name}-{}", std::process::id()));
            Self(Cache::at(root).unwrap())
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(remove(&self.0.root));
        }
    }

    fn two_files(folder: &Path) -> Outcome {
        fs::create_dir(folder.join("deep")).unwrap();
        fs::write(folder.join("deep/a"), "aaaa").unwrap();
        fs::write(folder.join("b c"), "b").unwrap();
        Ok(())
    }

    fn never(_: &Path) -> Outcome {
        Err(Failed::new("made again"))
    }

    #[test]
    fn a_whole_folder_is_made_once() {
        let cache = Scratch::new("once");
        let folder = cache.0.make("x/y", "key", two_files).unwrap();
        assert_eq!(fs::read_to_string(folder.join("deep/a")).unwrap(), "aaaa");
        cache.0.make("x/y", "key", never).unwrap();
    }

    #[test]
    fn another_key_a_lost_file_and_a_cut_file_make_it_anew() {
        let cache = Scratch::new("anew");
        let folder = cache.0.make("x", "key", two_files).unwrap();
        assert!(cache.0.make("x", "other key", never).is_err());
        assert!(is_whole(&folder, "key"), "a failure leaves the old folder as it was");

        fs::write(folder.join("deep/a"), "aa").unwrap();
        assert!(!is_whole(&folder, "key"));
        cache.0.make("x", "key", two_files).unwrap();
        assert!(is_whole(&folder, "key"));

        fs::remove_file(folder.join("b c")).unwrap();
        assert!(!is_whole(&folder, "key"));
        cache.0.make("x", "key", two_files).unwrap();
        let left: Vec<_> = fs::read_dir(&cache.0.root).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "only the folder and the lock: {left:?}");
    }

    #[test]
    fn a_half_made_folder_is_never_used() {
        let cache = Scratch::new("half");
        let half = |folder: &Path| {
            fs::write(folder.join("half"), "").unwrap();
            Err(Failed::new("stopped"))
        };
        assert_eq!(cache.0.make("x", "key", half).unwrap_err().message, "stopped");
        assert!(!cache.0.path("x").exists());
    }

    #[test]
    fn the_cache_folder_follows_the_platform() {
        let check = |os: &str, set: &[(&str, &str)], expected: Option<&str>| {
            let env = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(root(os, env), expected.map(PathBuf::from), "{os} {set:?}");
        };
        check("linux", &[("HOME", "/h")], Some("/h/.cache/ebb"));
        check("linux", &[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")], Some("/c/ebb"));
        check("linux", &[("HOME", "/h"), ("XDG_CACHE_HOME", "c")], Some("/h/.cache/ebb"));
        check("linux", &[("HOME", "/h"), ("EBB_HOME", "/e")], Some("/e/cache"));
        check("linux", &[("EBB_CACHE", "/x"), ("EBB_HOME", "/e")], Some("/x"));
        check("macos", &[("HOME", "/h")], Some("/h/Library/Caches/ebb"));
        check("windows", &[("LOCALAPPDATA", "/l")], Some("/l/ebb"));
        check("linux", &[], None);
    }
}
