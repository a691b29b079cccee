//! What a repository holds, as the Hub lists it.

use hyper::{HeaderMap, header::LINK};
use serde::Deserialize;
use url::Url;

use super::{
    Hash,
    http::{About, Http},
};
use crate::Error;

/// Far more than any model has; a list that never ends is no list.
const MOST_FILES: usize = 50_000;
const MOST_PAGES: usize = 200;

/// A repository at one commit.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) commit: String,
    pub(crate) files: Vec<RemoteFile>,
}

/// A file of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteFile {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) hash: Hash,
}

#[derive(Deserialize)]
struct Commit {
    sha: String,
}

#[derive(Deserialize)]
struct Entry {
    r#type: String,
    path: String,
    #[serde(default)]
    size: u64,
    oid: Option<String>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    oid: Option<String>,
    size: Option<u64>,
}

/// Lists what the repository holds. The commit is asked for first: files of one model must not be of two.
pub(crate) async fn list(http: &Http, repo: &str, revision: &str) -> Result<Listing, Error> {
    let about = About { repo, revision, file: None };
    let base = || ["api", "models"].into_iter().chain(repo.split('/'));
    let (Commit { sha }, _) = http.json(&http.address(base().chain(["revision", revision]))?, about).await?;
    if !(7..=64).contains(&sha.len()) || !sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Error::Protocol(format!("'{}' is no commit", sha.escape_debug())));
    }
    let tree = http.address(base().chain(["tree", sha.as_str()]))?;
    let mut files = Vec::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let mut page = tree.clone();
        page.query_pairs_mut()
            .append_pair("recursive", "true")
            .extend_pairs(cursor.iter().map(|at| ("cursor", at)));
        let (entries, headers): (Vec<Entry>, HeaderMap) = http.json(&page, about).await?;
        files.extend(entries.into_iter().filter(|entry| entry.r#type == "file").map(RemoteFile::from));
        cursor = next_cursor(&page, &headers);
        if files.len() > MOST_FILES {
            break;
        }
        if cursor.is_none() {
            return match files.iter().find(|file| !is_safe(&file.path)) {
                Some(odd) => Err(Error::UnsafePath(odd.path.clone())),
                None => Ok(Listing { commit: sha, files }),
            };
        }
    }
    Err(Error::Protocol(format!("{repo} lists more than {MOST_FILES} files")))
}

impl From<Entry> for RemoteFile {
    fn from(entry: Entry) -> Self {
        let Entry { path, size, oid, lfs, .. } = entry;
        let bytes = lfs.as_ref().and_then(|lfs| lfs.size).unwrap_or(size);
        let sha256 = lfs.map(|lfs| lfs.oid.unwrap_or_default());
        Self { path, bytes, hash: Hash::read(sha256.as_deref(), oid.as_deref()) }
    }
}

/// Where the next page begins. Only that is taken from the link: its host may be one that nobody asked.
fn next_cursor(page: &Url, headers: &HeaderMap) -> Option<String> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let link = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    let address = link.split_once('<')?.1.split_once('>')?.0;
    let next = page.join(address).ok()?;
    next.query_pairs().find(|(key, _)| key == "cursor").map(|(_, value)| value.into_owned())
}

/// Whether a path stays in the folder that it is written to, on every system: no root, no `..`, no drive, no stream.
pub(crate) fn is_safe(path: &str) -> bool {
    const LONGEST: usize = 512;
    let plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.contains(['\\', ':', '\0'])
            && !part.chars().any(char::is_control)
            && !part.ends_with([' ', '.'])
    };
    path.len() <= LONGEST && path.split('/').all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_their_folder_are_told() {
        for path in ["config.json", "onnx/model.onnx", "a b/c", ".gitattributes", "1_Pooling/config.json"] {
            assert!(is_safe(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "./a",
            "C:/x",
            "a\\..\\b",
            "a\0",
            "x:stream",
            "a/.. ",
            "nul.",
            &"a/".repeat(400),
        ] {
            assert!(!is_safe(path), "{path:?}");
        }
    }

    #[test]
    fn the_next_page_is_asked_of_the_same_hub() {
        let page = Url::parse("https://hub.example/api/models/a/b/tree/c?recursive=true").unwrap();
        let cursor = |link: &str| next_cursor(&page, &HeaderMap::from_iter([(LINK, link.parse().unwrap())]));
        let link =
            "<https://elsewhere.example/api/models/a/b/tree/c?recursive=true&cursor=Z%3D%3D>; rel=\"next\"";
        assert_eq!(cursor(link).as_deref(), Some("Z=="));
        assert_eq!(cursor("<https://hub.example/x>; rel=\"prev\""), None);
        assert_eq!(cursor("nonsense; rel=\"next\""), None);
    }
}
