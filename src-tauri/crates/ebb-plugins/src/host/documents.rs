//! Files and folders that the user granted, read-only.

use std::{
    collections::HashMap,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use ebb_core::operations::LogLevel;
use fs_err as fs;
use sha2::{Digest as _, Sha256};
use wasmtime::component::{HasSelf, Linker};

use crate::{
    bindings::{
        self,
        documents::{Document, Host},
        types::Error,
    },
    component::hex,
    guest::{Guest, allowed, given},
    host::within,
};

/// Most files that one plugin is granted, folders walked.
const MAX_FILES: usize = 100_000;

/// Most files and folders that are looked at to find them.
const MAX_ENTRIES: usize = 2 * MAX_FILES;

/// Deepest folder that is walked.
const MAX_DEPTH: usize = 32;

/// The documents that a guest was told of, by their ids: what it says is looked up, and never part of a path.
pub(crate) type Known = HashMap<String, PathBuf>;

impl Host for Guest {
    async fn granted(&mut self) -> wasmtime::Result<Result<Vec<Document>, Error>> {
        allowed!(self, Documents, None);
        self.look_around().await
    }

    async fn read(
        &mut self,
        id: String,
        offset: u64,
        length: u64,
    ) -> wasmtime::Result<Result<Vec<u8>, Error>> {
        allowed!(self, Documents, None);
        given!(self.fits(usize::try_from(length).unwrap_or(usize::MAX)));
        if self.documents.is_empty() {
            // An id from an earlier call.
            given!(self.look_around().await?);
        }
        let Some(path) = self.documents.get(&id) else {
            return Ok(Err(Error::NotFound("no such document was granted".to_owned())));
        };
        let (path, grants) = (path.clone(), self.plugin.grants.paths());
        let reading = tokio::task::spawn_blocking(move || read(&path, &grants, offset, length));
        Ok(given!(within(reading).await)?)
    }
}

impl Guest {
    /// Finds what is granted now, by name.
    async fn look_around(&mut self) -> wasmtime::Result<Result<Vec<Document>, Error>> {
        let grants = self.plugin.grants.paths();
        let walking = tokio::task::spawn_blocking(move || Walk::through(&grants));
        let Walk { mut found, gone, .. } = given!(given!(within(walking).await)?);
        for path in gone {
            let message = format!("{} was granted and is gone", path.display());
            self.plugin.log.on_call(LogLevel::Warn, self.about(), &message);
        }
        found.sort_by(|(one, path), (other, elsewhere)| (&one.name, path).cmp(&(&other.name, elsewhere)));
        self.documents = found.iter().map(|(document, path)| (document.id.clone(), path.clone())).collect();
        Ok(Ok(found.into_iter().map(|(document, _)| document).collect()))
    }
}

/// A walk through what was granted. Links are not followed: what they lead to either is granted too, and is found where it
/// is, or was not granted.
#[derive(Default)]
struct Walk {
    found: Vec<(Document, PathBuf)>,
    /// Grants that are not there now. What they had is removed from an index like any other file.
    gone: Vec<PathBuf>,
    entries: usize,
}

impl Walk {
    fn through(grants: &[PathBuf]) -> Result<Self, Error> {
        let mut walk = Self::default();
        let mut roots = Vec::new();
        for grant in grants {
            match fs::canonicalize(grant) {
                Ok(root) => roots.push(root),
                Err(_) => walk.gone.push(grant.clone()),
            }
        }
        // What lies within another grant is found with that.
        roots.sort();
        roots.dedup_by(|later, earlier| later.starts_with(earlier));
        for root in roots {
            let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if root.is_dir() {
                walk.folder(&root, &name, 0)?;
            } else if root.is_file() {
                walk.file(root, name)?;
            }
        }
        Ok(walk)
    }

    fn folder(&mut self, path: &Path, name: &str, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            let why = format!("'{name}' lies deeper than {MAX_DEPTH} folders: grant a part of it");
            return Err(Error::Invalid(why));
        }
        // What cannot be listed is left out: the user granted what is there to be read.
        let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
        for entry in entries.filter_map(Result::ok) {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(too_many());
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                self.folder(&entry.path(), &name, depth + 1)?;
            } else if kind.is_file() {
                self.file(entry.path(), name)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf, name: String) -> Result<(), Error> {
        if self.found.len() == MAX_FILES {
            return Err(too_many());
        }
        self.found.extend(document(&path, name).map(|document| (document, path)));
        Ok(())
    }
}

fn too_many() -> Error {
    Error::Invalid(format!("more than {MAX_FILES} files were granted: grant fewer"))
}

fn document(path: &Path, name: String) -> Option<Document> {
    let about = fs::metadata(path).ok()?;
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Some(Document {
        id: hex(&Sha256::digest(path.as_os_str().as_encoded_bytes())),
        media_type: media_type(path).to_owned(),
        name,
        size_bytes: about.len(),
        modified_ms: modified.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    })
}

fn media_type(path: &Path) -> &'static str {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("txt" | "text" | "log" | "rst") => "text/plain",
        Some("html" | "htm" | "xhtml") => "text/html",
        Some("pdf") => "application/pdf",
        Some("json") => "application/json",
        Some("csv") => "text/csv",
        Some("wav") => "audio/wav",
        _ => "application/octet-stream",
    }
}

/// Reads a part of a file that is still granted, and still where it was.
fn read(path: &Path, grants: &[PathBuf], offset: u64, length: u64) -> Result<Vec<u8>, Error> {
    let gone = || Error::NotFound("the document is gone, or granted no more".to_owned());
    let real = fs::canonicalize(path).map_err(|_| gone())?;
    let within = |grant: &PathBuf| fs::canonicalize(grant).is_ok_and(|root| real.starts_with(root));
    // Nor is something else in its place that would keep a reader waiting.
    if real != path || !real.is_file() || !grants.iter().any(within) {
        return Err(gone());
    }
    // Its path is not the plugin's to know.
    part(path, offset, length).map_err(|error| Error::Failed(format!("it cannot be read: {}", error.kind())))
}

fn part(path: &Path, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    if offset >= file.metadata()?.len() {
        return Ok(Vec::new());
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Offers it.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    bindings::documents::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

#[cfg(test)]
mod tests {
    use ebb_core::{Capability, operations::Grant};

    use super::*;
    use crate::fake::{Scene, grant};

    /// Names and sizes of what a walk finds.
    fn found(grants: &[PathBuf]) -> Vec<(String, u64)> {
        let found = Walk::through(grants).unwrap().found;
        let mut found: Vec<_> = found.into_iter().map(|(one, _)| (one.name, one.size_bytes)).collect();
        found.sort();
        found
    }

    fn granted(paths: &[&Path]) -> Vec<Grant> {
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        vec![Grant { paths, ..grant(Capability::Documents, &[]) }]
    }

    #[test]
    fn folders_are_walked_and_links_are_not() {
        let scene = tempfile::tempdir().unwrap();
        let notes = scene.path().join("notes");
        fs::create_dir_all(notes.join("sub")).unwrap();
        fs::write(scene.path().join("secret.txt"), "secret").unwrap();
        fs::write(notes.join("b.md"), "# b").unwrap();
        fs::write(notes.join("sub/ä 文.PDF"), "%PDF").unwrap();
        fs::write(notes.join("sub/z"), "z").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(scene.path().join("secret.txt"), notes.join("link.txt")).unwrap();
            symlink(notes.join("b.md"), notes.join("again.md")).unwrap();
            symlink(&notes, notes.join("sub/loop")).unwrap();
            symlink(scene.path(), notes.join("up")).unwrap();
        }
        let all = [("notes/b.md", 3), ("notes/sub/z", 1), ("notes/sub/ä 文.PDF", 4)];
        let all = all.map(|(name, size)| (name.to_owned(), size));
        assert_eq!(found(std::slice::from_ref(&notes)), all);
        // What is granted twice, or by another way, is there once.
        let again = [notes.join("sub/../b.md"), notes.join("sub"), notes.clone(), scene.path().join("gone")];
        assert_eq!(found(&again), all);
        let walk = Walk::through(&again).unwrap();
        assert_eq!(walk.gone, [scene.path().join("gone")]);
        assert_eq!(found(&[notes.join("b.md")]), [("b.md".to_owned(), 3)]);
    }

    #[test]
    fn a_folder_without_end_is_refused_clearly() {
        let scene = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::once(scene.path()).chain(["d"; 34].map(Path::new)).collect();
        fs::create_dir_all(deep).unwrap();
        let walked = Walk::through(&[scene.path().to_owned()]).map(|walk| walk.found.len());
        assert!(matches!(&walked, Err(Error::Invalid(why)) if why.contains("deeper than 32")), "{walked:?}");
        let mut full = Walk { entries: MAX_ENTRIES, ..Walk::default() };
        let walked = full.folder(scene.path(), "many", 0);
        assert!(matches!(&walked, Err(Error::Invalid(why)) if why.contains("100000 files")), "{walked:?}");
    }

    #[test]
    fn only_what_is_granted_now_is_read() {
        let scene = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(scene.path()).unwrap();
        let file = root.join("a.txt");
        fs::write(&file, "0123456789").unwrap();
        let grants = [root.clone()];
        assert_eq!(read(&file, &grants, 2, 3).unwrap(), b"234");
        assert_eq!(read(&file, &grants, 8, 100).unwrap(), b"89");
        assert_eq!(read(&file, &grants, 100, 1).unwrap(), b"");
        assert_eq!(read(&file, &grants, u64::MAX, 1).unwrap(), b"");
        assert!(matches!(read(&file, &[], 0, 1), Err(Error::NotFound(_))));
        fs::remove_file(&file).unwrap();
        assert!(matches!(read(&file, &grants, 0, 1), Err(Error::NotFound(_))));
        fs::create_dir(&file).unwrap();
        assert!(matches!(read(&file, &grants, 0, 1), Err(Error::NotFound(_))));
        fs::remove_dir(&file).unwrap();
        #[cfg(unix)]
        {
            // Replaced by a link to something else since it was listed.
            std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
            assert!(matches!(read(&file, &grants, 0, 1), Err(Error::NotFound(_))));
        }
    }

    #[tokio::test]
    async fn a_guest_reads_by_ids_and_never_by_paths() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b.md"), "# b").unwrap();
        fs::write(folder.path().join("a.txt"), "a").unwrap();
        let scene = Scene::new(granted(&[folder.path()]));
        let mut guest = scene.guest();
        let documents = guest.granted().await.unwrap().unwrap();
        let types: Vec<_> = documents.iter().map(|one| one.media_type.as_str()).collect();
        assert_eq!(types, ["text/plain", "text/markdown"], "by name");
        let id = documents[1].id.clone();
        // Another call knows it too.
        let mut later = scene.guest();
        assert_eq!(later.read(id.clone(), 2, 10).await.unwrap().unwrap(), b"b");
        let path = folder.path().join("b.md").display().to_string();
        for trick in [path.as_str(), "b.md", "../b.md", "", ".", "/etc/passwd", "\0", &id[1..]] {
            let read = guest.read(trick.to_owned(), 0, 10).await.unwrap();
            assert!(matches!(read, Err(Error::NotFound(_))), "{trick}: {read:?}");
        }
        let read = guest.read(id.clone(), 0, u64::MAX).await.unwrap();
        assert!(matches!(read, Err(Error::Invalid(_))), "more than one call may hand over: {read:?}");
        // Taken back in the middle of the call.
        scene.plugin.grants.set(granted(&[&folder.path().join("a.txt")]));
        let read = guest.read(id.clone(), 0, 10).await.unwrap();
        assert!(matches!(read, Err(Error::NotFound(_))), "{read:?}");
        scene.plugin.grants.set(Vec::new());
        assert!(matches!(guest.read(id, 0, 10).await.unwrap(), Err(Error::Denied(_))));
        assert!(matches!(guest.granted().await.unwrap(), Err(Error::Denied(_))));
    }

    #[tokio::test]
    async fn a_grant_that_is_gone_is_told_in_the_plugins_log() {
        let scene = Scene::new(granted(&[Path::new("/no/such/folder")]));
        assert_eq!(scene.guest().granted().await.unwrap().unwrap().len(), 0);
        assert_eq!(scene.plugin.log.tail(1)[0].message, "/no/such/folder was granted and is gone");
    }
}
