//! Files that the user picks, opens and saves. The page names paths; what may be done with them is decided here.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

use ebb_core::{Code, Failure};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use tauri::{AppHandle, Runtime, WebviewWindow};
use tauri_plugin_dialog::DialogExt as _;
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

/// What is picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PickKind {
    Folder,
    Model,
    Plugin,
    Audio,
    Image,
    Trace,
    /// A file that will be written.
    Save,
}

impl PickKind {
    /// What such files are called, and how their names end; none: any.
    fn filter(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Self::Folder | Self::Save => None,
            Self::Model => Some(("Models", &["onnx", "gguf", "safetensors"])),
            Self::Plugin => Some(("Plugins", &["wasm", "toml"])),
            Self::Audio => Some(("Audio", &["wav", "flac", "mp3", "ogg"])),
            Self::Image => Some(("Images", &["png", "jpg", "jpeg", "webp"])),
            Self::Trace => Some(("Recordings", &["json", "jsonl", "ndjson"])),
        }
    }
}

/// Files that the user picked to be written: each once.
#[derive(Debug, Default)]
pub(crate) struct SavePicks(Mutex<Vec<PathBuf>>);

/// More dialogs than a person has open; the oldest pick is forgotten.
const MOST_PICKS: usize = 16;

impl SavePicks {
    fn add(&self, path: PathBuf) {
        let mut picks = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if picks.len() >= MOST_PICKS {
            picks.remove(0);
        }
        picks.push(path);
    }

    /// Writes a file that was picked; `path` is percent-encoded, as a header must be.
    ///
    /// # Errors
    /// [`Code::Forbidden`] where it was not picked; [`Code::Storage`].
    pub(crate) fn save(&self, path: &str, content: &[u8]) -> Result<(), Failure> {
        let path = percent_decode_str(path).decode_utf8().map_err(|_| {
            Failure::new(Code::InvalidRequest, "the file's name is not UTF-8").param("ebb-path")
        })?;
        let path = Path::new(&*path);
        let mut picks = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(at) = picks.iter().position(|picked| picked == path) else {
            let message = format!("{} was not picked to be written", path.display());
            return Err(Failure::new(Code::Forbidden, message).hint("pick the file again"));
        };
        picks.remove(at);
        drop(picks);
        fs::write(path, content).map_err(|error| refused("write", path, &error))
    }
}

/// Has the user pick.
///
/// # Errors
/// [`Code::Internal`] where the dialog ends without an answer; [`Code::Unsupported`] where the path is not Unicode.
pub(crate) async fn pick<R: Runtime>(
    window: &WebviewWindow<R>,
    picks: &SavePicks,
    kind: PickKind,
    title: &str,
    name: Option<String>,
) -> Result<Option<String>, Failure> {
    let mut dialog = window.dialog().file().set_parent(window).set_title(title);
    if let Some((what, endings)) = kind.filter() {
        dialog = dialog.add_filter(what, endings);
    }
    if let Some(name) = name {
        dialog = dialog.set_file_name(name);
    }
    let (sender, picked) = oneshot::channel();
    // The window may be gone once the dialog ends: then nobody waits.
    let answer = move |path| drop(sender.send(path));
    match kind {
        PickKind::Folder => dialog.pick_folder(answer),
        PickKind::Save => dialog.save_file(answer),
        _ => dialog.pick_file(answer),
    }
    let picked =
        picked.await.map_err(|_| Failure::new(Code::Internal, "the dialog ended without an answer"))?;
    let Some(path) = picked.and_then(|path| path.into_path().ok()) else { return Ok(None) };
    let text = path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(Code::Unsupported, format!("the name of {} is not Unicode", path.display()))
            .hint("give it another name")
    })?;
    if kind == PickKind::Save {
        picks.add(path);
    }
    Ok(Some(text))
}

/// Opens a file or folder with the program that the system has for it.
///
/// # Errors
/// As [`may_open`]; [`Code::Unsupported`] where the system has no program for it.
pub(crate) fn open<R: Runtime>(app: &AppHandle<R>, path: &str) -> Result<(), Failure> {
    let path = may_open(Path::new(path))?;
    let opened = app.opener().open_path(path.to_string_lossy(), None::<&str>);
    opened.map_err(|error| {
        Failure::new(Code::Unsupported, format!("the system could not open {}: {error}", path.display()))
            .hint("open it in your file manager")
    })
}

/// The path in full, where it is a file to look at or a folder: an address, or anything that would run, is refused.
fn may_open(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_absolute() {
        let message = format!("{} is not the full path of a file or folder", path.display());
        return Err(Failure::new(Code::InvalidRequest, message).param("path"));
    }
    // Links are followed here, not by the program that opens.
    let full = path.canonicalize().map_err(|error| refused("find", path, &error))?;
    let meta = fs::metadata(&full).map_err(|error| refused("find", path, &error))?;
    if meta.is_dir() {
        return Ok(full);
    }
    if !meta.is_file() || runs(&full, &meta) {
        let message = format!("{} could run as a program", path.display());
        return Err(
            Failure::new(Code::Forbidden, message).hint("open it in your file manager, if you trust it")
        );
    }
    Ok(full)
}

/// Whether opening the file may run it.
fn runs(path: &Path, meta: &fs::Metadata) -> bool {
    const RUNS: [&str; 22] = [
        "app", "appimage", "bat", "cmd", "com", "command", "cpl", "desktop", "exe", "hta", "jar", "js",
        "lnk", "msi", "pif", "ps1", "reg", "scr", "sh", "url", "vbs", "wsf",
    ];
    #[cfg(unix)]
    let marked = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let marked = {
        let _ = meta;
        false
    };
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    marked || ending.is_some_and(|ending| RUNS.contains(&ending.as_str()))
}

fn refused(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Code::Storage, format!("cannot {what} {}: {error}", path.display()))
        .param(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_picked_is_written_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Kurve – äöü.csv");
        let encoded =
            percent_encoding::utf8_percent_encode(path.to_str().unwrap(), percent_encoding::NON_ALPHANUMERIC)
                .to_string();
        let picks = SavePicks::default();
        assert_eq!(picks.save(&encoded, b"x").unwrap_err().code, Code::Forbidden);
        picks.add(path.clone());
        picks.save(&encoded, b"a,b").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a,b");
        assert_eq!(picks.save(&encoded, b"x").unwrap_err().code, Code::Forbidden, "a pick holds once");
        assert_eq!(picks.save("%ff", b"x").unwrap_err().code, Code::InvalidRequest);
    }

    #[test]
    fn a_pick_that_cannot_be_written_says_why() {
        let picks = SavePicks::default();
        picks.add("/no/such/folder/a.csv".into());
        let failure = picks.save("/no/such/folder/a.csv", b"").unwrap_err();
        assert_eq!(failure.code, Code::Storage);
        assert!(failure.message.starts_with("cannot write /no/such/folder/a.csv: "), "{failure}");
    }

    #[test]
    fn files_and_folders_may_be_opened_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("notes.md"), "x").unwrap();
        fs::write(at("start.Desktop"), "x").unwrap();
        assert_eq!(may_open(&at("notes.md")).unwrap(), at("notes.md").canonicalize().unwrap());
        assert!(may_open(folder.path()).is_ok());
        let code = |path: &Path| may_open(path).unwrap_err().code;
        assert_eq!(code(&at("start.Desktop")), Code::Forbidden);
        assert_eq!(code(&at("missing")), Code::Storage);
        assert_eq!(code(Path::new("notes.md")), Code::InvalidRequest);
        assert_eq!(code(Path::new("https://example.org/a")), Code::InvalidRequest);
        assert_eq!(code(Path::new("file:///etc/passwd")), Code::InvalidRequest);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_marked_as_a_program_is_not_opened_through_a_link_either() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (program, link) = (folder.path().join("run"), folder.path().join("notes.txt"));
        fs::write(&program, "#!/bin/sh").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&program, &link).unwrap();
        assert_eq!(may_open(&link).unwrap_err().code, Code::Forbidden);
        assert_eq!(may_open(Path::new("/dev/null")).unwrap_err().code, Code::Forbidden);
    }
}
