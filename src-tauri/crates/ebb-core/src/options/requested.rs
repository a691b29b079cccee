//! What was typed, and the line that reports what became of it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{Code, Failure, LoadOptions};

/// What an option belongs to. Written `session`, `arena`, `provider.cuda`, `run`, `environment`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The ONNX Runtime session.
    Session,
    /// The model's own CPU arena.
    Arena,
    /// An execution provider, by Ebb's name for it.
    Provider(String),
    /// Each run.
    Run,
    /// The process-wide environment of ONNX Runtime.
    Environment,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session => f.write_str("session"),
            Self::Arena => f.write_str("arena"),
            Self::Provider(name) => write!(f, "provider.{name}"),
            Self::Run => f.write_str("run"),
            Self::Environment => f.write_str("environment"),
        }
    }
}

impl std::str::FromStr for Scope {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        match text {
            "session" => Ok(Self::Session),
            "arena" => Ok(Self::Arena),
            "run" => Ok(Self::Run),
            "environment" => Ok(Self::Environment),
            _ => match text.strip_prefix("provider.") {
                Some(name) if !name.is_empty() => Ok(Self::Provider(name.to_owned())),
                _ => Err(Failure::new(Code::InvalidRequest, format!("'{text}' is not an option scope"))
                    .hint("scopes are session, arena, provider.<name>, run, environment")),
            },
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// One option as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requested {
    /// What it was given for.
    pub scope: Scope,
    /// Its key, as typed.
    pub key: String,
    /// Its value, as typed.
    pub value: String,
}

impl Requested {
    /// Every option of a load, scope by scope.
    pub fn all(options: &LoadOptions) -> Vec<Self> {
        let mut all = Vec::new();
        let mut take = |scope: &Scope, pairs: &std::collections::BTreeMap<String, String>| {
            for (key, value) in pairs {
                all.push(Self { scope: scope.clone(), key: key.clone(), value: value.clone() });
            }
        };
        take(&Scope::Session, &options.session_options);
        take(&Scope::Arena, &options.arena_options);
        for (provider, pairs) in &options.provider_options {
            take(&Scope::Provider(super::provider_name(provider)), pairs);
        }
        take(&Scope::Run, &options.runtime_options);
        all
    }
}

/// What became of one option: requested → forwarded → effective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OptionLine {
    /// What it belongs to, after translation.
    pub scope: Scope,
    /// Its key, as typed.
    pub key: String,
    /// Its value, as typed; empty where Ebb set it by default.
    pub requested: String,
    /// What was handed to ONNX Runtime, as `key=value` or the name of the typed call; `None`: nothing was.
    pub forwarded: Option<String>,
    /// What the loaded session shows; `None`: nothing shows it.
    pub effective: Option<String>,
    /// What a person should know: an unknown key and its nearest known one, a known no-op, what a value means here.
    pub note: Option<String>,
    /// Whether the note warns: the option, or a part of it, has no effect, is not known, or was dropped.
    #[serde(default)]
    pub warning: bool,
}
