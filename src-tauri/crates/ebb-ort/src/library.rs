//! Finding the ONNX Runtime library: the one that was named, else the newest in the folders to look in, else one beside
//! the executable.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use crate::{Error, sys};

/// The least version that Ebb takes: from here on arena and memory-pattern switches are checked session options.
const LEAST: Version = Version([1, 28, 0]);

/// How deep below a folder a library may lie: a wheel unpacks to `onnxruntime/capi`, below a folder named after the version.
pub(crate) const DEPTH: usize = 4;

/// A library that was tried and did not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Where.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// A library that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    pub(crate) path: PathBuf,
    pub(crate) version: String,
}

/// Finds a library. One that is named, by `named` or by `ORT_DYLIB_PATH`, is the only one tried: a user who names a
/// library means that one. Among several in a folder, one with the provider's own library beside it comes first, then the
/// newest.
///
/// # Errors
/// [`Error::Library`] with everything that was tried.
pub(crate) fn find(named: Option<&Path>, folders: &[PathBuf], provider: &str) -> Result<Library, Error> {
    let variable = env::var_os("ORT_DYLIB_PATH").filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = named.map(Path::to_owned).or(variable) {
        return first_usable(&[path], provider);
    }
    let executable = env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let places: Vec<PathBuf> = folders.iter().cloned().chain(executable).collect();
    first_usable(&places, provider)
}

fn first_usable(places: &[PathBuf], provider: &str) -> Result<Library, Error> {
    let mut tried = Vec::new();
    for place in places {
        for path in candidates(place, provider, &mut tried) {
            match check(&path) {
                Ok(version) => return Ok(Library { path, version }),
                Err(reason) => tried.push(Attempt { path, reason }),
            }
        }
    }
    Err(Error::Library { tried })
}

/// The libraries at a place, best first: the file itself, or what lies in the folder.
fn candidates(place: &Path, provider: &str, tried: &mut Vec<Attempt>) -> Vec<PathBuf> {
    if !place.is_dir() {
        if place.is_file() {
            return vec![place.canonicalize().unwrap_or_else(|_| place.to_owned())];
        }
        tried.push(Attempt { path: place.to_owned(), reason: "there is no such file or folder".to_owned() });
        return Vec::new();
    }
    let mut found = Vec::new();
    collect(place, DEPTH, &mut found, is_library);
    if found.is_empty() {
        tried.push(Attempt {
            path: place.to_owned(),
            reason: format!("holds no {}", library_name("onnxruntime")),
        });
    }
    // A stable sort: where versions are the same, the order of names decides.
    found.sort();
    let beside = library_name(&format!("onnxruntime_providers_{provider}"));
    found.sort_by_key(|path| std::cmp::Reverse((path.with_file_name(&beside).is_file(), version_in(path))));
    found
}

/// Every file at or below `folder` whose name `wanted` takes.
pub(crate) fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, wanted: fn(&str) -> bool) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, found, wanted);
            }
        } else if path.file_name().and_then(|name| name.to_str()).is_some_and(wanted) {
            found.push(path);
        }
    }
}

/// Whether a file name is that of the library itself, plain or with its version: `libonnxruntime.so.1.31.1`,
/// `libonnxruntime.1.31.1.dylib`, `onnxruntime.dll`.
fn is_library(name: &str) -> bool {
    let stem = format!("{}onnxruntime", env::consts::DLL_PREFIX);
    let Some(rest) = name.strip_prefix(&stem) else { return false };
    let version =
        rest.strip_prefix(env::consts::DLL_SUFFIX).or_else(|| rest.strip_suffix(env::consts::DLL_SUFFIX));
    version.is_some_and(|version| version.chars().all(|c| c == '.' || c.is_ascii_digit()))
}

/// The platform's name for a library.
pub(crate) fn library_name(stem: &str) -> String {
    format!("{}{stem}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX)
}

/// The version of a library that can be used, or why it cannot.
fn check(path: &Path) -> Result<String, String> {
    if fs_err::metadata(path).is_ok_and(|about| about.len() == 0) {
        return Err("the file is empty".to_owned());
    }
    let version = sys::library_version(path)?;
    match Version::parse(&version) {
        Some(parsed) if parsed >= LEAST => Ok(version),
        _ => Err(format!("its version is {version}, at least {LEAST} is needed")),
    }
}

/// The version that a path tells, by the file's name or by a folder above it; the lowest where none does.
fn version_in(path: &Path) -> Option<Version> {
    path.ancestors()
        .take(DEPTH + 1)
        .filter_map(Path::file_name)
        .find_map(|name| Version::parse(name.to_str()?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u32; 3]);

impl Version {
    /// The first three numbers joined by dots in a text.
    fn parse(text: &str) -> Option<Self> {
        text.split(|c: char| c != '.' && !c.is_ascii_digit()).find_map(|run| {
            let mut numbers = run.split('.').filter(|part| !part.is_empty()).map(|part| part.parse().ok());
            Some(Self([numbers.next()??, numbers.next()??, numbers.next()??]))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(error: Error) -> Vec<Attempt> {
        match error {
            Error::Library { tried } => tried,
            other => panic!("{other}"),
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_the_library_itself_is_taken() {
        for (name, want) in [
            ("libonnxruntime.so", true),
            ("libonnxruntime.so.1.31.1", true),
            ("libonnxruntime_providers_shared.so", false),
            ("libonnxruntime.so.bak", false),
            ("onnxruntime.dll", false),
        ] {
            assert_eq!(is_library(name), want, "{name}");
        }
    }

    #[test]
    fn a_newer_version_comes_first() {
        let home = tempfile::tempdir().unwrap();
        for folder in ["onnxruntime-1.9.2", "onnxruntime-1.31.1/onnxruntime/capi", "onnxruntime-1.30.0"] {
            let folder = home.path().join(folder);
            fs_err::create_dir_all(&folder).unwrap();
            fs_err::write(folder.join(library_name("onnxruntime")), "not a library").unwrap();
        }
        let order = reasons(first_usable(&[home.path().to_owned()], "cpu").unwrap_err());
        let minors: Vec<_> = order.iter().map(|attempt| version_in(&attempt.path).unwrap().0[1]).collect();
        assert_eq!(minors, [31, 30, 9]);
        let gpu = home.path().join("onnxruntime-1.30.0").join(library_name("onnxruntime_providers_cuda"));
        fs_err::write(gpu, "").unwrap();
        let first = reasons(first_usable(&[home.path().to_owned()], "cuda").unwrap_err()).remove(0);
        assert_eq!(version_in(&first.path).unwrap().0[1], 30, "the one that has the provider");
    }

    #[test]
    fn everything_tried_is_told_with_its_reason() {
        let home = tempfile::tempdir().unwrap();
        let empty = home.path().join(library_name("onnxruntime"));
        fs_err::write(&empty, "").unwrap();
        let none = home.path().join("nowhere");
        let bare = home.path().join("bare");
        fs_err::create_dir(&bare).unwrap();
        let tried = reasons(first_usable(&[none.clone(), bare.clone(), empty.clone()], "cpu").unwrap_err());
        let told: Vec<_> =
            tried.iter().map(|attempt| (attempt.path.clone(), attempt.reason.as_str())).collect();
        let lacking = format!("holds no {}", library_name("onnxruntime"));
        assert_eq!(
            told,
            [
                (none, "there is no such file or folder"),
                (bare, lacking.as_str()),
                (empty.canonicalize().unwrap(), "the file is empty"),
            ]
        );
        let failure = ebb_core::Failure::from(Error::Library { tried });
        assert_eq!(failure.code, ebb_core::Code::RuntimeLibrary);
        assert!(failure.message.contains("nowhere"), "{failure}");
        assert!(failure.hint.unwrap().contains("pip download"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_that_is_not_onnx_runtime_is_told() {
        let path =
            ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/usr/lib/libm.so.6"]
                .into_iter()
                .find(|path| Path::new(path).is_file())
                .expect("the machine has a libm");
        assert!(check(Path::new(path)).unwrap_err().contains("OrtGetApiBase"));
    }

    #[test]
    fn versions_are_read_from_names_and_compared_as_numbers() {
        assert_eq!(Version::parse("libonnxruntime.so.1.31.1"), Some(Version([1, 31, 1])));
        assert_eq!(Version::parse("onnxruntime-1.30.0-rc2"), Some(Version([1, 30, 0])));
        assert_eq!(Version::parse("libonnxruntime.so"), None);
        assert!(Version([1, 9, 9]) < LEAST);
    }
}
