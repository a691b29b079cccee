//! `KEY=VALUE` and its kin.

use std::str::FromStr;

/// A key and its value, split at the first `=`. The value may be empty and may hold more of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.to_owned() })
            }
            _ => Err(format!("'{text}' is not of the form KEY=VALUE")),
        }
    }
}

/// A provider, a key and its value: `cuda.gpu_mem_limit=2147483648`. Split at the first dot; keys may hold more of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderPair {
    pub(crate) provider: String,
    pub(crate) pair: Pair,
}

impl FromStr for ProviderPair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("'{text}' is not of the form PROVIDER.KEY=VALUE");
        let pair: Pair = text.parse().map_err(|_| form())?;
        match pair.key.split_once('.') {
            Some((provider, key)) if !provider.is_empty() && !key.is_empty() => Ok(Self {
                provider: provider.to_owned(),
                pair: Pair { key: key.to_owned(), value: pair.value },
            }),
            _ => Err(form()),
        }
    }
}

/// An input's name and where its data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputArg {
    pub(crate) name: String,
    pub(crate) source: String,
}

impl FromStr for InputArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, source)) if !name.is_empty() && !source.is_empty() => {
                Ok(Self { name: name.to_owned(), source: source.to_owned() })
            }
            _ => Err(format!("'{text}' is not of the form NAME=FILE or NAME=JSON")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_splits() {
        let pair: Pair = "memory.x=cpu:0;gpu:0=1".parse().unwrap();
        assert_eq!((pair.key.as_str(), pair.value.as_str()), ("memory.x", "cpu:0;gpu:0=1"));
        assert_eq!("k=".parse::<Pair>().unwrap().value, "");
        let option: ProviderPair = "webgpu.a.b=1".parse().unwrap();
        assert_eq!((option.provider.as_str(), option.pair.key.as_str()), ("webgpu", "a.b"));
    }
}
