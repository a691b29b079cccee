//! How a command can fail, how that is written, and the exit code it gives.

use std::io;

use ebb_core::{Code, ErrorBody, Failure};

/// How a command can fail.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The operation failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Talking to the host failed, or the host refused.
    #[error(transparent)]
    Client(#[from] ebb_client::Error),
    /// The host could not be started.
    #[error("the host could not be started: {0}")]
    NoHost(#[source] Failure),
    /// Writing the answer failed. A reader that has read enough is none.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// What is wrong was the answer itself, and stands on stdout.
    #[error("see the output")]
    Reported(u8),
}

pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// A file that could not be read or written.
pub(crate) fn storage(what: &str, path: &std::path::Path, error: &io::Error) -> Error {
    let path = path.display().to_string();
    Failure::new(Code::Storage, format!("cannot {what} '{path}': {error}")).param(path).into()
}

impl Error {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Client(ebb_client::Error::NotRunning { .. }) | Self::NoHost(_) => 3,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Interrupted => 130,
            Self::Reported(code) => *code,
            Self::Failure(_) | Self::Client(_) | Self::Output(_) => 1,
        }
    }

    /// What to tell; `None` where there is nothing (more) to say.
    fn failure(&self) -> Option<Failure> {
        match self {
            Self::Failure(failure) => Some(failure.clone()),
            Self::Client(error) => Some(error.failure()),
            Self::NoHost(failure) => Some(Failure {
                message: format!("the host could not be started: {failure}"),
                ..failure.clone()
            }),
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Output(error) => {
                Some(Failure::new(Code::Storage, format!("cannot write the output: {error}")))
            }
            Self::Interrupted | Self::Reported(_) => None,
        }
    }

    /// As it is written to stderr: text for people, or one line of JSON.
    pub(crate) fn written(&self, json: bool, look: crate::render::Look) -> Option<String> {
        let failure = self.failure()?;
        if json {
            return serde_json::to_string(&ErrorBody::from(failure)).ok().map(|line| line + "\n");
        }
        let mut text = format!("{} {}\n", look.bad("error:"), failure.message);
        if let Some(hint) = &failure.hint {
            text += &format!("{} {hint}\n", look.good("hint:"));
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Look;

    #[test]
    fn an_error_is_text_or_one_line_of_json() {
        let error = Error::from(Failure::new(Code::NotFound, "no model 'x'").hint("see 'ebb model list'"));
        insta::assert_snapshot!(error.written(false, Look::plain()).unwrap(), @r"
        error: no model 'x'
        hint: see 'ebb model list'
        ");
        let json = error.written(true, Look::plain()).unwrap();
        assert_eq!(json.lines().count(), 1);
        let body: ErrorBody = serde_json::from_str(&json).unwrap();
        assert_eq!(body.error.code, Code::NotFound);
    }

    #[test]
    fn exit_codes_are_those_of_the_help() {
        let not_running = ebb_client::Error::NotRunning { endpoint_file: "x".into() };
        let broken_pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        for (error, code) in [
            (Error::from(Failure::new(Code::Busy, "")), 1),
            (Error::from(not_running), 3),
            (Error::NoHost(Failure::new(Code::Conflict, "")), 3),
            (Error::Interrupted, 130),
            (Error::from(broken_pipe()), 0),
        ] {
            assert_eq!(error.exit_code(), code, "{error:?}");
        }
        assert_eq!(Error::from(broken_pipe()).written(false, Look::plain()), None);
    }
}
