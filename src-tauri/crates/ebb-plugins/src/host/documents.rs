//! Files and folders that the user granted, read-only.

use std::{
    collections::HashMap,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

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
};

/// Most files that one plugin is granted, folders walked.
const MAX_FILES: usize = 100_000;

/// Deepest folder that is walked.
const MAX_DEPTH: usize = 32;

/// The documents that a guest was told of, by their ids.
pub(crate) type Known = HashMap<String, PathBuf>;

impl Host for Guest {
    async fn granted(&mut self) -> wasmtime::Result<Result<Vec<Document>, Error>> {
        allowed!(self, Documents, None);
        let grants = self.plugin.grants.paths();
        let found = given!(tokio::task::spawn_blocking(move || walk(&grants)).await?);
        self.documents = found.iter().map(|(document, path)| (document.id.clone(), path.clone())).collect();
        Ok(Ok(found.into_iter().map(|(document, _)| document).collect()))
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
            let grants = self.plugin.grants.paths();
            let found = given!(tokio::task::spawn_blocking(move || walk(&grants)).await?);
            self.documents = found.into_iter().map(|(document, path)| (document.id, path)).collect();
        }
        let Some(path) = self.documents.get(&id).cloned() else {
            return Ok(Err(Error::NotFound("no such document was granted".to_owned())));
        };
        let grants = self.plugin.grants.paths();
        Ok(tokio::task::spawn_blocking(move || read(&path, &grants, offset, length)).await?)
    }
}

/// Every file that was granted, by name.
fn walk(grants: &[PathBuf]) -> Result<Vec<(Document, PathBuf)>, Error> {
    let mut found = Vec::new();
    for grant in grants {
        // A grant that is gone has nothing; what it had is removed from an index like any other file.
        let Ok(root) = fs::canonicalize(grant) else { continue };
        if root.is_file() {
            let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            found.extend(document(&root, name).map(|document| (document, root.clone())));
        } else {
            let prefix = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            folder(&root, &root, &prefix, 0, &mut found)?;
        }
    }
    found.sort_by(|one, other| (&one.0.name, &one.1).cmp(&(&other.0.name, &other.1)));
    // Grants may lie within each other.
    found.dedup_by(|one, other| one.0.id == other.0.id);
    Ok(found)
}

fn folder(
    root: &Path,
    path: &Path,
    name: &str,
    depth: usize,
    found: &mut Vec<(Document, PathBuf)>,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(Error::Invalid(format!(
            "'{name}' lies deeper than {MAX_DEPTH} folders: grant a part of it"
        )));
    }
    // What cannot be listed is left out: the user granted what is there to be read.
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    for entry in entries.filter_map(Result::ok) {
        let Ok(real) = fs::canonicalize(entry.path()) else { continue };
        // A link that leads out of what was granted.
        if !real.starts_with(root) {
            continue;
        }
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if real.is_dir() {
            // A linked folder is found where it is; a link to a folder above would have no end.
            if !linked {
                folder(root, &real, &name, depth + 1, found)?;
            }
        } else if real.is_file() {
            if found.len() == MAX_FILES {
                return Err(Error::Invalid(format!("more than {MAX_FILES} files were granted: grant fewer")));
            }
            found.extend(document(&real, name).map(|document| (document, real)));
        }
    }
    Ok(())
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
    if real != path || !grants.iter().any(within) {
        return Err(gone());
    }
    // Its path is not the plugin's to know.
    part(path, offset, length).map_err(|error| Error::Failed(format!("it cannot be read: {}", error.kind())))
}

fn part(path: &Path, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
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
    use super::*;

    #[test]
    fn folders_are_walked_by_name_and_links_that_lead_out_are_not() {
        let scene = tempfile::tempdir().unwrap();
        let granted = scene.path().join("notes");
        fs::create_dir_all(granted.join("sub")).unwrap();
        fs::write(scene.path().join("secret.txt"), "secret").unwrap();
        fs::write(granted.join("b.md"), "# b").unwrap();
        fs::write(granted.join("sub/ä.PDF"), "%PDF").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(scene.path().join("secret.txt"), granted.join("link.txt")).unwrap();
            symlink(&granted, granted.join("sub/loop")).unwrap();
            symlink(scene.path(), granted.join("up")).unwrap();
        }
        let found = walk(std::slice::from_ref(&granted)).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|(one, _)| (one.name.as_str(), one.media_type.as_str(), one.size_bytes))
            .collect();
        assert_eq!(told, [("notes/b.md", "text/markdown", 3), ("notes/sub/ä.PDF", "application/pdf", 4)]);
        let again = walk(&[granted.clone(), granted.join("sub"), scene.path().join("not-there")]).unwrap();
        assert_eq!(again.len(), 2, "what is granted twice is there once");
        assert!(found.iter().all(|(one, _)| !one.id.contains('/')));
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
        assert!(matches!(read(&file, &[], 0, 1), Err(Error::NotFound(_))));
        fs::remove_file(&file).unwrap();
        assert!(matches!(read(&file, &grants, 0, 1), Err(Error::NotFound(_))));
        #[cfg(unix)]
        {
            // Replaced by a link to something else since it was listed.
            std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
            assert!(matches!(read(&file, &grants, 0, 1), Err(Error::NotFound(_))));
        }
    }
}
