//! What a file is known by.

use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::Error;

/// What the Hub says that a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hash {
    /// Of a large file (LFS): the hash of its content, in hex.
    Sha256(String),
    /// Of a small file: the hash that git knows it by, in hex.
    GitSha1(String),
    /// The Hub does not say.
    Unknown,
}

/// How a file was found to be the one that the Hub means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// Its SHA-256 is right.
    Sha256,
    /// The SHA-1 that git knows it by is right.
    GitSha1,
    /// Only its size is right: the Hub gave no hash.
    Size,
}

impl Hash {
    /// As the Hub writes it: 64 hex digits are a SHA-256, 40 git's SHA-1, anything else is none.
    pub(crate) fn read(sha256: Option<&str>, git: Option<&str>) -> Self {
        let hex = |text: &&str, digits| {
            text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        // The Hub writes both forms.
        let sha256 = sha256.map(|text| text.trim_start_matches("sha256:"));
        match (sha256.filter(|text| hex(text, 64)), git.filter(|text| hex(text, 40))) {
            (Some(sha256), _) => Self::Sha256(sha256.to_owned()),
            // The git hash of a large file is that of a pointer to it.
            (None, Some(git)) if sha256.is_none() => Self::GitSha1(git.to_owned()),
            _ => Self::Unknown,
        }
    }

    /// What names the content, for the name of a file that is not whole yet.
    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Sha256(hex) | Self::GitSha1(hex) => hex,
            Self::Unknown => "unchecked",
        }
    }
}

/// Takes a file's content piece by piece.
pub(crate) enum Hasher {
    Sha256(Sha256),
    GitSha1(Sha1),
    None,
}

impl Hasher {
    /// For a file of that hash and size.
    pub(crate) fn new(hash: &Hash, bytes: u64) -> Self {
        match hash {
            Hash::Sha256(_) => Self::Sha256(Sha256::new()),
            Hash::GitSha1(_) => Self::GitSha1(Sha1::new_with_prefix(format!("blob {bytes}\0"))),
            Hash::Unknown => Self::None,
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::GitSha1(hasher) => hasher.update(bytes),
            Self::None => {}
        }
    }

    /// Whether the content is what `hash` says.
    pub(crate) fn check(self, file: &str, hash: &Hash) -> Result<Checked, Error> {
        let (how, checked, actual) = match self {
            Self::Sha256(hasher) => ("sha256", Checked::Sha256, hex(&hasher.finalize())),
            Self::GitSha1(hasher) => ("git sha1", Checked::GitSha1, hex(&hasher.finalize())),
            Self::None => return Ok(Checked::Size),
        };
        if actual == hash.word() {
            return Ok(checked);
        }
        let (file, expected) = (file.to_owned(), hash.word().to_owned());
        Err(Error::WrongContent { file, how, expected, actual })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(hash: &Hash, content: &[u8]) -> Result<Checked, Error> {
        let mut hasher = Hasher::new(hash, content.len() as u64);
        content.chunks(2).for_each(|piece| hasher.update(piece));
        hasher.check("x", hash)
    }

    #[test]
    fn content_is_known_by_its_hash() {
        // `git hash-object` and `sha256sum` of "hello\n".
        let git = Hash::read(None, Some("ce013625030ba8dba906f756967f9e9ca394464a"));
        let sha256 =
            Hash::read(Some("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"), None);
        assert_eq!(checked(&git, b"hello\n").unwrap(), Checked::GitSha1);
        assert_eq!(checked(&sha256, b"hello\n").unwrap(), Checked::Sha256);
        for hash in [git, sha256] {
            assert!(matches!(checked(&hash, b"hello!"), Err(Error::WrongContent { .. })));
        }
        assert_eq!(checked(&Hash::Unknown, b"hello").unwrap(), Checked::Size);
    }

    #[test]
    fn what_is_no_hash_never_names_a_file() {
        for odd in ["", "../../etc", "ABCDEF", &"g".repeat(40)] {
            assert_eq!(Hash::read(None, Some(odd)), Hash::Unknown);
            assert_eq!(
                Hash::read(Some(odd), Some(&"a".repeat(40))),
                Hash::Unknown,
                "a pointer's hash is none"
            );
        }
    }
}
