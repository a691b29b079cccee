use std::{io, path::PathBuf, time::Duration};

use ebb_core::{Code, Failure, format_bytes};

/// What the Hub does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The repository, or it is private.
    Repository,
    /// The branch, tag or commit.
    Revision(String),
    /// A file that its own list names.
    File(String),
}

/// Why a model could not be fetched. What was downloaded until then stays, and is taken up by the next try, unless it
/// proved to be wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed names no model of a Hub.
    #[error("'{}' names no model of the Hub: {reason}", text.escape_debug())]
    BadReference {
        /// As typed.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The Hub's address, as the environment gives it, is none.
    #[error("HF_ENDPOINT ('{}') is no address of a Hub", .0.escape_debug())]
    BadEndpoint(String),
    /// `HF_HUB_OFFLINE` is set.
    #[error("HF_HUB_OFFLINE is set, so nothing is downloaded")]
    Offline,
    /// It is not there.
    #[error("{}", missing(.repo, .what))]
    NotFound {
        /// The repository.
        repo: String,
        /// What of it.
        what: Missing,
        /// Whether a token was sent.
        with_token: bool,
    },
    /// The repository is open only to those who took its terms.
    #[error("{repo} is gated: its terms must be accepted before it can be downloaded")]
    Gated {
        /// The repository.
        repo: String,
        /// Whether a token was sent.
        with_token: bool,
    },
    /// The Hub wants to know who asks.
    #[error("the Hub {} for {repo}", if *.with_token { "does not take this token" } else { "asks for a token" })]
    Unauthorized {
        /// The repository.
        repo: String,
        /// Whether a token was sent.
        with_token: bool,
    },
    /// An answer that is an error and no other of these.
    #[error("{host} answers {status}")]
    Status {
        /// Who answered.
        host: String,
        /// The HTTP status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The connection could not be made, or broke.
    #[error("the connection to {host} failed: {}", whole(.source.as_ref()))]
    Connection {
        /// With whom.
        host: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Whoever answers cannot show that it is the one that was asked.
    #[error("{host} cannot show that it is {host}: {}", whole(.source.as_ref()))]
    Untrusted {
        /// Who was asked.
        host: String,
        /// What is wrong with its certificate.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing came for too long.
    #[error("{host} sent nothing for {} s", .after.as_secs())]
    Stalled {
        /// Who was silent.
        host: String,
        /// For how long.
        after: Duration,
    },
    /// There are no certificates to trust.
    #[error("the system has no certificates to know the Hub by: {0}")]
    NoCertificates(#[source] io::Error),
    /// The Hub's answer is not of the form that it should have.
    #[error("the Hub's answer cannot be used: {0}")]
    Protocol(String),
    /// A name in the list of files would be written outside the model's folder.
    #[error("the repository names a file '{}', which would leave the model's folder; nothing was downloaded", .0.escape_debug())]
    UnsafePath(String),
    /// Nothing in the repository can be loaded or imported.
    #[error("{repo} holds no model that Ebb can use: {reason}")]
    NoModel {
        /// The repository.
        repo: String,
        /// What it lacks.
        reason: String,
        /// What to do instead.
        hint: String,
    },
    /// The repository holds several models and none is the default.
    #[error("{repo} holds several models: {}", listed(.variants))]
    ChooseVariant {
        /// The repository.
        repo: String,
        /// Their names.
        variants: Vec<String>,
    },
    /// No file of the repository has that variant, or several have.
    #[error("variant '{}' fits {} of {repo}: {}", variant.escape_debug(), if *.several { "several models" } else { "no model" }, listed(.variants))]
    WrongVariant {
        /// The repository.
        repo: String,
        /// As typed.
        variant: String,
        /// Whether it fits more than one.
        several: bool,
        /// What there is.
        variants: Vec<String>,
    },
    /// A file came otherwise than the Hub says that it is; it was deleted.
    #[error(
        "{file} is not what the Hub says that it is ({how}: {expected}, but it has {actual}); it was deleted"
    )]
    WrongContent {
        /// The file.
        file: String,
        /// What was compared: `sha256`, `git sha1`, `bytes`.
        how: &'static str,
        /// As the Hub says.
        expected: String,
        /// As it came.
        actual: String,
    },
    /// The disk has no room for it.
    #[error("{} are needed in {}, and {} are free", format_bytes(*.needed_bytes), folder.display(), format_bytes(*.free_bytes))]
    NoSpace {
        /// Where it would be written.
        folder: PathBuf,
        /// What is left to write, with some room for the system.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// Something else is in the model's folder.
    #[error("{} exists and holds something else than this model", .0.display())]
    Exists(PathBuf),
    /// Another process downloads the same model.
    #[error("another download into {} is at work", .0.display())]
    InUse(PathBuf),
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn io(path: &std::path::Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A connection that failed. Certificates that are wrong now are so in a moment, too.
    pub(crate) fn connection(host: &str, source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        let host = host.to_owned();
        if is_of_tls(source.as_ref()) {
            Self::Untrusted { host, source }
        } else {
            Self::Connection { host, source }
        }
    }

    /// Whether the same may well work in a moment.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            Self::Connection { .. } | Self::Stalled { .. } => true,
            _ => false,
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::BadReference { .. } | Self::BadEndpoint(_) => Code::InvalidValue,
            Self::ChooseVariant { .. } | Self::WrongVariant { .. } => Code::InvalidRequest,
            Self::NotFound { .. } => Code::NotFound,
            Self::Gated { .. } => Code::Forbidden,
            Self::Unauthorized { .. } => Code::Unauthorized,
            Self::Stalled { .. } => Code::Timeout,
            Self::Status { status: 429, .. } => Code::Busy,
            Self::NoModel { .. } | Self::UnsafePath(_) | Self::WrongContent { .. } => Code::InvalidModel,
            Self::NoSpace { .. } | Self::Io { .. } => Code::Storage,
            Self::Exists(_) => Code::AlreadyExists,
            Self::InUse(_) | Self::Offline => Code::Conflict,
            Self::Status { .. }
            | Self::Connection { .. }
            | Self::Untrusted { .. }
            | Self::NoCertificates(_)
            | Self::Protocol(_) => Code::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        const GO_ON: &str = "say it again to go on where it stopped";
        const TOKEN: &str = "set HF_TOKEN to a token of your account, or log in with the Hub's own program";
        Some(match self {
            Self::BadReference { .. } => {
                "write hf:ORG/NAME, or hf:ORG/NAME:VARIANT for one of several".to_owned()
            }
            Self::BadEndpoint(_) => "write a whole address, such as https://hub.example".to_owned(),
            Self::Offline => "unset it, or see what is here already: 'ebb model find'".to_owned(),
            Self::NotFound { what: Missing::Repository, with_token: false, .. } => {
                format!("look at its spelling; if it is private, {TOKEN}")
            }
            Self::NotFound { what: Missing::Repository, .. } => {
                "look at its spelling; if it is private, the token must be of an account that may read it"
                    .to_owned()
            }
            Self::NotFound { what: Missing::Revision(_), .. } => {
                "name a branch, tag or commit that is there".to_owned()
            }
            Self::NotFound { .. } => GO_ON.to_owned(),
            Self::Gated { with_token: false, .. } => format!("accept them on its page, then {TOKEN}"),
            Self::Gated { .. } => {
                "accept them on its page, with the account that the token belongs to".to_owned()
            }
            Self::Unauthorized { with_token: false, .. } => {
                format!("look at the name's spelling, and {TOKEN}")
            }
            Self::Unauthorized { .. } => {
                "make a new token with the right to read, and set HF_TOKEN to it".to_owned()
            }
            Self::Status { status: 429, .. } => {
                format!("it was asked too often: wait some minutes, then {GO_ON}")
            }
            Self::Status { .. } | Self::Stalled { .. } | Self::Connection { .. } => {
                format!("look at the network, then {GO_ON}")
            }
            Self::Untrusted { .. } => {
                "if a proxy of your company looks into connections, set SSL_CERT_FILE to its certificates"
                    .to_owned()
            }
            Self::NoCertificates(_) => "install the package ca-certificates, or set SSL_CERT_FILE".to_owned(),
            Self::Protocol(_) => "look whether HF_ENDPOINT names a Hub".to_owned(),
            Self::UnsafePath(_) => "do not trust this repository".to_owned(),
            Self::NoModel { hint, .. } => hint.clone(),
            Self::ChooseVariant { repo, variants } | Self::WrongVariant { repo, variants, .. } => {
                format!("choose one: hf:{repo}:{}", variants.first().map_or("VARIANT", String::as_str))
            }
            Self::WrongContent { .. } => {
                "say it again; if it stays so, what lies between you and the Hub changes files".to_owned()
            }
            Self::NoSpace { .. } => "free some space, or set EBB_HOME to a folder on another disk".to_owned(),
            Self::Exists(_) => "say --force to replace it".to_owned(),
            Self::InUse(_) => "wait until it is done".to_owned(),
            Self::Io { .. } => return None,
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut failure = Self::new(error.code(), error.to_string());
        failure.hint = error.hint();
        match error {
            Error::BadEndpoint(_) => failure.param("HF_ENDPOINT"),
            Error::NotFound { what: Missing::Revision(_), .. } => failure.param("revision"),
            Error::NotFound { .. } | Error::BadReference { .. } | Error::NoModel { .. } => {
                failure.param("model")
            }
            Error::ChooseVariant { .. } | Error::WrongVariant { .. } => failure.param("variant"),
            Error::NoSpace { needed_bytes, free_bytes, .. } => {
                failure.detail("needed_bytes", needed_bytes).detail("free_bytes", free_bytes)
            }
            Error::WrongContent { file, .. } => failure.param(file),
            Error::Io { path, .. } => failure.param(path.display().to_string()),
            _ => failure,
        }
    }
}

fn missing(repo: &str, what: &Missing) -> String {
    match what {
        Missing::Repository => format!("the Hub has no model {repo}, or keeps it private"),
        Missing::Revision(revision) => format!("{repo} has no revision '{}'", revision.escape_debug()),
        Missing::File(file) => format!("{repo} does not have {file} any more"),
    }
}

/// The first ones, with how many more there are.
fn listed(variants: &[String]) -> String {
    const SHOWN: usize = 24;
    let mut text = variants.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if variants.len() > SHOWN {
        text += &format!(" and {} more", variants.len() - SHOWN);
    }
    text
}

/// An error with what is behind it: "client error (Connect)" alone helps nobody.
fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.contains(&more) {
            text += ": ";
            text += &more;
        }
        next = cause.source();
    }
    text
}

/// Whether TLS is behind an error. What an [`io::Error`] holds is not among its sources.
fn is_of_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_)))
        || held.is_some_and(|held| is_of_tls(held))
        || error.source().is_some_and(is_of_tls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_certificate_is_no_trouble_of_the_network() {
        let wrong = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let wrapped = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, wrong));
        let error = Error::connection("hub.example", wrapped.into());
        assert!(matches!(error, Error::Untrusted { .. }) && !error.is_temporary());
        assert!(Failure::from(error).hint.is_some_and(|hint| hint.contains("SSL_CERT_FILE")));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(Error::connection("hub.example", refused.into()).is_temporary());
    }
}
