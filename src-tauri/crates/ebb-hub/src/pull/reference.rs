//! A model of a Hub, as it is typed.

use std::{fmt, str::FromStr};

use crate::Error;

const SCHEME: &str = "hf:";
/// The Hub's own limit for each part of a name.
const LONGEST: usize = 96;

/// `hf:ORG/NAME` or `hf:ORG/NAME:VARIANT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The repository's owner.
    pub org: String,
    /// The repository's name.
    pub name: String,
    /// Which of several models in it: `q4`, `int8`, a folder, a part of a GGUF file's name.
    pub variant: Option<String>,
}

impl Reference {
    /// The repository: `ORG/NAME`.
    pub fn repo(&self) -> String {
        format!("{}/{}", self.org, self.name)
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |reason| Error::BadReference { text: text.to_owned(), reason };
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| refuse("it must begin with hf:"))?;
        let (repo, variant) = match rest.split_once(':') {
            Some((repo, variant)) => (repo, Some(variant)),
            None => (rest, None),
        };
        let (org, name) = repo.split_once('/').ok_or_else(|| refuse("it must have an owner and a name"))?;
        for part in [Some(org), Some(name), variant].into_iter().flatten() {
            if !is_plain(part) {
                return Err(refuse("its parts are letters, digits, '-', '_' and '.', at most 96 each"));
            }
        }
        Ok(Self { org: org.to_owned(), name: name.to_owned(), variant: variant.map(ToOwned::to_owned) })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.org, self.name)?;
        self.variant.iter().try_for_each(|variant| write!(f, ":{variant}"))
    }
}

/// Parts become names of folders and of addresses.
fn is_plain(part: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=LONGEST).contains(&part.len())
        && part.chars().all(plain)
        && !part.starts_with(['.', '-'])
        && !part.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_and_written() {
        let reference: Reference = "hf:org/Some-Model_1.5:q4".parse().unwrap();
        assert_eq!(reference.repo(), "org/Some-Model_1.5");
        assert_eq!(reference.variant.as_deref(), Some("q4"));
        assert_eq!(reference.to_string(), "hf:org/Some-Model_1.5:q4");
        assert_eq!("hf:org/name".parse::<Reference>().unwrap().variant, None);
    }

    #[test]
    fn what_could_leave_its_place_is_no_reference() {
        for text in [
            "org/name",
            "hf:",
            "hf:name",
            "hf:/name",
            "hf:org/",
            "hf:org/a/b",
            "hf:../name",
            "hf:org/..",
            "hf:org/a b",
            "hf:org/name:",
            "hf:org/name:../x",
            "hf:org/name:a:b",
            "hf:org/n\0",
            "hf:org/-x",
            "hf:org/a?b",
            &format!("hf:org/{}", "x".repeat(97)),
        ] {
            let error = text.parse::<Reference>().unwrap_err();
            assert!(matches!(error, Error::BadReference { .. }), "{text}: {error:?}");
        }
    }
}
