//! The files of the page, in memory.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use ebb_core::{Code, Failure, format_bytes};
use sha2::{Digest as _, Sha256};

#[cfg(feature = "ui")]
mod built_in {
    include!(concat!(env!("OUT_DIR"), "/page.rs"));
}

/// A page is far smaller. A folder that is not one should not be read whole.
const MOST_BYTES: u64 = 32 << 20;

/// Folders within folders; a page has one.
const DEEPEST: usize = 4;

/// The page of the app: its built files, by their paths.
#[derive(Clone)]
pub struct Page {
    files: Arc<BTreeMap<String, File>>,
}

/// A file as it is sent.
pub(super) struct File {
    content: Bytes,
    kind: &'static str,
    /// Its content in short: a browser that has it need not get it again.
    tag: String,
    caching: &'static str,
}

impl Page {
    /// The page that this program should serve: the one in the folder that `EBB_UI` names, else the one that was built in
    /// (the feature `ui`), else the one in `ui` beside the program.
    ///
    /// # Errors
    /// [`Code::NotFound`] where there is none; else as [`Page::in_folder`].
    pub fn find() -> Result<Self, Failure> {
        if let Some(named) = std::env::var_os("EBB_UI").filter(|named| !named.is_empty()) {
            return Self::in_folder(Path::new(&named));
        }
        if let Some(page) = Self::built_in() {
            return Ok(page);
        }
        let beside = std::env::current_exe().ok().map(|program| program.with_file_name("ui"));
        match beside.filter(|folder| folder.is_dir()) {
            Some(folder) => Self::in_folder(&folder),
            None => Err(Failure::new(Code::NotFound, "this build of Ebb has no page for browsers").hint(
                "build it with the feature `ui`, or set EBB_UI to the folder of the built page: `ui/dist`",
            )),
        }
    }

    #[cfg(feature = "ui")]
    fn built_in() -> Option<Self> {
        let files = built_in::FILES.iter();
        Some(files.map(|(path, content)| ((*path).to_owned(), Bytes::from_static(content))).collect())
    }

    #[cfg(not(feature = "ui"))]
    fn built_in() -> Option<Self> {
        None
    }

    /// The page in a folder, as `npm run build` leaves it. It is read now; later changes are not seen.
    ///
    /// # Errors
    /// [`Code::NotFound`] where it has no `index.html`; [`Code::TooLarge`] where it is far more than a page;
    /// [`Code::Storage`] where it cannot be read.
    pub fn in_folder(folder: &Path) -> Result<Self, Failure> {
        let shown = folder.display().to_string();
        if !folder.join("index.html").is_file() {
            return Err(Failure::new(Code::NotFound, format!("{shown} holds no built page"))
                .hint("name the folder that holds its index.html: `npm run build` in `ui` makes `ui/dist`")
                .param(shown));
        }
        let mut paths = Vec::new();
        let total_bytes = list(folder, DEEPEST, &mut paths).map_err(|error| unreadable(folder, &error))?;
        if total_bytes > MOST_BYTES {
            let message = format!("{shown} holds {}, far more than a page", format_bytes(total_bytes));
            return Err(Failure::new(Code::TooLarge, message)
                .hint("name a folder that holds a built page and nothing else")
                .param(shown)
                .detail("limit_bytes", MOST_BYTES));
        }
        let read = paths.iter().map(|path| {
            let content = fs::read(path).map_err(|error| unreadable(path, &error))?;
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
            Ok::<_, Failure>((name, Bytes::from(content)))
        });
        read.collect()
    }

    /// The file of this path, which has no `/` before it.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }
}

impl FromIterator<(String, Bytes)> for Page {
    fn from_iter<I: IntoIterator<Item = (String, Bytes)>>(files: I) -> Self {
        let files = files.into_iter().map(|(path, content)| {
            let file = File::new(&path, content);
            (path, file)
        });
        Self { files: Arc::new(files.collect()) }
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Code::Storage, format!("could not read {}: {error}", path.display()))
        .param(path.display().to_string())
}

/// Collects the files below `folder`, and says how many bytes they hold. What is hidden or a link is left out.
fn list(folder: &Path, deepest: usize, into: &mut Vec<PathBuf>) -> io::Result<u64> {
    let mut total_bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_file() {
            total_bytes += entry.metadata()?.len();
            into.push(entry.path());
        } else if kind.is_dir() && deepest > 0 {
            total_bytes += list(&entry.path(), deepest - 1, into)?;
        }
        if total_bytes > MOST_BYTES {
            break;
        }
    }
    Ok(total_bytes)
}

impl File {
    fn new(path: &str, content: Bytes) -> Self {
        let hash = Sha256::digest(&content);
        let short: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        // The build names these after their content: one of another content has another name.
        let caching = if path.starts_with("assets/") { "max-age=31536000, immutable" } else { "no-cache" };
        Self { content, kind: kind(path), tag: format!("\"{short}\""), caching }
    }

    /// The file, or that the one that the browser has is still right.
    pub(super) fn answer(&self, request: &Request) -> Response {
        let asked = request.headers().get_all(header::IF_NONE_MATCH).iter();
        let mut tags = asked.filter_map(|tags| tags.to_str().ok()).flat_map(|tags| tags.split(','));
        let has = tags.any(|tag| {
            let tag = tag.trim();
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.tag
        });
        let caching = [(header::CACHE_CONTROL, self.caching), (header::ETAG, self.tag.as_str())];
        if has {
            return (StatusCode::NOT_MODIFIED, caching).into_response();
        }
        let described = [
            (header::CONTENT_TYPE, HeaderValue::from_static(self.kind)),
            (header::CONTENT_LENGTH, self.content.len().into()),
        ];
        let body = if request.method() == Method::HEAD { Body::empty() } else { self.content.clone().into() };
        (caching, described, body).into_response()
    }
}

/// What is in a file, by the end of its name.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/vnd.microsoft.icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, content: &[u8]) {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    #[test]
    fn a_folder_is_a_page_when_it_holds_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let failure = Page::in_folder(folder.path()).unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert!(failure.message.contains(&folder.path().display().to_string()), "{failure}");
        write(folder.path(), "index.html", b"<p>");
        write(folder.path(), "assets/index-1a2b.js", b"1");
        write(folder.path(), ".stamp", b"not for browsers");
        assert_eq!(
            format!("{:?}", Page::in_folder(folder.path()).unwrap()),
            r#"{"assets/index-1a2b.js", "index.html"}"#
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_no_files_of_the_page() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(folder.path(), "index.html", b"<p>");
        write(other.path(), "secret", b"1");
        std::os::unix::fs::symlink(other.path().join("secret"), folder.path().join("secret")).unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
        assert_eq!(format!("{:?}", Page::in_folder(folder.path()).unwrap()), r#"{"index.html"}"#);
    }

    #[test]
    fn a_folder_that_is_far_more_than_a_page_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "index.html", b"<p>");
        let large = fs::File::create(folder.path().join("video")).unwrap();
        large.set_len(MOST_BYTES).unwrap();
        assert_eq!(Page::in_folder(folder.path()).unwrap_err().code, Code::TooLarge);
    }

    #[cfg(feature = "ui")]
    #[test]
    fn the_page_is_in_the_program() {
        let page = Page::built_in().unwrap();
        let index = page.file("index.html").unwrap();
        let index = std::str::from_utf8(&index.content).unwrap();
        let mut assets = page.files.keys().filter(|path| path.starts_with("assets/index-"));
        assert!(assets.any(|script| index.contains(script)), "{page:?}");
    }
}
